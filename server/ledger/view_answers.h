// SPDX-License-Identifier: Apache-2.0
// The answers to what rules may ask, one function a question; the table is in ledger_view.c. Internal to
// server/ledger.
#ifndef DRAWBRIDGE_LEDGER_VIEW_ANSWERS_H
#define DRAWBRIDGE_LEDGER_VIEW_ANSWERS_H

#include "server/ledger/state.h"

// view_slices.c
enum view_answer answer_pool(const void *state, const struct pool_key *key, struct text without_slice,
                             struct pool_state *ret_state);
enum view_answer answer_pool_device(const void *state, const struct pool_key *key, struct text without_slice,
                                    int64_t generation, bool or_newer, struct text device,
                                    struct arena *arena, struct view_device *ret_device);
enum view_answer answer_device_elsewhere(const void *state, const struct pool_key *key, struct text device,
                                         struct arena *arena, struct view_device *ret_device);
enum view_answer answer_device_of_other_driver(const void *state, const struct pool_key *key,
                                               struct text device, struct arena *arena,
                                               struct view_device *ret_device);
enum view_answer answer_holders(const void *state, const struct device_key *key, struct text node,
                                struct arena *arena, struct device_holder_list *ret_holders);
enum view_answer answer_device(const void *state, const struct device_key *key, struct text node,
                               struct arena *arena, struct device_standing *ret_standing);

// view_claims.c
enum view_answer answer_pod(const void *state, struct text uid, struct arena *arena,
                            struct view_pod *ret_pod);
enum view_answer answer_group_pod(const void *state, struct text namespace, struct text group,
                                  struct text claim, struct arena *arena, struct view_pod *ret_pod);
enum view_answer answer_pod_has_claim(const void *state, struct text pod_uid, struct text without_claim,
                                      bool *ret_has);
enum view_answer answer_consumers(const void *state, const struct object_meta *metadata,
                                  struct text without_pod, struct arena *arena,
                                  struct view_consumer_list *ret_consumers);
enum view_answer answer_named_claim(const void *state, struct text namespace, struct text name,
                                    bool is_template, struct arena *arena, struct view_pod_claim *ret_claim);

// view_policy.c
enum view_answer answer_driver_is_mapped(const void *state, struct text driver, bool *ret_mapped);
enum view_answer answer_device_class(const void *state, struct text name, struct view_class *ret_class);
enum view_answer answer_namespace_is_canary(const void *state, struct text name, bool *ret_canary);
enum view_answer answer_freeze(const void *state, struct text namespace, struct text driver, struct text node,
                               struct arena *arena, struct view_freeze *ret_freeze);
enum view_answer answer_node(const void *state, struct text name, struct view_node *ret_node);
const struct ledger_policy *answer_policy(const void *state);
enum view_answer answer_namespace_matches(const void *state, struct text name,
                                          const struct label_selector *selector, bool *ret_matches);

// view_standing.c
enum view_answer answer_standing(const void *state, struct text node, struct text driver, struct arena *arena,
                                 struct view_standing *ret_standing);
enum view_answer answer_best_node(const void *state, const struct text_list *drivers, struct arena *arena,
                                  struct view_standing *ret_standing);
enum view_answer answer_worst_node(const void *state, const struct node_selector *selector,
                                   struct text driver, struct arena *arena, struct text *ret_node,
                                   struct view_standing *ret_standing);

// view_nodes.c
enum view_answer answer_other_amounts(const void *state, const struct pool_key *key,
                                      struct text without_slice, int64_t generation, struct arena *arena,
                                      struct quantity_map *ret_amounts);
enum view_answer answer_nodes_offer(const void *state, const struct node_selector *selector,
                                    struct text resource, struct arena *arena, bool *ret_offer);

// view_accounts.c
enum view_answer answer_shortages(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages);
enum view_answer answer_pod_level(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages);

// view_limits.c: what they add to a list, in words.
void view_capacity_shortages(const struct ledger *ledger, const struct resource_claim *claim,
                             const struct node_entry *node, struct arena *arena,
                             struct view_shortage_list *list);
void view_numa_shortages(const struct ledger *ledger, const struct resource_claim *claim,
                         const struct node_entry *node, struct arena *arena, struct view_shortage_list *list);

// What others of these ask.
void view_add_shortage(struct arena *arena, struct view_shortage_list *list, struct text what,
                       struct text node);
// A row of another node's pool of the same name is another device. Without a node the device is in a pool
// that is of no single node.
bool row_is_there(const struct row *row, const struct node_entry *node);
struct class_entry *class_find(const struct ledger *ledger, const struct name *name);
bool class_is_gated(const struct ledger *ledger, const struct class_entry *class_entry);
struct view_mapping_list view_mappings(const struct shape *shape, struct arena *arena);

#endif
