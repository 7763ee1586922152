// SPDX-License-Identifier: Apache-2.0
// A table of known mistakes: where, of what sort, and what to write instead.
#include "server/codec/hints.h"

#include "validators/model/object.h"

#define VALUE_LIMIT_BYTES 64u
#define WHEN_FLAT         (WHEN_V1 | WHEN_V1BETA2)

struct hint_row {
    enum finding_type type;
    uint8_t when;        // contexts, any of them; 0: always
    const char *pattern; // of the path; * stands for any run of bytes
    const char *detail;  // how the detail begins; "" for any
    const char *before;  // the hint: before, the value as written, after
    const char *after;   // NULL: the value is not shown
};

#define FROM_STRING "cannot unmarshal string"
#define FROM_NUMBER "cannot unmarshal number"
#define FROM_BOOL   "cannot unmarshal bool"
#define FROM_LIST   "cannot unmarshal array"

// The first row that matches counts.
static const struct hint_row rows[] = {
    // Bare values where an object belongs.
    {FINDING_DECODING, 0, "spec.devices[*].*capacity[*]", FROM_STRING, "write {value: \"", "\"}"},
    {FINDING_DECODING, 0, "spec.devices[*].*capacity[*]", FROM_NUMBER, "write {value: \"", "\"}"},
    {FINDING_DECODING, 0, "*ounters[*].counters[*]", FROM_STRING, "write {value: \"", "\"}"},
    {FINDING_DECODING, 0, "*ounters[*].counters[*]", FROM_NUMBER, "write {value: \"", "\"}"},
    {FINDING_DECODING, 0, "spec.devices[*].*attributes[*]", FROM_STRING, "write {string: \"", "\"}"},
    {FINDING_DECODING, 0, "spec.devices[*].*attributes[*]", FROM_NUMBER, "write {int: ", "}"},
    {FINDING_DECODING, 0, "spec.devices[*].*attributes[*]", FROM_BOOL, "write {bool: ", "}"},
    {FINDING_DECODING, 0, "*.nodeAllocatableResourceMappings[*]", FROM_STRING,
     "write {allocationMultiplier: \"", "\"}"},
    {FINDING_DECODING, 0, "*.nodeAllocatableResourceMappings[*]", FROM_NUMBER,
     "write {allocationMultiplier: \"", "\"}"},
    {FINDING_DECODING, 0, "*.nodeAllocatableResources[*].mapping", FROM_STRING,
     "write mapping: {deviceMultiplier: \"", "\"}"},
    {FINDING_DECODING, 0, "*.nodeAllocatableResources[*]", FROM_STRING,
     "write {mapping: {deviceMultiplier: \"", "\"}}"},
    {FINDING_DECODING, 0, "*.nodeAllocatableResources[*]", FROM_NUMBER,
     "write {mapping: {deviceMultiplier: \"", "\"}}"},
    {FINDING_DECODING, 0, "spec.devices[*].*nodeAllocatableResource*s", FROM_LIST,
     "a map by resource, not a list: write cpu: {…}", NULL},
    {FINDING_DECODING, 0, "spec.devices[*].*attributes", FROM_LIST,
     "a map by name, not a list: write NAME: {int: 1}", NULL},
    {FINDING_DECODING, 0, "spec.devices[*].*capacity", FROM_LIST,
     "a map by name, not a list: write NAME: {value: \"1\"}", NULL},
    {FINDING_DECODING, 0, "spec.pool", FROM_STRING, "write {name: \"",
     "\", generation: 1, resourceSliceCount: 1}"},
    // Quotes where none belong, and a name where a list of them does.
    {FINDING_DECODING, 0, "*", FROM_STRING " into a field of type int64",
     "write a whole number without quotes", NULL},
    {FINDING_DECODING, 0, "*", FROM_STRING " into a field of type bool", "write true or false without quotes",
     NULL},
    {FINDING_DECODING, 0, "*", FROM_STRING " into a field of type list", "write a list: [\"", "\"]"},
    {FINDING_DECODING, 0, "*", FROM_NUMBER " into a field of type string", "put the value in quotes", NULL},
    {FINDING_DECODING, 0, "*", FROM_BOOL " into a field of type string", "put the value in quotes", NULL},
    {FINDING_DECODING, 0, "*", FROM_NUMBER, "write a whole number between -2^63 and 2^63-1", NULL},
    {FINDING_DECODING, 0, "*", "quantities must match",
     "write a number with an optional suffix, such as 500m, 4, 8Gi", NULL},
    {FINDING_DECODING, 0, "*", "unable to parse quantity's suffix",
     "the suffixes are n u m k M G T P E, Ki Mi Gi Ti Pi Ei, and e3 or E3", NULL},
    // Fields of another version or another level.
    {FINDING_STRICT_DECODING, WHEN_FLAT, "spec.devices[*].basic", "unknown",
     "basic is the form of v1beta1: write its fields in the device itself", NULL},
    {FINDING_STRICT_DECODING, WHEN_V1BETA1, "spec.devices[*].attributes", "unknown",
     "v1beta1 has the fields of a device under basic: write basic: {attributes: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_V1BETA1, "spec.devices[*].capacity", "unknown",
     "v1beta1 has the fields of a device under basic: write basic: {capacity: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_V1BETA1, "spec.devices[*].nodeAllocatableResource*", "unknown",
     "v1beta1 has the fields of a device under basic", NULL},
    {FINDING_STRICT_DECODING, WHEN_FLAT, "spec.*devices.requests[*].deviceClassName", "unknown",
     "flat requests are the form of v1beta1: write exactly: {deviceClassName: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_FLAT, "spec.*devices.requests[*].count", "unknown",
     "flat requests are the form of v1beta1: write exactly: {count: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_FLAT, "spec.*devices.requests[*].allocationMode", "unknown",
     "flat requests are the form of v1beta1: write exactly: {allocationMode: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_FLAT, "spec.*devices.requests[*].selectors", "unknown",
     "flat requests are the form of v1beta1: write exactly: {selectors: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_FLAT, "spec.*devices.requests[*].capacity", "unknown",
     "flat requests are the form of v1beta1: write exactly: {capacity: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_V1BETA1, "spec.*devices.requests[*].exactly", "unknown",
     "v1beta1 has no exactly: write its fields in the request itself", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.requests", "unknown",
     "write it one level down: devices: {requests: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.resourceClassName", "unknown",
     "that is the form of v1alpha2: write devices: {requests: [{name: …, exactly: {deviceClassName: …}}]}",
     NULL},
    {FINDING_STRICT_DECODING, 0, "spec.parametersRef", "unknown",
     "that is the form of v1alpha2: write devices: {config: [{opaque: {driver: …, parameters: {…}}}]}", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.driverName", "unknown", "the field is called driver", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.resourceSliceCount", "unknown", "write it in pool", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.generation", "unknown", "write it in pool", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.poolName", "unknown", "write pool: {name: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.nodeAllocatableResource*", "unknown",
     "mappings are a field of each device: write it in spec.devices[]", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.devices[*].*attributes.*.quantity", "unknown",
     "an attribute is one of int, bool, string, version; a quantity is written in capacity: {value: …}",
     NULL},
    {FINDING_STRICT_DECODING, 0, "spec.devices[*].*attributes.*.value", "unknown",
     "an attribute is one of int, bool, string, version", NULL},
    {FINDING_STRICT_DECODING, 0, "spec.devices[*].*capacity.*.quantity", "unknown",
     "the field is called value", NULL},
    // The two forms of mappings.
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.capacityKey", "unknown",
     "write it one level down: mapping: {capacityKey: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.capacityMultiplier", "unknown",
     "write it one level down: mapping: {capacityMultiplier: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.deviceMultiplier", "unknown",
     "write it one level down: mapping: {deviceMultiplier: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.perPod", "unknown",
     "write it one level down: overhead: {perPod: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.perContainer", "unknown",
     "write it one level down: overhead: {perContainer: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.allocationMultiplier", "unknown",
     "v1.37 has mapping: {deviceMultiplier: …}, or {capacityKey: …, capacityMultiplier: …}", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResourceMappings.*.mapping", "unknown",
     "v1.36 has no mapping: write capacityKey and allocationMultiplier here", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResourceMappings.*Multiplier", "unknown",
     "v1.36 has one multiplier, called allocationMultiplier", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResourceMappings.*.multiplier", "unknown",
     "v1.36 has one multiplier, called allocationMultiplier", NULL},
    {FINDING_STRICT_DECODING, 0, "*.nodeAllocatableResources.*.multiplier", "unknown",
     "write mapping: {deviceMultiplier: …}, or {capacityKey: …, capacityMultiplier: …}", NULL},
    {FINDING_STRICT_DECODING, WHEN_MINOR_37, "*.nodeAllocatableResourceMappings", "unknown",
     "that is the field of v1.36: v1.37 has nodeAllocatableResources", NULL},
    {FINDING_STRICT_DECODING, WHEN_MINOR_36, "*.nodeAllocatableResources", "unknown",
     "that is the field of v1.37: v1.36 has nodeAllocatableResourceMappings", NULL},
};

