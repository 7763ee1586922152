// SPDX-License-Identifier: Apache-2.0
// What the ledger holds. Internal to server/ledger: others ask through ledger.h, report.h and view.h.
//
// Who points at whom: slices make up pools (driver, pool, node scope); pools of one (driver, pool) make up a
// group. A claim has one row per allocated device, and one consumer per entry of reservedFor. A claim is
// placed on the nodes whose live Pods consume it (or, held, on the one node that its allocation names). Nodes
// know their Pods, their pools and the claims placed on them, so a node's account is made of what is its own.
#ifndef DRAWBRIDGE_LEDGER_STATE_H
#define DRAWBRIDGE_LEDGER_STATE_H

#include "server/ledger/amounts.h"
#include "server/ledger/ledger.h"
#include "server/ledger/names.h"
#include "server/ledger/pace.h"
#include "server/ledger/provisional.h"
#include "server/ledger/selector.h"
#include "server/ledger/shape.h"

struct claim_entry;
struct node_entry;
struct pod_entry;
struct pool_entry;
struct pool_group;

// ---- slices and pools

struct device_entry {
    const struct name *name;
    const struct shape *shape; // never NULL; an empty shape takes nothing of a node
};

// Where one device is, in slices that say so per device.
struct device_place {
    const struct name *node;        // NULL: not told by name
    struct selector *node_selector; // NULL: none
    bool all_nodes;
};

// A live ResourceSlice.
struct slice_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    struct pool_entry *pool;
    struct slice_entry *pool_next; // the other slices of the pool
    int64_t generation;
    int64_t resource_slice_count;
    struct device_entry *devices; // sorted by the name's address
    size_t device_count;
    struct device_place *places; // as devices; NULL when the slice has one place for all
    uint64_t *faults;            // as devices; NULL when no device has any
    struct amounts amounts;      // what its devices could take of their node at once
    uint64_t digest[2];          // of its devices and what they take, whatever their order
    bool has_mappings;
    uint64_t list_round; // the list in which it was seen last
};

struct row_list {
    struct row *first;
};

// The slices of one (driver, pool, node scope).
struct pool_entry {
    struct link by_key;
    struct pool_group *group;
    enum node_scope_kind scope;
    const struct name *scope_value; // the empty name where the scope has none
    struct selector *selector;      // SCOPE_SELECTOR
    struct node_entry *node;        // SCOPE_NODE
    struct pool_entry *group_next;  // the other pools of the group
    struct pool_entry *group_before;
    struct pool_entry *node_next; // the other pools of the node
    struct pool_entry *wide_next; // the other pools of the group that are not of one node
    struct pool_entry *far_next;  // the other pools of the ledger that are not of one node
    struct slice_entry *slices;
    struct row_list rows;       // committed from this pool
    int64_t retired_generation; // the highest generation that ever was; a restart below it starts a
                                // quarantine
    bool had_mappings;
    bool remembered; // a NodeLedger names it for its node, and no slice of it was seen since
    bool quarantined;
    struct pace pace;
    int64_t changed_ms;    // the last event about one of its slices
    int64_t remembered_ms; // when a NodeLedger told of it
    int64_t quarantine_ms; // since when it is quarantined
    int64_t incomplete_ms; // since when it is not complete, as its node sees it; 0: it is, or no clock runs
};

// All pools of one (driver, pool).
struct pool_group {
    struct link by_key;
    struct link by_pool; // pool name alone: v1.36 forgets the driver
    const struct name *driver;
    const struct name *pool;
    size_t refs; // by pools and rows
    struct pool_entry *pools;
    size_t remembered_count; // of them
    struct pool_entry *wide; // those that are not of one node
    struct row_list open;    // rows whose mapping is not known, or not known for good
};

// ---- claims

// What an allocation took of one capacity.
struct consumed {
    const struct name *key;
    struct quantity quantity;
};

// What a scheduler that mistakes a row's device for another one of the same name would charge.
enum rival_kind { RIVAL_OBSOLETE, RIVAL_WRONG_DRIVER };
struct rival {
    const struct shape *shape;
    enum rival_kind kind;
};
#define RIVALS_MAX 4u

