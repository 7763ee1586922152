// SPDX-License-Identifier: Apache-2.0
// Role, ClusterRole and ClusterRoleBinding. Source: k8s.io/api v0.36.3 rbac/v1/types.go.
#include "server/codec/decode_parts.h"

enum { RULE_VERBS, RULE_API_GROUPS, RULE_RESOURCES, RULE_RESOURCE_NAMES, RULE_URLS };
static const struct json_name rule_names[] = {
    [RULE_VERBS] = JSON_NAME("verbs"),          [RULE_API_GROUPS] = JSON_NAME("apiGroups"),
    [RULE_RESOURCES] = JSON_NAME("resources"),  [RULE_RESOURCE_NAMES] = JSON_NAME("resourceNames"),
    [RULE_URLS] = JSON_NAME("nonResourceURLs"),
};
static const struct json_fields RULE = JSON_FIELDS(rule_names);

static void decode_rules(struct json_reader *reader, struct policy_rule_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct policy_rule *rule = LIST_APPEND(reader->arena, list);
        struct policy_rule spare = {0};
        if (rule == NULL) rule = &spare;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &RULE, &seen, &field)) switch (field) {
            case RULE_VERBS: decode_text_list(reader, &rule->verbs); break;
            case RULE_API_GROUPS: decode_text_list(reader, &rule->api_groups); break;
            case RULE_RESOURCES: decode_text_list(reader, &rule->resources); break;
            case RULE_RESOURCE_NAMES: decode_text_list(reader, &rule->resource_names); break;
            case RULE_URLS: decode_text_list(reader, &rule->non_resource_urls); break;
            }
    }
}

enum { ROLE_KIND, ROLE_API_VERSION, ROLE_METADATA, ROLE_RULES, ROLE_AGGREGATION };
static const struct json_name role_names[] = {
    [ROLE_KIND] = JSON_NAME("kind"),
    [ROLE_API_VERSION] = JSON_NAME("apiVersion"),
    [ROLE_METADATA] = JSON_NAME("metadata"),
    [ROLE_RULES] = JSON_NAME("rules"),
    [ROLE_AGGREGATION] = JSON_NAME("aggregationRule"),
};
static const struct json_fields ROLE = JSON_FIELDS(role_names);

void decode_role(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &ROLE, &seen, &field)) switch (field) {
        case ROLE_KIND: json_text(reader, &ret->kind_name); break;
        case ROLE_API_VERSION: json_text(reader, &ret->api_version); break;
        case ROLE_METADATA: decode_object_meta(reader, &ret->role.metadata); break;
        case ROLE_RULES: decode_rules(reader, &ret->role.rules); break;
        case ROLE_AGGREGATION:
            ret->role.aggregated = json_peek(reader) == JSON_OBJECT;
            json_skip(reader);
            break;
        }
}

enum { SUBJECT_KIND, SUBJECT_API_GROUP, SUBJECT_NAME, SUBJECT_NAMESPACE };
static const struct json_name subject_names[] = {
    [SUBJECT_KIND] = JSON_NAME("kind"),
    [SUBJECT_API_GROUP] = JSON_NAME("apiGroup"),
    [SUBJECT_NAME] = JSON_NAME("name"),
    [SUBJECT_NAMESPACE] = JSON_NAME("namespace"),
};
static const struct json_fields SUBJECT = JSON_FIELDS(subject_names);

static void decode_subjects(struct json_reader *reader, struct rbac_subject_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct rbac_subject *subject = LIST_APPEND(reader->arena, list);
        struct rbac_subject spare = {0};
        if (subject == NULL) subject = &spare;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &SUBJECT, &seen, &field)) switch (field) {
            case SUBJECT_KIND: json_text(reader, &subject->kind); break;
            case SUBJECT_API_GROUP: json_text(reader, &subject->api_group); break;
            case SUBJECT_NAME: json_text(reader, &subject->name); break;
            case SUBJECT_NAMESPACE: json_text(reader, &subject->namespace); break;
            }
    }
}

enum { REFERENCE_API_GROUP, REFERENCE_KIND, REFERENCE_NAME };
static const struct json_name reference_names[] = {
    [REFERENCE_API_GROUP] = JSON_NAME("apiGroup"),
    [REFERENCE_KIND] = JSON_NAME("kind"),
    [REFERENCE_NAME] = JSON_NAME("name"),
};
static const struct json_fields REFERENCE = JSON_FIELDS(reference_names);

static void decode_reference(struct json_reader *reader, struct role_binding *binding) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &REFERENCE, &seen, &field)) switch (field) {
        case REFERENCE_API_GROUP: json_text(reader, &binding->role_api_group); break;
        case REFERENCE_KIND: json_text(reader, &binding->role_kind); break;
        case REFERENCE_NAME: json_text(reader, &binding->role_name); break;
        }
}

enum { BINDING_KIND, BINDING_API_VERSION, BINDING_METADATA, BINDING_SUBJECTS, BINDING_REFERENCE };
static const struct json_name binding_names[] = {
    [BINDING_KIND] = JSON_NAME("kind"),         [BINDING_API_VERSION] = JSON_NAME("apiVersion"),
    [BINDING_METADATA] = JSON_NAME("metadata"), [BINDING_SUBJECTS] = JSON_NAME("subjects"),
    [BINDING_REFERENCE] = JSON_NAME("roleRef"),
};
static const struct json_fields BINDING = JSON_FIELDS(binding_names);

void decode_role_binding(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &BINDING, &seen, &field)) switch (field) {
        case BINDING_KIND: json_text(reader, &ret->kind_name); break;
        case BINDING_API_VERSION: json_text(reader, &ret->api_version); break;
        case BINDING_METADATA: decode_object_meta(reader, &ret->role_binding.metadata); break;
        case BINDING_SUBJECTS: decode_subjects(reader, &ret->role_binding.subjects); break;
        case BINDING_REFERENCE: decode_reference(reader, &ret->role_binding); break;
        }
}
