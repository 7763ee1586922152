// SPDX-License-Identifier: Apache-2.0
// What drivers report about devices.
#include "validators/schema/device_status.h"

#include "validators/schema/device_configuration.h"
#include "validators/schema/device_selector.h"
#include "validators/schema/interface_address.h"
#include "validators/schema/key_index.h"
#include "validators/schema/names.h"

#define CONDITIONS_MAX_COUNT        8u
#define CONDITION_REASON_MAX_BYTES  1024u
#define CONDITION_MESSAGE_MAX_BYTES 32768u
#define STATUS_DATA_MAX_BYTES       10240u
#define INTERFACE_NAME_MAX_BYTES    256u
#define HARDWARE_ADDRESS_MAX_BYTES  128u
#define INTERFACE_IPS_MAX_COUNT     16u

static const struct text NO_VALUE = {"", 0};

static void too_long(size_t len, size_t limit, const struct path *path, struct finding_list *findings) {
    if (len > limit)
        finding_addf(findings, FINDING_TOO_LONG, path, NO_VALUE, "must be no more than %zu bytes, is %zu",
                     limit, len);
}

// Source: IsValidConditionReason.
static const char *why_not_reason(struct text reason) {
    static const char why[] =
        "a reason begins with a letter, goes on with letters, digits, '_', ',' and ':', "
        "and ends with none of the last two (such as 'MyReason')";
    for (size_t i = 0; i < reason.len; i++) {
        char c = reason.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool inner = letter || (c >= '0' && c <= '9') || c == '_';
        bool fine = i == 0 ? letter : inner || (i + 1 < reason.len && (c == ',' || c == ':'));
        if (!fine) return why;
    }
    return NULL;
}

static void check_condition_type(struct text type, int minor, const struct path *path,
                                 struct finding_list *findings) {
    struct path type_path = path_field(path, TEXT("type"));
    if (type.len == 0 && minor >= 37)
        finding_add(findings, FINDING_REQUIRED, &type_path, type, TEXT("is required"));
    else
        schema_form(why_not_label_key(type), type, &type_path, findings);
}

static void check_condition_status(struct text status, int minor, const struct path *path,
                                   struct finding_list *findings) {
    if (text_equal(status, TEXT("True")) || text_equal(status, TEXT("False")) ||
        text_equal(status, TEXT("Unknown")))
        return;
    struct path status_path = path_field(path, TEXT("status"));
    enum finding_type type = status.len == 0 && minor >= 37 ? FINDING_REQUIRED : FINDING_NOT_SUPPORTED;
    finding_add(findings, type, &status_path, status, TEXT("must be True, False or Unknown"));
}

static void check_condition(const struct condition *condition, int minor, const struct path *path,
                            struct finding_list *findings) {
    check_condition_type(condition->type, minor, path, findings);
    check_condition_status(condition->status, minor, path, findings);
    if (condition->observed_generation < 0) {
        struct path generation_path = path_field(path, TEXT("observedGeneration"));
        finding_add(findings, FINDING_INVALID, &generation_path,
                    text_format(findings->arena, "%lld", (long long)condition->observed_generation),
                    TEXT("must not be negative"));
    }
    struct text time = condition->last_transition_time;
    if (time.len == 0 || text_equal(time, TEXT("0001-01-01T00:00:00Z"))) {
        struct path time_path = path_field(path, TEXT("lastTransitionTime"));
        finding_add(findings, FINDING_REQUIRED, &time_path, time, TEXT("is required"));
    }
    struct path reason_path = path_field(path, TEXT("reason"));
    if (condition->reason.len == 0)
        finding_add(findings, FINDING_REQUIRED, &reason_path, condition->reason, TEXT("is required"));
    schema_form(why_not_reason(condition->reason), condition->reason, &reason_path, findings);
    too_long(condition->reason.len, CONDITION_REASON_MAX_BYTES, &reason_path, findings);
    struct path message_path = path_field(path, TEXT("message"));
    too_long(condition->message.len, CONDITION_MESSAGE_MAX_BYTES, &message_path, findings);
}

static void check_conditions(const struct condition_list *conditions, int minor, const struct path *path,
                             struct finding_list *findings) {
    struct path list_path = path_field(path, TEXT("conditions"));
    schema_count_fits(conditions->count, CONDITIONS_MAX_COUNT, &list_path, findings);
    struct key_index index;
    key_index_init(&index, findings->arena, conditions->count);
    for (size_t i = 0; i < conditions->count; i++) key_index_add(&index, 0, conditions->items[i].type, i);
    key_index_sort(&index, findings->arena);
    for (size_t i = 0; i < conditions->count; i++) {
        const struct condition *condition = &conditions->items[i];
        struct path item_path = path_index(&list_path, i);
        struct path type_path = path_field(&item_path, TEXT("type"));
        if (key_index_first(&index, 0, condition->type) < i)
            finding_add(findings, FINDING_DUPLICATE, minor < 37 ? &type_path : &item_path, condition->type,
                        TEXT("a condition of this type is listed already"));
        check_condition(condition, minor, &item_path, findings);
    }
}

static void check_network(const struct allocated_device_status *status, const struct path *path,
                          struct finding_list *findings) {
    struct path network_path = path_field(path, TEXT("networkData"));
    struct path interface_path = path_field(&network_path, TEXT("interfaceName"));
    too_long(status->interface_name.len, INTERFACE_NAME_MAX_BYTES, &interface_path, findings);
    struct path hardware_path = path_field(&network_path, TEXT("hardwareAddress"));
    too_long(status->hardware_address.len, HARDWARE_ADDRESS_MAX_BYTES, &hardware_path, findings);
    struct path ips_path = path_field(&network_path, TEXT("ips"));
    if (!schema_count_fits(status->ips.count, INTERFACE_IPS_MAX_COUNT, &ips_path, findings)) return;
    for (size_t i = 0; i < status->ips.count; i++) {
        struct path item_path = path_index(&ips_path, i);
        struct text ip = status->ips.items[i];
        schema_form(why_not_interface_address(ip), ip, &item_path, findings);
        for (size_t j = 0; j < i; j++) {
            if (!text_equal(status->ips.items[j], ip)) continue;
            finding_add(findings, FINDING_DUPLICATE, &item_path, ip, TEXT("is listed already"));
            break;
        }
    }
}

void schema_device_status(const struct allocated_device_status *status, int minor, const struct path *path,
                          struct finding_list *findings) {
    struct path driver_path = path_field(path, TEXT("driver"));
    schema_driver_name(status->driver, false, &driver_path, findings);
    struct path pool_path = path_field(path, TEXT("pool"));
    schema_pool_name(status->pool, &pool_path, findings);
    struct path device_path = path_field(path, TEXT("device"));
    schema_form(why_not_dns1123_label(status->device), status->device, &device_path, findings);
    if (status->share_id.set) {
        struct path share_path = path_field(path, TEXT("shareID"));
        schema_form(why_not_uuid(status->share_id.value), status->share_id.value, &share_path, findings);
    }
    check_conditions(&status->conditions, minor, path, findings);
    if (status->data.len > 0 && !text_equal(status->data, TEXT("null"))) {
        struct path data_path = path_field(path, TEXT("data"));
        schema_raw_object(status->data, STATUS_DATA_MAX_BYTES, false, &data_path, findings);
    }
    if (status->network_data_set) check_network(status, path, findings);
}