// Whether text is what the pattern says, * being any run of bytes. Linear: only the last * is tried again.
static bool matches(struct text text, const char *pattern) {
    size_t at = 0;
    size_t retry_at = 0;
    const char *retry = NULL;
    while (at < text.len) {
        if (*pattern == '*') {
            retry = ++pattern;
            retry_at = at;
        } else if (*pattern != '\0' && *pattern == text.ptr[at]) { // paths may hold NUL
            pattern++;
            at++;
        } else if (retry != NULL) {
            pattern = retry;
            at = ++retry_at;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

static bool row_applies(const struct hint_row *row, const struct finding *finding, uint8_t when) {
    return row->type == finding->type && (row->when == 0 || (row->when & when) != 0) &&
           text_starts_with(finding->detail, text_of(row->detail)) && matches(finding->path, row->pattern);
}

static struct text hint_text(struct arena *arena, const struct hint_row *row, struct text value) {
    if (row->after == NULL) return text_of(row->before);
    struct text shown = text_printable(arena, value, VALUE_LIMIT_BYTES);
    return text_format(arena, "%s%.*s%s", row->before, TEXT_ARG(shown), row->after);
}

void hints_add(struct finding_list *findings, size_t first, uint8_t when) {
    for (size_t i = first; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (finding->hint.len > 0) continue;
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            if (!row_applies(&rows[r], finding, when)) continue;
            finding_hint(finding, hint_text(findings->arena, &rows[r], finding->value));
            break;
        }
    }
}
