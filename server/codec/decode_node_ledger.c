// SPDX-License-Identifier: Apache-2.0
// NodeLedger of drawbridge.dev/v1alpha1, as far as a rebuild reads it back; the rest is passed over in every
// mode.
#include "server/codec/decode_parts.h"

enum {
    DRIVER_DRIVER,
    DRIVER_POOL,
    DRIVER_RETIRED,
    DRIVER_VERSION,
    DRIVER_DIGEST,
    DRIVER_STATE,
    DRIVER_CAUSE,
    DRIVER_SINCE
};
static const struct json_name driver_names[] = {
    [DRIVER_DRIVER] = JSON_NAME("driver"),
    [DRIVER_POOL] = JSON_NAME("pool"),
    [DRIVER_RETIRED] = JSON_NAME("retiredGeneration"),
    [DRIVER_VERSION] = JSON_NAME("version"),
    [DRIVER_DIGEST] = JSON_NAME("digest"),
    [DRIVER_STATE] = JSON_NAME("state"),
    [DRIVER_CAUSE] = JSON_NAME("cause"),
    [DRIVER_SINCE] = JSON_NAME("since"),
};
static const struct json_fields DRIVER = JSON_FIELDS(driver_names);

static void decode_drivers(struct json_reader *reader, struct node_ledger_driver_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct node_ledger_driver *driver = JSON_APPEND(reader, ret);
        if (driver == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &DRIVER, &seen, &field)) switch (field) {
            case DRIVER_DRIVER: json_text(reader, &driver->driver); break;
            case DRIVER_POOL: json_text(reader, &driver->pool); break;
            case DRIVER_RETIRED: json_int64(reader, &driver->retired_generation); break;
            case DRIVER_VERSION: json_int64(reader, &driver->version); break;
            case DRIVER_DIGEST: json_text(reader, &driver->digest); break;
            case DRIVER_STATE: json_text(reader, &driver->state); break;
            case DRIVER_CAUSE: json_text(reader, &driver->cause); break;
            case DRIVER_SINCE: json_text(reader, &driver->since); break;
            }
    }
}

enum {
    CLAIM_UID,
    CLAIM_NAMESPACE,
    CLAIM_NAME,
    CLAIM_DRIVER,
    CLAIM_POOL,
    CLAIM_DEVICE,
    CLAIM_SHARE_ID,
    CLAIM_VERSION,
    CLAIM_DIGEST,
    CLAIM_HELD,
    CLAIM_RESOURCES,
    CLAIM_OVERHEAD,
    CLAIM_NUMA
};
static const struct json_name claim_names[] = {
    [CLAIM_UID] = JSON_NAME("uid"),
    [CLAIM_NAMESPACE] = JSON_NAME("namespace"),
    [CLAIM_NAME] = JSON_NAME("name"),
    [CLAIM_DRIVER] = JSON_NAME("driver"),
    [CLAIM_POOL] = JSON_NAME("pool"),
    [CLAIM_DEVICE] = JSON_NAME("device"),
    [CLAIM_SHARE_ID] = JSON_NAME("shareID"),
    [CLAIM_VERSION] = JSON_NAME("version"),
    [CLAIM_DIGEST] = JSON_NAME("digest"),
    [CLAIM_HELD] = JSON_NAME("held"),
    [CLAIM_RESOURCES] = JSON_NAME("resources"),
    [CLAIM_OVERHEAD] = JSON_NAME("overhead"),
    [CLAIM_NUMA] = JSON_NAME("numa"),
};
static const struct json_fields CLAIM = JSON_FIELDS(claim_names);

static void decode_claim(struct json_reader *reader, struct node_ledger_claim *claim) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &CLAIM, &seen, &field)) switch (field) {
        case CLAIM_UID: json_text(reader, &claim->uid); break;
        case CLAIM_NAMESPACE: json_text(reader, &claim->namespace); break;
        case CLAIM_NAME: json_text(reader, &claim->name); break;
        case CLAIM_DRIVER: json_text(reader, &claim->driver); break;
        case CLAIM_POOL: json_text(reader, &claim->pool); break;
        case CLAIM_DEVICE: json_text(reader, &claim->device); break;
        case CLAIM_SHARE_ID: json_text(reader, &claim->share_id); break;
        case CLAIM_VERSION: json_int64(reader, &claim->version); break;
        case CLAIM_DIGEST: json_text(reader, &claim->digest); break;
        case CLAIM_HELD: json_bool(reader, &claim->held); break;
        case CLAIM_RESOURCES: decode_quantity_map(reader, &claim->resources); break;
        case CLAIM_OVERHEAD: decode_overhead(reader, &claim->overhead); break;
        case CLAIM_NUMA: decode_opt_int64(reader, &claim->numa); break;
        }
}

static void decode_claims(struct json_reader *reader, struct node_ledger_claim_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct node_ledger_claim *claim = JSON_APPEND(reader, ret);
        if (claim == NULL) return;
        decode_claim(reader, claim);
    }
}

enum { STATUS_VERSION, STATUS_DRIVERS, STATUS_CLAIMS };
static const struct json_name status_names[] = {
    [STATUS_VERSION] = JSON_NAME("version"),
    [STATUS_DRIVERS] = JSON_NAME("drivers"),
    [STATUS_CLAIMS] = JSON_NAME("claims"),
};
static const struct json_fields STATUS = JSON_FIELDS(status_names);

static void decode_status(struct json_reader *reader, struct node_ledger *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &STATUS, &seen, &field)) switch (field) {
        case STATUS_VERSION: json_int64(reader, &ret->version); break;
        case STATUS_DRIVERS: decode_drivers(reader, &ret->drivers); break;
        case STATUS_CLAIMS: decode_claims(reader, &ret->claims); break;
        }
}

enum { OBJECT_METADATA, OBJECT_STATUS, OBJECT_API_VERSION, OBJECT_KIND };
static const struct json_name object_names[] = {
    [OBJECT_METADATA] = JSON_NAME("metadata"),
    [OBJECT_STATUS] = JSON_NAME("status"),
    [OBJECT_API_VERSION] = JSON_NAME("apiVersion"),
    [OBJECT_KIND] = JSON_NAME("kind"),
};
static const struct json_fields OBJECT = JSON_FIELDS(object_names);

void decode_node_ledger(struct json_reader *reader, struct object *ret) {
    enum json_mode mode = reader->mode;
    reader->mode = JSON_WIRE;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &OBJECT, &seen, &field)) switch (field) {
        case OBJECT_METADATA: decode_object_meta(reader, &ret->node_ledger.metadata); break;
        case OBJECT_STATUS: decode_status(reader, &ret->node_ledger); break;
        case OBJECT_API_VERSION: json_text(reader, &ret->api_version); break;
        case OBJECT_KIND: json_text(reader, &ret->kind_name); break;
        }
    reader->mode = mode;
}
