// SPDX-License-Identifier: Apache-2.0
// What a rule is, and what it is given. One rule is one file rule_<id>.c and one row in rules.def.
#ifndef DRAWBRIDGE_RULES_RULE_H
#define DRAWBRIDGE_RULES_RULE_H

#include "validators/core/finding.h"
#include "validators/model/object.h"
#include "validators/model/view.h"

enum operation { OPERATION_CREATE = 1, OPERATION_UPDATE = 2, OPERATION_DELETE = 4, OPERATION_CONNECT = 8 };

// Settings of the policy that offline rules read.
struct rule_settings {
    struct text_list numa_attributes; // spellings of the NUMA attribute that count; empty: the built-in list
};

struct rule_input {
    const struct object *object;
    const struct object *old; // UPDATE only, else NULL
    enum operation operation;
    struct text subresource; // empty for the main resource
    int minor;               // 36, 37, …
    bool online;             // a review, not `check`: pools of several slices are judged more gently
    bool pool_has_siblings;  // online: other slices of the same pool are live
    const struct rule_settings *settings;
    const struct view *view; // NULL off line
    struct text user;        // who asks; empty off line
    struct arena *arena;     // for texts of findings
};

// Rules return nothing and only append findings; list->rule and list->severity are set by the registry.
typedef void rule_function(const struct rule_input *input, struct finding_list *findings);

// Bits of rule.on: kinds and operations.
#define ON_SLICE    0x01u
#define ON_CLAIM    0x02u
#define ON_TEMPLATE 0x04u
#define ON_CLASS    0x08u
#define ON_CREATE   0x10u
#define ON_UPDATE   0x20u
#define ON_ROLE     0x40u // Role and ClusterRole
#define ON_BINDING  0x80u // ClusterRoleBinding
#define ON_POD      0x100u
#define ON_STATUS   0x200u // the subresource `status` of the kinds beside it, and nothing else
#define ON_BOTH     0x400u // the subresource `status` too

// MAPPING rules (the first two tables of the catalogue) deny a slice on line only where its pool has one
// slice.
enum rule_group { RULE_MAPPING, RULE_IDENTITY, RULE_CLAIM, RULE_RIGHTS };

struct rule_revision {
    int since_minor;
    rule_function *run; // NULL retires the rule from that minor on
};
#define RULE_REVISIONS_MAX 3

struct rule {
    const char *id;
    unsigned on;
    bool needs_view;
    enum severity action;
    bool locked; // policy may not change the action
    enum rule_group group;
    struct rule_revision revisions[RULE_REVISIONS_MAX]; // rising; ends at since_minor 0
};

#endif