// One allocated device. The key is (claim UID, driver, pool, device, share ID).
struct row {
    struct link by_device; // driver, pool, device
    struct claim_entry *claim;
    struct pool_group *group;
    const struct name *device;
    const struct name *share; // the empty name where there is none
    struct pool_entry *pool;  // where its mapping comes from; NULL while it is not known
    struct row_list *list;    // of its group (open) or of its pool
    struct row *next;
    struct row *previous;
    const struct shape *shape; // of the commitment; NULL while the mapping is not known
    int64_t version;           // of the mapping at the commitment
    struct consumed *consumed; // sorted by key
    size_t consumed_count;
    bool consumed_set;
    uint64_t content; // of what the result says beside its key
    bool admin;
    bool indexed;
    bool tentative;                  // the pool was not complete: looked at again when it changes
    bool first_sight;                // the allocation was there when the claim was first seen
    struct remembered_row *fixed;    // what a NodeLedger remembers, when the mapping has changed since; else
                                     // NULL
    struct rival rivals[RIVALS_MAX]; // seen at the commitment; they may be gone by the time that it shows
    size_t rival_count;
    int64_t observed_ms;
};

// A Pod that a claim is reserved for.
struct consumer {
    struct link by_pod; // UID
    const struct name *pod_uid;
    struct claim_entry *claim;
    bool by_group; // the claim is reserved for the Pod's PodGroup
};

// A claim that counts on a node.
struct placement {
    struct node_entry *node; // NULL: not in use
    struct claim_entry *claim;
    struct placement *next;
    struct placement *previous;
    bool held;
};

struct claim_entry {
    struct link by_name; // namespace, name
    const struct name *namespace;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    bool allocated;
    const struct name *allocated_at; // allocationTimestamp; the empty name where there is none
    struct node_entry *exact;        // the one node that the allocation names; NULL: several, or unknown
    struct row **rows;
    size_t row_count;
    size_t row_room; // how many `rows` has room for
    struct consumer *consumers;
    size_t consumer_count;
    size_t consumer_room;         // how many `consumers` has room for
    struct placement *placements; // consumer_room + 1
    const struct name **groups;   // PodGroups that it is reserved for
    size_t group_count;
    const struct name **classes; // device classes that its requests name
    size_t class_count;
    int64_t event_ms; // the last event about it
    int64_t held_ms;  // since when it is held; 0: it is not, or no clock runs
    uint64_t list_round;
};

// ---- Pods

// What a Pod takes of one resource, with room for what its claims take: greater(on_top + claims, within), or
// `within` alone for a pod-level request; then overhead on top.
struct demand {
    const struct name *resource;
    struct quantity on_top;
    struct quantity within;
    struct quantity overhead;
    bool pod_level;
};

// A comparison of one of the Pod's own limits, as pod_limits.h has it.
struct own_limit {
    const struct name *resource;
    const struct name *container; // the empty name: all containers together
    struct quantity limit;
    struct quantity containers;
    bool *uses; // which of the Pod's claims count, as `claims`; NULL: all
};

struct pod_claim {
    const struct name *claim; // its object's name, in the Pod's namespace
    size_t reference_count;   // by containers
};

// What status.nodeAllocatableResourceClaimStatuses says of one claim, summed per resource.
struct reported {
    const struct name *claim;
    struct amounts amounts;
};

struct pod_entry {
    struct link by_name; // namespace, name
    struct link by_uid;
    struct link by_group; // namespace, group; when it has one
    const struct name *namespace;
    const struct name *name;
    const struct name *uid;
    const struct name *group; // its PodGroup's name; the empty name: none
    int64_t resource_version;
    struct node_entry *node;      // spec.nodeName
    struct node_entry *nominated; // status.nominatedNodeName
    struct pod_entry *node_next;  // the other Pods of the node
    struct pod_entry *node_previous;
    struct pod_entry *waiting_next; // the other Pods that have claims and no node
    struct pod_entry *waiting_previous;
    bool waits;             // it is one of them
    bool gated;             // it has our scheduling gate
    struct demand *demands; // sorted by resource
    size_t demand_count;
    struct pod_claim *claims;
    size_t claim_count;
    struct own_limit *limits; // v1.37, of Pods with claims
    size_t limit_count;
    struct reported *reported;
    size_t reported_count;
    bool live;
    bool preset; // it had its node when it was made: no scheduler placed it
    int64_t event_ms;
    uint64_t list_round;
};

