// SPDX-License-Identifier: Apache-2.0
// What the rules about drivers' rights share: what a role allows on the objects of resource.k8s.io.
#ifndef DRAWBRIDGE_RULES_RIGHTS_H
#define DRAWBRIDGE_RULES_RIGHTS_H

#include "validators/rules/rule.h"

#define RIGHTS_SLICES  TEXT("resourceslices")
#define RIGHTS_CLAIMS  TEXT("resourceclaims")
#define RIGHTS_STATUS  TEXT("resourceclaims/status")
#define RIGHTS_DRIVER  TEXT("resourceclaims/driver")
#define RIGHTS_BINDING TEXT("resourceclaims/binding")

// The index of a text in a list; list->count when it is not there.
size_t rights_index(const struct text_list *list, struct text text);
bool rights_has(const struct text_list *list, struct text text);

// What it does: true when a role's rule names this resource of resource.k8s.io, or gives a verb on it: the
// verb may be "*", the resource must be written out. What "*" gives of resources is the matter of
// rbac-wildcard.
bool rights_rule_names(const struct policy_rule *rule, struct text resource);
bool rights_rule_gives(const struct policy_rule *rule, struct text verb, struct text resource);

// What it does: true when any rule of the role gives the verb on the resource; here every "*" counts.
// resourceNames are not looked at. Source: kubernetes v1.36.3 pkg/apis/rbac/v1/evaluation_helpers.go,
// VerbMatches, APIGroupMatches, ResourceMatches.
bool rights_role_allows(const struct role *role, struct text verb, struct text resource);

// What they do: true when the role names what it takes to write ResourceSlices; when a verb with this prefix
// ("associated-node:", "arbitrary-node:") is given on a driver's part of a claim's status.
bool rights_role_writes_slices(const struct object *object);
bool rights_role_reports(const struct object *object, struct text prefix);

// True when the role is a DRA driver's: it does one of the two. The scheduler's and the controllers' roles do
// neither.
bool rights_role_is_drivers(const struct object *object);

typedef void rights_visit_rule(const struct rule_input *input, const struct policy_rule *rule,
                               const struct path *path, struct finding_list *findings);

// What it does: calls visit for each rule of a role, with the path rules[i].
void rights_for_each_rule(const struct rule_input *input, rights_visit_rule *visit,
                          struct finding_list *findings);

#endif
