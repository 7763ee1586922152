// SPDX-License-Identifier: Apache-2.0
// What a device takes of its node, and where on the node it is: its mappings and its NUMA attributes; of a
// device with mappings that many may have, its capacities too. Devices that are alike share one shape, so
// that a cluster's devices fit in memory. A shape never changes: a row that holds one keeps what was in force
// when it was committed.
#ifndef DRAWBRIDGE_LEDGER_SHAPE_H
#define DRAWBRIDGE_LEDGER_SHAPE_H

#include "server/ledger/names.h"
#include "validators/model/resource_slice.h"

struct shape_mapping {
    const struct name *resource;
    bool mapped;                     // there is a mapping; else overhead alone
    const struct name *capacity_key; // NULL: a fixed amount
    struct quantity multiplier;      // of the capacity, or the fixed amount
    struct quantity per_pod;         // not set: none
    struct quantity per_container;
};

enum numa_form {
    NUMA_NODE,               // an integer, or a list of which the first counts
    NUMA_LIST_WITH_NEGATIVE, // its first counts all the same
    NUMA_NO_NODE,            // neither: a text, a version, an empty list
};

struct shape_numa {
    const struct name *attribute;
    enum numa_form form;
    int64_t id; // unless NUMA_NO_NODE
};

struct shape_capacity {
    const struct name *key;
    struct quantity quantity;
};

struct shape {
    _Alignas(struct shape_mapping) struct link by_content;
    size_t refs;
    // Of the content: equal on every replica, so that two may be compared across restarts and replicas.
    uint64_t digest[2];
    // Tells shapes of equal content apart that print differently, or have other capacities: a driver may
    // change a capacity without changing what bound claims take.
    uint64_t spelling;
    size_t mapping_count;
    size_t numa_count;
    size_t capacity_count;
    bool shareable;                          // allowMultipleAllocations
    bool numa_doubtful;                      // its NUMA attributes are not all one node, zero or above
    const struct shape_mapping *mappings;    // sorted by resource; behind this struct
    const struct shape_capacity *capacities; // where it is shareable and has mappings; else none
    const struct shape_numa *numa;           // the attributes that could name a NUMA node
};

struct shape_table {
    struct index index;
    struct name_table *names;
};

// What it does: the shape of a device, with one more reference. Errors: NULL, memory.
const struct shape *shape_take(struct shape_table *table, const struct device *device, int minor)
    __attribute__((warn_unused_result));
const struct shape *shape_share(const struct shape *shape);
// NULL is allowed.
void shape_drop(struct shape_table *table, const struct shape *shape);

// What a device has of a capacity; NULL when it is not kept.
const struct quantity *shape_capacity(const struct shape *shape, const struct name *key);

bool shape_equal(const struct shape *a, const struct shape *b);

// The digest as 32 hexadecimal digits.
#define DIGEST_TEXT_BYTES 33
void digest_print(const uint64_t digest[2], char buffer[DIGEST_TEXT_BYTES]);
bool digest_parse(struct text text, uint64_t ret_digest[2]) __attribute__((warn_unused_result));

// What it does: adds to a digest. All are the same on every replica.
void digest_text(uint64_t digest[2], struct text text);
// The value, however it is written.
void digest_quantity(uint64_t digest[2], struct quantity quantity);

// What it does: the NUMA node of a device: that of the first spelling that it has, among those of the policy,
// else the built-in ones. A bare name and the same name in the driver's own domain are one. False when there
// is none.
bool shape_numa_node(const struct shape *shape, struct text driver, const struct text_list *spellings,
                     int64_t *ret_node);

#endif