// ---- nodes

struct node_label {
    const struct name *key;
    const struct name *value;
};

struct node_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid; // the empty name while the Node object is not known
    bool known;
    size_t refs; // by Pods, pools, claims, placements, leases
    int64_t resource_version;
    struct amounts allocatable;
    struct node_label *labels; // sorted by the key's address
    size_t label_count;
    int kubelet_minor; // 0: not told
    bool declares_feature;
    bool unschedulable;
    struct pod_entry *pods;
    struct pool_entry *pools;
    struct placement *placements;
    struct lease_entry *lease;
    uint64_t version; // how often something that counts here changed
    struct node_entry *dirty_next;
    bool dirty;
    uint64_t list_round;
};

struct lease_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    const struct name *renew_time;
    struct node_entry *node;
    int64_t renewed_ms; // when the renewal was seen; at first sight no later than what it says
    uint64_t list_round;
};

// ---- small kinds

struct class_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    const struct name *driver; // by its label or its selector; the empty name when neither tells
    bool extended_resource;
    uint64_t list_round;
};

struct namespace_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    struct node_label *labels; // sorted by the key's address
    size_t label_count;
    uint64_t list_round;
};

// What a ResourceClaimTemplate asks for.
struct template_entry {
    struct link by_name; // namespace, name
    const struct name *namespace;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    const struct name **classes;
    size_t class_count;
    uint64_t list_round;
};

struct taint_rule_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    const struct name *driver; // the empty name: any
    const struct name *pool;
    const struct name *device;
    const struct name *key;
    const struct name *effect;
    uint64_t list_round;
};

// The policy is small and read whole: a deep copy in an arena of its own.
struct policy_entry {
    struct arena arena;
    struct ledger_policy policy;
};

// What a NodeLedger remembers of one row, and of one pool.
struct remembered_row {
    struct link by_key; // claim UID, driver, pool, device, share ID
    size_t refs;
    const struct name *key[5];
    int64_t version;
    uint64_t digest[2];
    struct amounts amounts; // of the mapping
    struct amounts per_pod; // of the overhead
    struct amounts per_container;
    struct opt_int64 numa;
};
struct remembered_pool {
    const struct name *driver;
    const struct name *pool;
    int64_t retired_generation;
    bool quarantined;
};
struct memory_entry {
    struct link by_name;
    const struct name *name; // of the node
    const struct name *uid;
    int64_t resource_version;
    struct remembered_row **rows;
    size_t row_count;
    struct remembered_pool *pools;
    size_t pool_count;
    uint64_t list_round;
};

// ---- the ledger

// Drivers that have, or had, devices with mappings: asked at each review. A cluster has a handful; beyond the
// room here pools are asked one by one.
#define MAPPED_DRIVERS_MAX 64u
struct mapped_drivers {
    const struct name *names[MAPPED_DRIVERS_MAX];
    size_t count;
    bool more; // than there is room for
};
void driver_note_mapped(struct ledger *ledger, const struct name *driver);
bool driver_was_mapped(const struct ledger *ledger, const struct name *driver);

// The last version of an object that is gone, so that an older event does not bring it back.
struct tombstone {
    struct link by_uid;
    const struct name *uid;
    int64_t resource_version;
    struct tombstone *next; // in the order of deletion
};
#define TOMBSTONES_MAX 65536u

// Something that the ledger did not merge.
struct rejection {
    const char *rule; // static text
    const struct name *key[5];
    const struct name *namespace;
    const struct name *claim_name;
    const struct name *other_uid; // the claim that holds the device; the empty name where none does
    uint64_t content;
    int64_t at_ms;
    uint64_t count;
};
#define REJECTIONS_MAX 256u

struct kind_state {
    bool synced;
    bool listing;
    uint64_t list_round;
    int64_t alive_ms;
};

