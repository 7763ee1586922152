// SPDX-License-Identifier: Apache-2.0
// Node selectors in long-lived memory, and which nodes they mean.
#ifndef DRAWBRIDGE_LEDGER_SELECTOR_H
#define DRAWBRIDGE_LEDGER_SELECTOR_H

#include "server/ledger/names.h"
#include "validators/core/arena.h"
#include "validators/model/meta.h"

struct node_entry;

struct selector_requirement {
    bool field;    // of metadata.name, not of a label
    uint8_t means; // enum selector_operator
    const struct name *key;
    const struct name **values;
    size_t value_count;
};
struct selector_term {
    struct selector_requirement *requirements;
    size_t requirement_count;
    bool never; // empty, or not to be understood
};
struct selector {
    struct selector_term *terms;
    size_t term_count;
};

// Errors: NULL, memory.
struct selector *selector_new(struct name_table *names, const struct node_selector *source)
    __attribute__((warn_unused_result));
// NULL is allowed.
void selector_free(struct name_table *names, struct selector *selector);

// What it does: the same for a moment, in an arena. Texts that no name holds match no node. Errors: NULL, the
// arena.
const struct selector *selector_in_arena(const struct name_table *names, const struct node_selector *source,
                                         struct arena *arena) __attribute__((warn_unused_result));

// What it does: true when one of the terms matches. What upstream cannot parse matches nothing.
// Source: k8s.io/component-helpers v0.36.3 scheduling/corev1/nodeaffinity/nodeaffinity.go.
bool selector_matches(const struct selector *selector, const struct node_entry *node);

// What it does: the one node that a selector names by metadata.name; empty when it is not of that form.
struct text selector_exact_node(const struct node_selector *source);

#endif
