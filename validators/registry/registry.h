// SPDX-License-Identifier: Apache-2.0
// The table of rules and the functions that run them in order for one Kubernetes minor.
#ifndef DRAWBRIDGE_REGISTRY_REGISTRY_H
#define DRAWBRIDGE_REGISTRY_REGISTRY_H

#include "validators/core/finding.h"
#include "validators/rules/rule.h"

// What it does: every rule, in the order of its ID. Owner: static.
const struct rule *registry_rules(size_t *ret_count);

// What it does: the rule with this ID, or NULL.
const struct rule *registry_find(struct text id);

// What it does: the newest revision that is not newer than the minor; NULL when there is none or the rule is
// retired.
rule_function *registry_revision(const struct rule *rule, int minor);

// The action that policy gives a rule for this request; NULL: the table's defaults.
struct rule_actions {
    enum severity (*action)(const void *state, const struct rule *rule);
    const void *state;
    const struct rule *only; // no other rule runs; NULL: all do
};

// What it does: upstream's own checks of the object for this minor (rule "schema"). Appends to findings.
void registry_check_schema(const struct rule_input *input, struct finding_list *findings);

// What it does: the rules that apply to the input's kind, operation and minor, each under its action. `phase`
// picks the offline rules or those that ask the view. A minor newer than any known runs the newest revisions.
enum rule_phase { RULES_OFFLINE, RULES_VIEW };
void registry_run_rules(const struct rule_input *input, enum rule_phase phase,
                        const struct rule_actions *actions, struct finding_list *findings);

#endif