struct ledger {
    struct ledger_options options;
    int minor; // of the accounting: 36 or 37
    struct heap heap;
    struct name_table names;
    const struct name *empty;
    struct shape_table shapes;
    struct index slices; // by name
    struct index pools;  // by key
    struct index groups; // by driver and pool
    struct index groups_by_pool;
    struct index rows; // by device
    struct index claims;
    struct index consumers; // by the Pod's UID
    struct index pods;
    struct index pods_by_uid;
    struct index pods_by_group; // namespace, PodGroup
    struct index nodes;         // by name
    struct index leases;
    struct index classes;
    struct index namespaces;
    struct index taint_rules;
    struct index templates; // by namespace and name
    struct index memories;
    struct index remembered;
    struct policy_entry *policy; // NULL: the defaults
    const struct name *policy_uid;
    int64_t policy_version;
    uint64_t policy_round;
    struct pool_entry *wide_pools;
    struct pod_entry *waiting_first; // Pods that have claims and no node, newest first
    struct node_entry *nowhere;      // where claims are placed that are on no single node
    struct node_entry *dirty_first;  // nodes that changed since somebody asked last, oldest first
    struct node_entry *dirty_last;
    struct index tombstones;
    struct tombstone *oldest_tombstone;
    struct tombstone *newest_tombstone;
    struct rejection rejections[REJECTIONS_MAX];
    size_t rejection_count; // kept, up to REJECTIONS_MAX
    struct ledger_counts counts;
    struct kind_state kinds[KIND_NODE_LEDGER + 1];
    int64_t now_ms; // 0: no clock runs
    bool closing;
    struct provisional provisional;
    struct mapped_drivers mapped;
};

// ---- ledger.c

// What it does: tells whether an event about an object may be applied: LEDGER_APPLIED, or the outcome that
// ends it. known_uid is NULL when the object is not held.
enum ledger_outcome order_of(const struct ledger *ledger, const struct name *known_uid, int64_t known_version,
                             const struct ledger_event *event);

// True when an event that is not applied still shows that an object of its name lives: a list that an older
// server gives must not sweep away what is known better.
static inline bool seen_in_list(enum ledger_outcome outcome, const struct ledger_event *event) {
    return outcome != LEDGER_APPLIED && event->type != EVENT_DELETED;
}

// What it does: remembers a deleted object. The oldest is forgotten when there are too many. Errors: false,
// memory.
bool tombstone_add(struct ledger *ledger, const struct name *uid, int64_t resource_version)
    __attribute__((warn_unused_result));

// What it does: notes the deletion of an object that is not held. Returns the event's outcome.
enum ledger_outcome gone_unseen(struct ledger *ledger, const struct ledger_event *event);
// What it does: notes that a list did not have an object any more, before it is removed.
void swept(struct ledger *ledger, const struct name *uid, int64_t resource_version);

// Whether the object with this UID was deleted, as far as is remembered.
bool ledger_is_gone(const struct ledger *ledger, struct text uid);

// A name of a text, and the empty name for an absent one. Errors: NULL, memory.
const struct name *take(struct ledger *ledger, struct text text) __attribute__((warn_unused_result));
void drop(struct ledger *ledger, const struct name *name);

// What it does: notes something that was not merged; the same thing again is only counted.
void reject(struct ledger *ledger, const char *rule, const struct row *row, uint64_t content,
            const struct name *other_uid);

// ---- one file a kind: apply, remove what a list did not have, release

#define LEDGER_KIND(kind)                                                                                    \
    enum ledger_outcome kind##_apply(struct ledger *ledger, const struct ledger_event *event);               \
    void kind##_sweep(struct ledger *ledger, uint64_t list_round)
LEDGER_KIND(slice);
LEDGER_KIND(claim);
LEDGER_KIND(pod);
LEDGER_KIND(node);
LEDGER_KIND(lease);
LEDGER_KIND(class);
LEDGER_KIND(namespace);
LEDGER_KIND(taint_rule);
LEDGER_KIND(template);
LEDGER_KIND(policy);
LEDGER_KIND(memory);
#undef LEDGER_KIND

// ---- ledger_pools.c

// What it does: the entry of a key, made when there is none; nothing is counted on it yet. Errors: NULL,
// memory.
struct pool_entry *pool_get(struct ledger *ledger, const struct pool_key *key,
                            const struct node_selector *selector) __attribute__((warn_unused_result));
