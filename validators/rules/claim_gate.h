// SPDX-License-Identifier: Apache-2.0
// What the rules about claims share: what a write of a claim's status adds, for which Pod, on which node.
#ifndef DRAWBRIDGE_RULES_CLAIM_GATE_H
#define DRAWBRIDGE_RULES_CLAIM_GATE_H

#include "validators/rules/rule.h"

struct claim_write {
    const struct resource_claim *claim;
    bool allocates;           // an allocation is there that was not
    struct text consumer_uid; // of the first consumer that was not there; empty: none
    size_t consumer_count;    // how many are new
    struct text group;        // its name, when that consumer is a PodGroup
    bool pod_known;
    struct view_pod pod; // that consumer, or one of the PodGroup that it is about, when it is known
    struct text node;    // where the claim will be used; empty: not one node, or not known
};

// What it does: tells what a write of resourceclaims/status adds. False when it adds nothing: releases,
// deallocations and drivers' own statuses are never judged. *ret_write is filled in both cases.
bool claim_write_of(const struct rule_input *input, struct claim_write *ret_write);

// Whether another claim of the Pod was written for it before: then this write must not be denied, or the Pod
// would be left with half of what it needs.
bool claim_write_is_later(const struct rule_input *input, const struct claim_write *write);

// What it does: as finding_add, with the claim's UID in the text. The path is status.allocation or
// status.reservedFor. Owner: the arena.
struct finding *claim_finding(const struct rule_input *input, const struct claim_write *write,
                              struct finding_list *findings, enum finding_type type, struct text what,
                              struct text hint);

// The one node that a selector names, by metadata.name or by the label kubernetes.io/hostname; else empty.
struct text selector_node(const struct node_selector *selector);

// Controllers and the scheduler write for others: a denial of theirs is retried for minutes.
bool user_is_controller(struct text user);

// What it does: calls visit for each class that a claim, or a template's claim, names; each once a request.
typedef void class_visit(const struct rule_input *input, struct text name, const struct path *path,
                         void *context);
void for_each_class(const struct rule_input *input, class_visit *visit, void *context);

// "12s", "3m", "5h", for messages. Owner: the arena.
struct text age_text(struct arena *arena, int64_t age_ms);

#endif
