// SPDX-License-Identifier: Apache-2.0
// A resource and an amount of it, and sorted lists of them, in long-lived memory.
#ifndef DRAWBRIDGE_LEDGER_AMOUNTS_H
#define DRAWBRIDGE_LEDGER_AMOUNTS_H

#include "server/ledger/names.h"
#include "validators/core/quantity.h"
#include "validators/model/meta.h"

// The quantity is a computed one: it has no source text.
struct amount {
    const struct name *resource;
    struct quantity quantity;
};
struct amounts {
    struct amount *items; // sorted by the resource's text
    size_t count;
};

// A quantity that no longer points at the text that it was read from.
struct quantity quantity_kept(struct quantity quantity);

// What it does: a copy of a map of quantities, sorted by name; of entries with one name the first counts.
// Errors: false, memory; untouched then.
bool amounts_copy(struct name_table *names, const struct quantity_map *map, struct amounts *ret_amounts)
    __attribute__((warn_unused_result));
void amounts_release(struct name_table *names, struct amounts *amounts);

// The entry of a resource; NULL when there is none.
const struct quantity *amounts_find(const struct amounts *amounts, const struct name *resource);

#endif