struct pool_entry *pool_find(const struct ledger *ledger, const struct pool_key *key);
// What it does: as pool_get for a group, with one more reference.
struct pool_group *group_take(struct ledger *ledger, struct text driver, struct text pool)
    __attribute__((warn_unused_result));
// NULL is allowed.
void group_drop(struct ledger *ledger, struct pool_group *group);
struct pool_group *group_find(const struct ledger *ledger, const struct name *driver,
                              const struct name *pool);
// What it does: forgets a pool that has no slice, no row and no retired mark worth keeping.
void pool_settle(struct ledger *ledger, struct pool_entry *pool);
void pools_forget_node(struct ledger *ledger, struct node_entry *node);
void pools_release(struct ledger *ledger);

// What they do: a NodeLedger does not tell whether a pool is its node's own or one of several nodes. Until
// slices tell, it is taken for the node's own; then a pool of several nodes takes over what is remembered of
// it on the nodes that it concerns. Never fail. (ledger_memory.c)
void pool_note_remembered(struct ledger *ledger, struct pool_entry *pool);
void pool_forget_remembered(struct pool_entry *pool);
void pool_take_over(struct ledger *ledger, struct pool_entry *wide);
void node_pools_take_over(struct ledger *ledger, struct node_entry *node);

// The pools of a group that concern a node: its own, and wide ones that match. With node NULL: the wide ones.
struct pool_walk {
    const struct node_entry *node;
    struct pool_entry *own;
    struct pool_entry *next;
};
struct pool_walk pool_walk(const struct ledger *ledger, const struct pool_group *group,
                           const struct node_entry *node);
struct pool_entry *pool_walk_next(struct pool_walk *walk);

// A generation of a group, as the scheduler gathers it for a node. Source: k8s.io/dynamic-resource-allocation
// v0.36.3 and v0.37.2 structured/internal/incubating/pools_incubating.go, GatherPools.
struct gathered {
    int64_t generation;
    size_t slice_count;   // that concern the node
    int64_t wanted_count; // resourceSliceCount
    size_t found_count;   // of it, wherever they are
    bool complete;
    bool disagreed;  // the slices name different counts
    int64_t version; // the highest resourceVersion
};
// What it does: the highest generation below `below`. Errors: false when there is none.
bool group_gather(const struct ledger *ledger, const struct pool_group *group, const struct node_entry *node,
                  int64_t below, struct gathered *ret_gathered);

// What it does: a device of one generation as a node sees it; of two with one name, that of the slice whose
// name comes first. NULL when there is none.
const struct device_entry *group_device(const struct ledger *ledger, const struct pool_group *group,
                                        const struct node_entry *node, int64_t generation,
                                        const struct name *device, struct pool_entry **ret_pool);

bool pool_concerns(const struct pool_entry *pool, const struct node_entry *node);
// The same of one device of a slice.
bool device_concerns(const struct slice_entry *slice, size_t at, const struct node_entry *node);

// ---- device_faults.c

// What it does: the first rule that makes a device of a slice unusable under the policy in force; NULL: it is
// usable. A device that takes nothing of its node always is. Static text. Errors: sticky in the arena, which
// is for what is made in between.
const char *device_fault(const struct ledger *ledger, const struct slice_entry *slice, size_t index,
                         struct arena *arena);
// What it does: tells whether, on 1.36, another driver has a pool and a device of the same names on the node
// of this pool, with another mapping, and the policy in force denies that.
bool device_is_ambiguous(const struct ledger *ledger, const struct pool_entry *pool,
                         const struct device_entry *device);
// Whether the policy in force denies a rule's finding about a slice of a driver.
bool rule_denies(const struct ledger *ledger, const struct judge_rule *rule, const struct name *driver);

// ---- ledger_rows.c

