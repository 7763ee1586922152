// SPDX-License-Identifier: Apache-2.0
// ObjectMeta.
// Source: k8s.io/apimachinery v0.36.3 and v0.37.2 pkg/apis/meta/v1/types.go, ObjectMeta.
#include "server/codec/decode_parts.h"

enum {
    OWNER_API_VERSION,
    OWNER_KIND,
    OWNER_NAME,
    OWNER_UID,
    OWNER_CONTROLLER,
    OWNER_BLOCK_DELETION,
};
static const struct json_name owner_names[] = {
    [OWNER_API_VERSION] = JSON_NAME("apiVersion"),
    [OWNER_KIND] = JSON_NAME("kind"),
    [OWNER_NAME] = JSON_NAME("name"),
    [OWNER_UID] = JSON_NAME("uid"),
    [OWNER_CONTROLLER] = JSON_NAME("controller"),
    [OWNER_BLOCK_DELETION] = JSON_NAME("blockOwnerDeletion"),
};
static const struct json_fields OWNER = JSON_FIELDS(owner_names);

static void decode_owner(struct json_reader *reader, struct owner_reference *owner) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &OWNER, &seen, &field)) switch (field) {
        case OWNER_API_VERSION: json_text(reader, &owner->api_version); break;
        case OWNER_KIND: json_text(reader, &owner->kind); break;
        case OWNER_NAME: json_text(reader, &owner->name); break;
        case OWNER_UID: json_text(reader, &owner->uid); break;
        case OWNER_CONTROLLER: decode_opt_bool(reader, &owner->controller); break;
        case OWNER_BLOCK_DELETION: decode_opt_bool(reader, &owner->block_owner_deletion); break;
        }
}

static void decode_owners(struct json_reader *reader, struct owner_reference_list *owners) {
    if (json_null(reader)) return;
    owners->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct owner_reference *owner = JSON_APPEND(reader, owners);
        if (owner == NULL) return;
        decode_owner(reader, owner);
    }
}

enum {
    ENTRY_MANAGER,
    ENTRY_OPERATION,
    ENTRY_API_VERSION,
    ENTRY_TIME,
    ENTRY_FIELDS_TYPE,
    ENTRY_FIELDS_V1,
    ENTRY_SUBRESOURCE,
};
static const struct json_name entry_names[] = {
    [ENTRY_MANAGER] = JSON_NAME("manager"),         [ENTRY_OPERATION] = JSON_NAME("operation"),
    [ENTRY_API_VERSION] = JSON_NAME("apiVersion"),  [ENTRY_TIME] = JSON_NAME("time"),
    [ENTRY_FIELDS_TYPE] = JSON_NAME("fieldsType"),  [ENTRY_FIELDS_V1] = JSON_NAME("fieldsV1"),
    [ENTRY_SUBRESOURCE] = JSON_NAME("subresource"),
};
static const struct json_fields ENTRY = JSON_FIELDS(entry_names);

// Nobody needs the entries, but a wrong one is refused by the server, so their types are checked.
static void decode_managed_fields(struct json_reader *reader, struct text *ret_raw) {
    if (json_null(reader)) return;
    const char *begin = json_place(reader);
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        struct text ignored;
        while (json_field(reader, &ENTRY, &seen, &field)) switch (field) {
            case ENTRY_TIME: decode_time(reader, &ignored); break;
            case ENTRY_FIELDS_V1: json_skip(reader); break;
            default: json_text(reader, &ignored); break;
            }
    }
    *ret_raw = (struct text){begin, (size_t)(json_place(reader) - begin)};
}

enum {
    META_NAME,
    META_GENERATE_NAME,
    META_NAMESPACE,
    META_SELF_LINK,
    META_UID,
    META_RESOURCE_VERSION,
    META_GENERATION,
    META_CREATION_TIMESTAMP,
    META_DELETION_TIMESTAMP,
    META_DELETION_GRACE_PERIOD,
    META_LABELS,
    META_ANNOTATIONS,
    META_OWNER_REFERENCES,
    META_FINALIZERS,
    META_MANAGED_FIELDS,
};
static const struct json_name meta_names[] = {
    [META_NAME] = JSON_NAME("name"),
    [META_GENERATE_NAME] = JSON_NAME("generateName"),
    [META_NAMESPACE] = JSON_NAME("namespace"),
    [META_SELF_LINK] = JSON_NAME("selfLink"),
    [META_UID] = JSON_NAME("uid"),
    [META_RESOURCE_VERSION] = JSON_NAME("resourceVersion"),
    [META_GENERATION] = JSON_NAME("generation"),
    [META_CREATION_TIMESTAMP] = JSON_NAME("creationTimestamp"),
    [META_DELETION_TIMESTAMP] = JSON_NAME("deletionTimestamp"),
    [META_DELETION_GRACE_PERIOD] = JSON_NAME("deletionGracePeriodSeconds"),
    [META_LABELS] = JSON_NAME("labels"),
    [META_ANNOTATIONS] = JSON_NAME("annotations"),
    [META_OWNER_REFERENCES] = JSON_NAME("ownerReferences"),
    [META_FINALIZERS] = JSON_NAME("finalizers"),
    [META_MANAGED_FIELDS] = JSON_NAME("managedFields"),
};
static const struct json_fields META = JSON_FIELDS(meta_names);

void decode_object_meta(struct json_reader *reader, struct object_meta *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &META, &seen, &field)) switch (field) {
        case META_NAME: json_text(reader, &ret->name); break;
        case META_GENERATE_NAME: json_text(reader, &ret->generate_name); break;
        case META_NAMESPACE: json_text(reader, &ret->namespace); break;
        case META_SELF_LINK: json_text(reader, &ret->self_link); break;
        case META_UID: json_text(reader, &ret->uid); break;
        case META_RESOURCE_VERSION: json_text(reader, &ret->resource_version); break;
        case META_GENERATION: json_int64(reader, &ret->generation); break;
        case META_CREATION_TIMESTAMP: decode_time(reader, &ret->creation_timestamp); break;
        case META_DELETION_TIMESTAMP: decode_time(reader, &ret->deletion_timestamp); break;
        case META_DELETION_GRACE_PERIOD: decode_opt_int64(reader, &ret->deletion_grace_period_seconds); break;
        case META_LABELS: decode_text_map(reader, &ret->labels); break;
        case META_ANNOTATIONS: decode_text_map(reader, &ret->annotations); break;
        case META_OWNER_REFERENCES: decode_owners(reader, &ret->owner_references); break;
        case META_FINALIZERS: decode_text_list(reader, &ret->finalizers); break;
        case META_MANAGED_FIELDS: decode_managed_fields(reader, &ret->managed_fields); break;
        }
}
