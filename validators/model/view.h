// SPDX-License-Identifier: Apache-2.0
// What rules may ask of the cache and the ledger. Rules see nothing else of the server, so that judging stays
// pure: the server fills the table of functions, tests fill it with plain structs. Thread: the caller holds
// the store's mutex while a view is in use.
#ifndef DRAWBRIDGE_MODEL_VIEW_H
#define DRAWBRIDGE_MODEL_VIEW_H

#include "validators/model/object.h"

// "Not synced" and "not found" are answers of their own and never fall through to allow.
enum view_answer { VIEW_KNOWN, VIEW_NOT_FOUND, VIEW_NOT_SYNCED };

// The pool of a slice within one node scope: generations are compared within one scope only.
enum node_scope_kind { SCOPE_NODE, SCOPE_SELECTOR, SCOPE_ALL_NODES, SCOPE_PER_DEVICE };
struct node_scope {
    enum node_scope_kind kind;
    struct text value; // node name; the selector's exact JSON; else empty
};
struct pool_key {
    struct text driver;
    struct text pool;
    struct node_scope scope;
};

// The key of a slice's pool. Owner: views of the slice.
struct pool_key pool_key_of(const struct resource_slice *slice);

struct pool_state {
    int64_t live_generation;    // the highest generation of a live slice
    struct text live_slice;     // the name of a slice that has it
    size_t slice_count;         // live slices of all generations
    size_t newest_count;        // those of the highest generation
    int64_t wanted_count;       // resourceSliceCount of that slice
    bool disagreed;             // slices of the highest generation name different counts
    int64_t retired_generation; // the highest that ever was
    bool runs_away;             // generations rise faster than one a second, for ten seconds
    bool cache_is_silent;       // nothing was heard of slices for too long
};

// What a device takes of its node, per resource.
struct view_mapping {
    struct text resource;
    bool mapped;              // there is a mapping; else overhead alone
    struct text capacity_key; // empty: a fixed amount
    struct quantity multiplier;
    struct quantity per_pod; // not set: none
    struct quantity per_container;
};
struct view_mapping_list {
    const struct view_mapping *items; // in the order of their resources; owner: the question's arena
    size_t count;
};

struct device_key {
    struct text driver;
    struct text pool;
    struct text device;
};

// A device of the live slices.
struct view_device {
    struct text slice;
    struct text driver;
    struct text node; // where it is, when that is one node
    int64_t generation;
    bool shareable; // allowMultipleAllocations
    struct view_mapping_list mappings;
};

// What is known of a device where a claim would use it.
struct device_standing {
    bool found;         // in the highest generation
    bool complete;      // that generation is complete
    bool ambiguous;     // two slices of it have the device
    bool quarantined;   // the pool began again and is not confirmed
    bool behind;        // the mapping's version is below the one that a resume named
    int64_t generation; // the highest live one; -1: no live slice
    int64_t retired_generation;
    int64_t version;           // of the mapping
    int64_t from_version;      // that a resume named, else 0
    const char *fault;         // the rule that makes it unusable under the policy in force; NULL: none
    struct view_device device; // when found
};

// A claim that has a device.
struct device_holder {
    struct text claim_uid;
    struct text node; // where it is consumed, when that is one node
    struct text share_id;
    bool admin;
    bool bound;                        // reserved for a live Pod
    bool pending;                      // let in a moment ago, not seen in the cache yet
    struct view_mapping_list mappings; // under which it was committed
    bool mappings_known;
};
struct device_holder_list {
    struct device_holder *items;
    size_t count;
};

struct view_node {
    bool canary; // a canary node by policy; true when the policy names none
    bool canary_told;
    int kubelet_minor;     // 0: not told
    bool declares_feature; // v1.37
};

struct view_class {
    bool gated;
    struct text driver; // empty: not told
};

// A freeze that is in force.
struct view_freeze {
    struct text scope; // "the cluster", "driver D", …
    struct text reason;
    struct text expires;
};

// How a (node, driver) stands.
struct view_standing {
    bool fresh;
    struct text state; // as formats.md
    struct text cause;
    int64_t age_ms; // of the state; negative: not known
};

struct view_pod_claim {
    struct text name; // of the claim object; empty while it is not made
    struct text uid;  // empty: not in the cache
    bool gated;
    bool allocated;
    bool written; // reserved for this Pod already
    bool for_one; // its devices take of one node (from 1.37 on of any): it serves one Pod at a time
    size_t reference_count;
    struct text_list drivers; // those of its classes, and of its allocation
};
struct view_pod {
    struct text namespace;
    struct text name;
    struct text uid;
    bool live;
    struct text node; // spec.nodeName, else status.nominatedNodeName
    struct view_pod_claim *claims;
    size_t claim_count;
};

// A consumer of a claim that is alive.
struct view_consumer {
    struct text pod_uid;
    struct text node; // empty: not known
};
struct view_consumer_list {
    struct view_consumer *items;
    size_t count;
};

// An overdrawn account.
struct view_shortage {
    struct text what; // what is short, for a message
    struct text node;
};
struct view_shortage_list {
    struct view_shortage *items;
    size_t count;
};