void row_list_add(struct row_list *list, struct row *row);
void row_list_remove(struct row *row);
// What it does: gives a row its mapping if it is known, or looks again. Never fails.
void row_resolve(struct ledger *ledger, struct row *row);
// What it does: looks again at the rows of a group that are not settled.
void group_look_again(struct ledger *ledger, struct pool_group *group);
// What it does: starts a quarantine when the pool's generations began again below its retired mark. Every
// kubelet restart does that to every driver, so it ends by itself when nothing changed.
void pool_quarantine(struct ledger *ledger, struct pool_entry *pool);
// What it does: both for every pool, once a list of slices is whole.
void pools_listed(struct ledger *ledger);
// What it does: re-maps rows whose change was confirmed, and ends a quarantine when nothing holds it.
void pool_look_again(struct ledger *ledger, struct pool_entry *pool);
// What it does: gives a row what a NodeLedger remembers of it.
void row_remember(struct ledger *ledger, struct row *row);
const uint64_t *row_digest(const struct row *row);
uint64_t row_hash(const struct ledger *ledger, const struct pool_group *group, const struct name *device);
// What it does: takes a row out of every list and index.
void row_leave(struct ledger *ledger, struct row *row);
void row_free(struct ledger *ledger, struct row *row);
// What it does: notes the devices of the same pool and name that a scheduler could mistake for the row's own.
void row_note_rivals(struct ledger *ledger, struct row *row, const struct node_entry *node,
                     int64_t generation);

// ---- ledger_groups.c

// What it does: fills a new claim's consumers, with room for its placements. Errors: false, memory.
bool consumers_make(struct ledger *ledger, const struct resource_claim *object, struct claim_entry *claim)
    __attribute__((warn_unused_result));
void consumers_free(struct ledger *ledger, struct claim_entry *claim);
// What they do: make a Pod that will be entered a consumer of what is reserved for its PodGroup; end that for
// one that is gone (now NULL), or is another now. Errors: false, memory; nothing that counts has changed.
bool group_join(struct ledger *ledger, const struct pod_entry *pod) __attribute__((warn_unused_result));
void group_leave(struct ledger *ledger, const struct pod_entry *known, const struct pod_entry *now);
uint64_t pod_group_hash(const struct ledger *ledger, const struct name *namespace, const struct name *group);
// Whether a claim is reserved for the PodGroup of a Pod that names it.
bool claim_is_for_group_of(const struct claim_entry *claim, const struct pod_entry *pod);

// ---- placement.c

// What it does: puts a claim on the nodes where it counts now. Never fails.
void claim_place(struct ledger *ledger, struct claim_entry *claim);
void claim_displace(struct ledger *ledger, struct claim_entry *claim);
// The one node of a claim; NULL when it has none or it is not known.
struct node_entry *claim_home(const struct claim_entry *claim);
// The node of one consuming Pod of a claim; NULL when it is not known.
struct node_entry *consumer_node(const struct claim_entry *claim, const struct pod_entry *pod);

// ---- ledger_nodes.c

struct node_entry *node_find(const struct ledger *ledger, struct text name);
// What it does: the entry of a name, one more reference; made when there is none. Errors: NULL, memory.
struct node_entry *node_take(struct ledger *ledger, struct text name) __attribute__((warn_unused_result));
void node_share(struct node_entry *node);
void node_drop(struct ledger *ledger, struct node_entry *node);
// What it does: notes that something that counts on a node changed. NULL is allowed.
void node_touch(struct ledger *ledger, struct node_entry *node);
void nodes_release(struct ledger *ledger);
bool labels_copy(struct ledger *ledger, const struct text_map *map, struct node_label **ret_labels,
                 size_t *ret_count) __attribute__((warn_unused_result));
void labels_release(struct ledger *ledger, struct node_label *labels, size_t count);

// ---- lookups

struct pod_entry *pod_by_uid(const struct ledger *ledger, const struct name *uid);
struct claim_entry *claim_find(const struct ledger *ledger, const struct name *namespace,
                               const struct name *name);
struct template_entry *template_find(const struct ledger *ledger, const struct name *namespace,
                                     const struct name *name);
// What a NodeLedger remembers of a row; NULL when it does not.
struct remembered_row *remembered_find(const struct ledger *ledger, const struct row *row);
void remembered_drop(struct ledger *ledger, struct remembered_row *remembered);
int64_t remembered_retired(const struct ledger *ledger, const struct pool_entry *pool);
// Whether the policy confirms that a claim's mapping may change to what the pool says now.
bool policy_accepts(const struct ledger *ledger, const struct row *row, const struct pool_entry *pool);
bool policy_has_resumes(const struct ledger *ledger);
const struct policy_windows *policy_windows(const struct ledger *ledger);

#endif
