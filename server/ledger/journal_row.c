// SPDX-License-Identifier: Apache-2.0
// The words of the journal.
#include "server/ledger/journal_row.h"

static const char *const type_names[JOURNAL_TYPE_COUNT] = {
    [JOURNAL_START] = "START",       [JOURNAL_ADDED] = "ADDED",
    [JOURNAL_MODIFIED] = "MODIFIED", [JOURNAL_DELETED] = "DELETED",
    [JOURNAL_SEEN] = "SEEN",         [JOURNAL_LIST_BEGIN] = "LIST_BEGIN",
    [JOURNAL_LIST_END] = "LIST_END", [JOURNAL_LIST_CANCEL] = "LIST_CANCEL",
    [JOURNAL_GAP] = "GAP",           [JOURNAL_STATE] = "STATE",
    [JOURNAL_AUDIT] = "AUDIT",
};

static const char *const kind_names[KIND_NODE_LEDGER + 1] = {
    [KIND_OTHER] = "",
    [KIND_RESOURCE_SLICE] = "ResourceSlice",
    [KIND_RESOURCE_CLAIM] = "ResourceClaim",
    [KIND_RESOURCE_CLAIM_TEMPLATE] = "ResourceClaimTemplate",
    [KIND_DEVICE_CLASS] = "DeviceClass",
    [KIND_NODE] = "Node",
    [KIND_POD] = "Pod",
    [KIND_NAMESPACE] = "Namespace",
    [KIND_LEASE] = "Lease",
    [KIND_DEVICE_TAINT_RULE] = "DeviceTaintRule",
    [KIND_LEDGER_POLICY] = "LedgerPolicy",
    [KIND_NODE_LEDGER] = "NodeLedger",
};

const char *journal_type_name(enum journal_type type) {
    return type_names[type];
}

const char *journal_kind_name(enum object_kind kind) {
    return kind <= KIND_NODE_LEDGER ? kind_names[kind] : "";
}

bool journal_type_find(struct text name, enum journal_type *ret_type) {
    for (unsigned i = 0; i < JOURNAL_TYPE_COUNT; i++)
        if (text_equal(name, text_of(type_names[i]))) {
            *ret_type = (enum journal_type)i;
            return true;
        }
    return false;
}

enum object_kind journal_kind_find(struct text name) {
    for (unsigned i = 1; i <= KIND_NODE_LEDGER; i++)
        if (text_equal(name, text_of(kind_names[i]))) return (enum object_kind)i;
    return KIND_OTHER;
}

int journal_start_minor(struct text json) {
    const struct text head = TEXT("{\"minor\":");
    if (!text_starts_with(json, head)) return 0;
    int minor = 0;
    for (size_t at = head.len; at < json.len && json.ptr[at] >= '0' && json.ptr[at] <= '9' && minor < 1000;
         at++)
        minor = minor * 10 + (json.ptr[at] - '0');
    return minor;
}
