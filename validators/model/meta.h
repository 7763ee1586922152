// SPDX-License-Identifier: Apache-2.0
// Object metadata and small types that several kinds share.
// Source: k8s.io/apimachinery v0.36.3 pkg/apis/meta/v1/types.go.
#ifndef DRAWBRIDGE_MODEL_META_H
#define DRAWBRIDGE_MODEL_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/quantity.h"
#include "validators/core/text.h"

// Optional scalars: `set` is false when the field was absent or null.
struct opt_text {
    struct text value;
    bool set;
};
struct opt_bool {
    bool value;
    bool set;
};
struct opt_int64 {
    int64_t value;
    bool set;
};

struct text_list {
    struct text *items;
    size_t count;
    bool set; // present and not null, also when empty
};

struct text_pair {
    struct text key;
    struct text value;
};
struct text_map {
    struct text_pair *items;
    size_t count;
};

// Resource name → quantity, in the order as written.
struct quantity_entry {
    struct text key;
    struct quantity value;
};
struct quantity_map {
    struct quantity_entry *items;
    size_t count;
    bool set;
};

struct owner_reference {
    struct text api_version;
    struct text kind;
    struct text name;
    struct text uid;
    struct opt_bool controller;
    struct opt_bool block_owner_deletion;
};
struct owner_reference_list {
    struct owner_reference *items;
    size_t count;
    bool set; // present and not null, also when empty
};

struct object_meta {
    struct text name;
    struct text generate_name;
    struct text namespace;
    struct text self_link;
    struct text uid;
    struct text resource_version;
    int64_t generation;
    struct text creation_timestamp; // as written; empty when absent
    struct text deletion_timestamp;
    struct opt_int64 deletion_grace_period_seconds;
    struct text_map labels;
    struct text_map annotations;
    struct owner_reference_list owner_references;
    struct text_list finalizers;
    struct text managed_fields; // raw JSON; empty when absent
};

// Source: k8s.io/api v0.36.3 core/v1/types.go, NodeSelector.
struct node_selector_requirement {
    struct text key;
    struct text operator;
    struct text_list values;
};
struct node_selector_requirement_list {
    struct node_selector_requirement *items;
    size_t count;
};
struct node_selector_term {
    struct node_selector_requirement_list match_expressions;
    struct node_selector_requirement_list match_fields;
};
struct node_selector_term_list {
    struct node_selector_term *items;
    size_t count;
};
struct node_selector {
    struct node_selector_term_list terms;
    bool set;
    struct text raw; // the JSON as written, for exact comparison of selectors; empty when not kept
};

#endif