// Each question: the answer is VIEW_KNOWN and *ret_… is filled, or *ret_… is untouched. Texts live as long as
// the view or the arena.
struct view_table {
    // The live slices of a pool, leaving out the slice with this name (the one under review).
    enum view_answer (*pool)(const void *state, const struct pool_key *key, struct text without_slice,
                             struct pool_state *ret_state);
    // status.allocatable[resource] of a node.
    enum view_answer (*node_allocatable)(const void *state, struct text node, struct text resource,
                                         struct quantity *ret_quantity);
    // A node, as far as rules ask.
    enum view_answer (*node)(const void *state, struct text name, struct view_node *ret_node);
    // Whether one of the nodes that a selector means (NULL: all nodes) has a resource in status.allocatable.
    // VIEW_NOT_FOUND: no node that is known is among them, or there are too many to tell.
    enum view_answer (*nodes_offer)(const void *state, const struct node_selector *selector,
                                    struct text resource, struct arena *arena, bool *ret_offer);
    // What the devices in the other live slices of a driver on a node could take of it at once, by resource
    // (slice_amounts.h): those of the newest generation of each pool, of the key's own pool those of
    // `generation` (below zero: none). VIEW_NOT_FOUND: nothing.
    enum view_answer (*other_amounts)(const void *state, const struct pool_key *key,
                                      struct text without_slice, int64_t generation, struct arena *arena,
                                      struct quantity_map *ret_amounts);
    // A device of a pool within one node scope, in slices other than this one: of one generation, or of any
    // from `generation` on when `or_newer`.
    enum view_answer (*pool_device)(const void *state, const struct pool_key *key, struct text without_slice,
                                    int64_t generation, bool or_newer, struct text device,
                                    struct arena *arena, struct view_device *ret_device);
    // A device with this pool and name in another node scope that is one node.
    enum view_answer (*device_elsewhere)(const void *state, const struct pool_key *key, struct text device,
                                         struct arena *arena, struct view_device *ret_device);
    // A device with this pool and name of another driver, where one node could see both.
    enum view_answer (*device_of_other_driver)(const void *state, const struct pool_key *key,
                                               struct text device, struct arena *arena,
                                               struct view_device *ret_device);
    // The claims that have a device of this scope; `node` picks the place where the same name is on several.
    enum view_answer (*holders)(const void *state, const struct device_key *key, struct text node,
                                struct arena *arena, struct device_holder_list *ret_holders);
    // How a device stands on a node; node empty: in pools that are not of one node.
    enum view_answer (*device)(const void *state, const struct device_key *key, struct text node,
                               struct arena *arena, struct device_standing *ret_standing);
    // Whether a driver has, or ever had, devices with mappings.
    enum view_answer (*driver_is_mapped)(const void *state, struct text driver, bool *ret_mapped);
    enum view_answer (*device_class)(const void *state, struct text name, struct view_class *ret_class);
    // Whether a namespace is in the canary.
    enum view_answer (*namespace_is_canary)(const void *state, struct text name, bool *ret_canary);
    // Whether a namespace's labels match.
    enum view_answer (*namespace_matches)(const void *state, struct text name,
                                          const struct label_selector *selector, bool *ret_matches);
    // The policy in force; NULL: the defaults.
    const struct ledger_policy *(*policy)(const void *state);
    // The freeze that stops this; empty texts are not asked about.
    enum view_answer (*freeze)(const void *state, struct text namespace, struct text driver, struct text node,
                               struct arena *arena, struct view_freeze *ret_freeze);
    enum view_answer (*standing)(const void *state, struct text node, struct text driver, struct arena *arena,
                                 struct view_standing *ret_standing);
    // As standing, of the best node that has all of these drivers. VIEW_NOT_FOUND: there is no such node.
    enum view_answer (*best_node)(const void *state, const struct text_list *drivers, struct arena *arena,
                                  struct view_standing *ret_standing);
    // As standing, of the worst node that a selector matches, where Pods may go and the driver has mappings
    // of its own. VIEW_NOT_FOUND: there is no such node.
    enum view_answer (*worst_node)(const void *state, const struct node_selector *selector,
                                   struct text driver, struct arena *arena, struct text *ret_node,
                                   struct view_standing *ret_standing);
    enum view_answer (*pod)(const void *state, struct text uid, struct arena *arena,
                            struct view_pod *ret_pod);
    // The Pod that a write for its PodGroup is about: one of the group that names the claim and has no node
    // yet. Where several are nominated, its node is told only if it is theirs, too.
    enum view_answer (*group_pod)(const void *state, struct text namespace, struct text group,
                                  struct text claim, struct arena *arena, struct view_pod *ret_pod);
    // Whether another claim than this one is, or is about to be, reserved for a Pod, or for its PodGroup
    // without another Pod that has it.
    enum view_answer (*pod_has_claim)(const void *state, struct text pod_uid, struct text without_claim,
                                      bool *ret_has);
    // The live Pods, other than this one, that a claim is reserved for.
    enum view_answer (*consumers)(const void *state, const struct object_meta *claim, struct text without_pod,
                                  struct arena *arena, struct view_consumer_list *ret_consumers);
    // What would be overdrawn if this allocation were made for a Pod (may be empty) on a node.
    enum view_answer (*shortages)(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages);
    // As shortages, of the Pod's own requests (and limits) against its containers and claims.
    enum view_answer (*pod_level)(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages);
    // A claim, or what a template makes, by name.
    enum view_answer (*named_claim)(const void *state, struct text namespace, struct text name,
                                    bool is_template, struct arena *arena, struct view_pod_claim *ret_claim);
};

struct view {
    const struct view_table *table;
    const void *state;
};

// The questions. A view that does not answer one says that it is not synced.
#define VIEW_ASK(view, question, ...)                                                                        \
    ((view) == NULL || (view)->table->question == NULL                                                       \
         ? VIEW_NOT_SYNCED                                                                                   \
         : (view)->table->question((view)->state, __VA_ARGS__))

#endif
