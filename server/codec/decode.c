// SPDX-License-Identifier: Apache-2.0
// Which decoder reads an object.
#include "server/codec/decode.h"

#include "server/codec/decode_parts.h"
#include "server/codec/hints.h"

struct kind_row {
    const char *api_version; // NULL: any of resource.k8s.io that is served
    struct text name;
    enum object_kind kind;
    void (*decode)(struct json_reader *reader, struct object *ret);
};
#define RBAC "rbac.authorization.k8s.io/v1"
static const struct kind_row kinds[] = {
    {NULL, TEXT_INIT("ResourceSlice"), KIND_RESOURCE_SLICE, decode_resource_slice},
    {NULL, TEXT_INIT("ResourceClaim"), KIND_RESOURCE_CLAIM, decode_resource_claim},
    {NULL, TEXT_INIT("ResourceClaimTemplate"), KIND_RESOURCE_CLAIM_TEMPLATE, decode_resource_claim_template},
    {NULL, TEXT_INIT("DeviceClass"), KIND_DEVICE_CLASS, decode_device_class},
    {NULL, TEXT_INIT("DeviceTaintRule"), KIND_DEVICE_TAINT_RULE, decode_device_taint_rule},
    {"v1", TEXT_INIT("Node"), KIND_NODE, decode_node},
    {"v1", TEXT_INIT("Pod"), KIND_POD, decode_pod},
    {"v1", TEXT_INIT("Namespace"), KIND_NAMESPACE, decode_namespace},
    {"coordination.k8s.io/v1", TEXT_INIT("Lease"), KIND_LEASE, decode_lease},
    {"drawbridge.dev/v1alpha1", TEXT_INIT("LedgerPolicy"), KIND_LEDGER_POLICY, decode_ledger_policy},
    {"drawbridge.dev/v1alpha1", TEXT_INIT("NodeLedger"), KIND_NODE_LEDGER, decode_node_ledger},
    {RBAC, TEXT_INIT("Role"), KIND_ROLE, decode_role},
    {RBAC, TEXT_INIT("ClusterRole"), KIND_CLUSTER_ROLE, decode_role},
    {RBAC, TEXT_INIT("ClusterRoleBinding"), KIND_CLUSTER_ROLE_BINDING, decode_role_binding},
};

struct version_row {
    struct text api_version;
    enum resource_version version;
    uint8_t when;
};
static const struct version_row versions[] = {
    {TEXT_INIT("resource.k8s.io/v1"), RESOURCE_V1, WHEN_V1},
    {TEXT_INIT("resource.k8s.io/v1beta2"), RESOURCE_V1BETA2, WHEN_V1BETA2},
    {TEXT_INIT("resource.k8s.io/v1beta1"), RESOURCE_V1BETA1, WHEN_V1BETA1},
};

#define COUNT_OF(table) (sizeof(table) / sizeof(table)[0])

enum object_kind decode_kind(struct text api_version, struct text kind, enum resource_version *ret_version) {
    const struct version_row *served = NULL;
    for (size_t i = 0; i < COUNT_OF(versions); i++)
        if (text_equal(api_version, versions[i].api_version)) served = &versions[i];
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const char *wanted = kinds[i].api_version;
        if (!text_equal(kind, kinds[i].name)) continue;
        if (wanted == NULL ? served == NULL : !text_equal(api_version, text_of(wanted))) continue;
        *ret_version = served == NULL ? RESOURCE_V1 : served->version;
        return kinds[i].kind;
    }
    return KIND_OTHER;
}

uint8_t decode_when(int minor, enum resource_version version) {
    uint8_t when = minor <= MINOR_36 ? WHEN_MINOR_36 : WHEN_MINOR_37;
    for (size_t i = 0; i < COUNT_OF(versions); i++)
        if (versions[i].version == version) when |= versions[i].when;
    return when;
}

enum { TYPE_API_VERSION, TYPE_KIND };
static const struct json_name type_names[] = {
    [TYPE_API_VERSION] = JSON_NAME("apiVersion"),
    [TYPE_KIND] = JSON_NAME("kind"),
};
static const struct json_fields TYPE = JSON_FIELDS(type_names);

// Reads an object's own names and passes over the rest.
static void decode_other(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &TYPE, &seen, &field)) switch (field) {
        case TYPE_API_VERSION: json_text(reader, &ret->api_version); break;
        case TYPE_KIND: json_text(reader, &ret->kind_name); break;
        }
}

static void decode_kind_of(struct json_reader *reader, enum object_kind kind, struct object *ret) {
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i].kind != kind) continue;
        kinds[i].decode(reader, ret);
        return;
    }
    enum json_mode mode = reader->mode;
    reader->mode = JSON_WIRE;
    decode_other(reader, ret);
    reader->mode = mode;
}

void decode_object_like(struct json_reader *reader, enum object_kind kind, enum resource_version version,
                        const struct object *like, struct object *ret_object) {
    *ret_object = (struct object){.kind = kind, .version = version};
    // Paths of findings begin at the object, whatever envelope it lies in.
    unsigned base = reader->base;
    reader->base = reader->depth;
    size_t first = reader->findings->count;
    bool alike = like != NULL && like->kind == kind && like->version == version;
    if (kind == KIND_RESOURCE_SLICE && alike)
        decode_resource_slice_like(reader, &like->slice, ret_object);
    else
        decode_kind_of(reader, kind, ret_object);
    reader->base = base;
    hints_add(reader->findings, first, reader->when);
}

void decode_object_at(struct json_reader *reader, enum object_kind kind, enum resource_version version,
                      struct object *ret_object) {
    decode_object_like(reader, kind, version, NULL, ret_object);
}

// Finds apiVersion and kind, wherever they stand, and stops there. What is wrong is told by the real pass.
static enum object_kind find_kind(struct arena *arena, struct text json, enum resource_version *ret_version) {
    struct finding_list ignored;
    finding_list_init(&ignored, arena);
    ignored.limit = 0;
    struct json_reader reader;
    json_init(&reader, json, arena, &ignored, JSON_WIRE);
    struct text api_version = {"", 0};
    struct text kind = {"", 0};
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (!(JSON_SEEN(seen, TYPE_API_VERSION) && JSON_SEEN(seen, TYPE_KIND)) &&
           json_field(&reader, &TYPE, &seen, &field))
        json_text(&reader, field == TYPE_KIND ? &kind : &api_version);
    return decode_kind(api_version, kind, ret_version);
}

bool decode_object(struct arena *arena, struct text json, const struct decode_options *options,
                   struct object *ret_object, struct finding_list *findings, struct fault *fault) {
    enum resource_version version = RESOURCE_V1;
    enum object_kind kind = find_kind(arena, json, &version);
    struct json_reader reader;
    json_init(&reader, json, arena, findings, options->mode);
    if (json_peek(&reader) != JSON_OBJECT) {
        json_skip(&reader);
        return json_finish(&reader, fault) && fault_set(fault, FAULT_INPUT, "not a JSON object");
    }
    reader.when = decode_when(options->minor, version);
    struct object object;
    decode_object_at(&reader, kind, version, &object);
    if (!json_finish(&reader, fault)) return false;
    *ret_object = object;
    return true;
}
