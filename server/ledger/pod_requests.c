// SPDX-License-Identifier: Apache-2.0
// What a Pod takes of its node.
#include "server/ledger/pod_requests.h"

#include "server/ledger/resource_list.h"

static const struct quantity_map NOTHING = {.set = true};

// Container statuses by name.
struct statuses {
    const struct container_status **items; // sorted by name
    size_t count;
    bool last_wins; // v1.36 takes the last of the same name, v1.37 the first
};

// What is gone through for one Pod.
struct counting {
    const struct pod *pod;
    const struct pod_requests_options *options;
    struct arena *arena;
    struct statuses statuses;
    bool infeasible; // a resize was refused: the spec is not what the node has
};

// Which of a container's requests are meant.
enum request_source {
    SOURCE_SPEC,
    SOURCE_ALLOCATED,
    SOURCE_ACTUATED,
    SOURCE_EFFECTIVE, // v1.36 decides container by container
};

static bool index_statuses(struct counting *counting) {
    const struct pod *pod = counting->pod;
    size_t first_count = pod->container_statuses.count;
    size_t count = first_count + pod->init_container_statuses.count;
    const struct container_status **all = arena_zalloc(counting->arena, count + 1, sizeof *all);
    const struct container_status **sorted = arena_zalloc(counting->arena, count + 1, sizeof *sorted);
    struct text *names = arena_zalloc(counting->arena, count + 1, sizeof *names);
    size_t *order;
    if (all == NULL || sorted == NULL || names == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        all[i] = i < first_count ? &pod->container_statuses.items[i]
                                 : &pod->init_container_statuses.items[i - first_count];
        names[i] = all[i]->name;
    }
    if (!texts_order(names, count, counting->arena, &order)) return false;
    for (size_t i = 0; i < count; i++) sorted[i] = all[order[i]];
    counting->statuses =
        (struct statuses){.items = sorted, .count = count, .last_wins = counting->options->minor < 37};
    return true;
}

static const struct container_status *find_status(const struct statuses *statuses, struct text name) {
    size_t low = 0;
    size_t high = statuses->count;
    while (low < high) { // the first that is not before the name, or that is behind it
        size_t middle = low + (high - low) / 2;
        int order = text_compare(statuses->items[middle]->name, name);
        if (order < 0 || (order == 0 && statuses->last_wins))
            low = middle + 1;
        else
            high = middle;
    }
    if (statuses->last_wins)
        return low > 0 && text_equal(statuses->items[low - 1]->name, name) ? statuses->items[low - 1] : NULL;
    return low < statuses->count && text_equal(statuses->items[low]->name, name) ? statuses->items[low]
                                                                                 : NULL;
}

// The greatest of up to three unsorted lists; `spec` is left out when a resize was refused.
static struct quantity_map greatest(const struct counting *counting, const struct quantity_map *spec,
                                    const struct quantity_map *actuated,
                                    const struct quantity_map *allocated) {
    struct quantity_map first = counting->infeasible ? NOTHING : resources_sorted(spec, counting->arena);
    struct quantity_map second = resources_sorted(actuated, counting->arena);
    struct quantity_map third = resources_sorted(allocated, counting->arena);
    struct quantity_map both = resources_max(&first, &second, counting->arena);
    return resources_max(&both, &third, counting->arena);
}

// One amount on its way into the sum of its resource.
enum share_kind { SHARE_CONTAINER, SHARE_SIDECAR, SHARE_INIT, SHARE_CLAIM };
struct share {
    struct text name;
    enum share_kind kind;
    struct quantity value;
};
struct share_list {
    struct share *items;
    size_t count;
};

static void add_share(const struct counting *counting, struct share_list *shares, enum share_kind kind,
                      struct text name, struct quantity value) {
    struct share *place = LIST_APPEND(counting->arena, shares);
    if (place != NULL) *place = (struct share){name, kind, value};
}

static const struct quantity_map *chosen_requests(const struct counting *counting,
                                                  const struct container *container,
                                                  const struct container_status *status,
                                                  enum request_source source) {
    if (source == SOURCE_SPEC) return &container->resources.requests;
    if (source == SOURCE_ACTUATED && status != NULL && status->resources_set &&
        status->resources.requests.set)
        return &status->resources.requests;
    if (status != NULL && status->allocated_resources.set) return &status->allocated_resources;
    return counting->infeasible ? &NOTHING : &container->resources.requests;
}

static void gather_container(const struct counting *counting, const struct container *container, bool init,
                             enum request_source source, struct share_list *shares) {
    bool sidecar = init && container->restart_always;
    // v1.36 looks at the statuses of sidecars, but not at those of other init containers.
    bool looked_at = source != SOURCE_SPEC && (source != SOURCE_EFFECTIVE || !init || sidecar);
    const struct container_status *status =
        looked_at ? find_status(&counting->statuses, container->name) : NULL;
    const struct quantity_map *requests = &container->resources.requests;
    struct quantity_map effective;
    if (source != SOURCE_EFFECTIVE) {
        requests = chosen_requests(counting, container, status, source);
    } else if (status != NULL && status->resources_set) {
        effective = greatest(counting, requests, &status->resources.requests, &status->allocated_resources);
        requests = &effective;
    }
    enum share_kind kind = !init ? SHARE_CONTAINER : sidecar ? SHARE_SIDECAR : SHARE_INIT;
    for (size_t i = 0; i < requests->count; i++)
        add_share(counting, shares, kind, requests->items[i].key, requests->items[i].value);
}

static struct quantity overhead_of(const struct overhead_resource *overhead, size_t container_count) {
    struct quantity sum = quantity_from_int64(0, QUANTITY_DECIMAL_SI);
    if (overhead->per_pod.set) sum = quantity_add(sum, overhead->per_pod);
    if (overhead->per_container.set && container_count > 0) {
        struct quantity count = quantity_from_int64((int64_t)container_count, QUANTITY_DECIMAL_SI);
        sum = quantity_add(sum, quantity_multiply(overhead->per_container, count));
    }
    return sum;
}

// Source: v0.36.3 AggregateContainerRequests, v0.37.2 addDRANodeAllocatableClaimResources.
static void gather_claims(const struct counting *counting, struct share_list *shares) {
    const struct node_allocatable_claim_status_list *statuses = &counting->pod->allocatable_statuses;
    bool old_form = counting->options->minor < 37;
    for (size_t i = 0; i < statuses->count; i++) {
        const struct node_allocatable_claim_status *status = &statuses->items[i];
        const struct quantity_map *fixed = old_form ? &status->resources : &status->mapping;
        for (size_t j = 0; j < fixed->count; j++)
            if (fixed->items[j].value.set)
                add_share(counting, shares, SHARE_CLAIM, fixed->items[j].key, fixed->items[j].value);
        for (size_t j = 0; j < status->overhead.count && !old_form; j++) {
            const struct overhead_resource *overhead = &status->overhead.items[j];
            add_share(counting, shares, SHARE_CLAIM, overhead->name,
                      overhead_of(overhead, status->containers.count));
        }
    }
}

// Adds, starting with nothing.
static void add_to(struct quantity *sum, struct quantity value) {
    *sum = sum->set ? quantity_add(*sum, value) : value;
    sum->set = true;
}

// Containers and sidecars run together; an init container runs beside the sidecars before it. What is needed
// is the greater of the two, and claims come on top. The shares of one resource come in the order of the Pod.
// Source: v0.37.2 aggregateContainerResourcesByFn.
static struct quantity fold(const struct share *const *shares, size_t count) {
    struct quantity together = {0};
    struct quantity sidecars = {0};
    struct quantity peak = {0};
    struct quantity claims = {0};
    for (size_t i = 0; i < count; i++) {
        struct quantity now = shares[i]->value;
        if (shares[i]->kind == SHARE_CLAIM) {
            add_to(&claims, now);
            continue;
        }
        if (shares[i]->kind != SHARE_INIT) add_to(&together, now);
        if (shares[i]->kind == SHARE_CONTAINER) continue;
        if (shares[i]->kind == SHARE_SIDECAR) {
            add_to(&sidecars, now);
            now = sidecars;
        } else if (sidecars.set) {
            now = quantity_add(now, sidecars);
        }
        if (!peak.set || quantity_compare(now, peak) > 0) peak = now;
        peak.set = true;
    }
    if (!together.set || (peak.set && quantity_compare(peak, together) > 0)) together = peak;
    if (!claims.set) return together;
    add_to(&together, claims);
    return together;
}

static struct quantity_map fold_all(const struct counting *counting, const struct share_list *shares) {
    struct quantity_map sums = {.set = true};
    struct text *names = arena_zalloc(counting->arena, shares->count + 1, sizeof *names);
    const struct share **sorted = arena_zalloc(counting->arena, shares->count + 1, sizeof *sorted);
    size_t *order;
    if (names == NULL || sorted == NULL) return sums;
    for (size_t i = 0; i < shares->count; i++) names[i] = shares->items[i].name;
    if (!texts_order(names, shares->count, counting->arena, &order)) return sums;
    for (size_t i = 0; i < shares->count; i++) sorted[i] = &shares->items[order[i]];
    for (size_t start = 0; start < shares->count;) {
        size_t end = start + 1;
        while (end < shares->count && text_equal(sorted[end]->name, sorted[start]->name)) end++;
        struct quantity_entry *place = LIST_APPEND(counting->arena, &sums);
        if (place == NULL) break;
        *place = (struct quantity_entry){sorted[start]->name, fold(sorted + start, end - start)};
        start = end;
    }
    return sums;
}

static struct quantity_map sum_containers(const struct counting *counting, enum request_source source) {
    const struct pod *pod = counting->pod;
    struct share_list shares = {0};
    for (size_t i = 0; i < pod->containers.count; i++)
        gather_container(counting, &pod->containers.items[i], false, source, &shares);
    for (size_t i = 0; i < pod->init_containers.count; i++)
        gather_container(counting, &pod->init_containers.items[i], true, source, &shares);
    // The actuated requests of containers have the claims in them already.
    if (counting->options->with_claims && source != SOURCE_ACTUATED) gather_claims(counting, &shares);
    return fold_all(counting, &shares);
}

// Whether status says what the Pod as a whole was given.
static bool tells_whole(const struct pod *pod) {
    return pod->allocated_resources.set && pod->status_resources_set && pod->status_resources.requests.set;
}

// The two parts of v1.37's sum: what claims come on top of, and what has them in it. When a resize was
// refused, what the spec says does not count.
// Source: v0.37.2 AggregateContainerRequests.
static void sum_parts(const struct counting *counting, struct quantity_map *ret_on_top,
                      struct quantity_map *ret_within) {
    const struct pod *pod = counting->pod;
    struct quantity_map spec = counting->infeasible ? NOTHING : sum_containers(counting, SOURCE_SPEC);
    if (tells_whole(pod)) {
        *ret_on_top = spec;
        *ret_within =
            greatest(counting, &NOTHING, &pod->status_resources.requests, &pod->allocated_resources);
        return;
    }
    struct quantity_map allocated = sum_containers(counting, SOURCE_ALLOCATED);
    *ret_on_top = resources_max(&spec, &allocated, counting->arena);
    *ret_within = sum_containers(counting, SOURCE_ACTUATED);
}

static struct quantity_map sum_with_status(const struct counting *counting) {
    struct quantity_map on_top;
    struct quantity_map within;
    sum_parts(counting, &on_top, &within);
    return resources_max(&on_top, &within, counting->arena);
}

// Source: IsSupportedPodLevelResource.
static bool is_pod_level(struct text name) {
    return text_equal(name, TEXT("cpu")) || text_equal(name, TEXT("memory")) ||
           text_starts_with(name, TEXT("hugepages-"));
}

static struct quantity_map pod_level_only(const struct quantity_map *map, struct arena *arena) {
    struct quantity_map kept = {.set = true};
    for (size_t i = 0; i < map->count; i++) {
        if (!is_pod_level(map->items[i].key)) continue;
        struct quantity_entry *place = LIST_APPEND(arena, &kept);
        if (place != NULL) *place = map->items[i];
    }
    return kept;
}

// What pod-level requests put in the place of the sum. v1.36 takes over what the spec names, v1.37 what
// status names too.
static struct quantity_map pod_level_requests(const struct counting *counting) {
    const struct pod *pod = counting->pod;
    struct arena *arena = counting->arena;
    struct quantity_map all = resources_sorted(&pod->resources.requests, arena);
    struct quantity_map spec = pod_level_only(&all, arena);
    if (spec.count == 0 || counting->options->spec_only || !pod->status_resources_set) return spec;
    struct quantity_map found = greatest(counting, &pod->resources.requests, &pod->status_resources.requests,
                                         &pod->allocated_resources);
    struct quantity_map effective = pod_level_only(&found, arena);
    if (counting->options->minor >= 37) return effective;
    for (size_t i = 0; i < spec.count; i++) {
        const struct quantity *value = resources_find(&effective, spec.items[i].key);
        spec.items[i].value = value != NULL ? *value : quantity_from_int64(0, QUANTITY_DECIMAL_SI);
    }
    return spec;
}

struct quantity_map pod_requests(const struct pod *pod, const struct pod_requests_options *options,
                                 struct arena *arena) {
    struct counting counting = {.pod = pod, .options = options, .arena = arena};
    counting.infeasible = !options->spec_only && text_equal(pod->resize, TEXT("Infeasible"));
    if (!options->spec_only && !index_statuses(&counting)) return NOTHING;
    struct quantity_map sum;
    if (options->spec_only)
        sum = sum_containers(&counting, SOURCE_SPEC);
    else if (options->minor < 37)
        sum = sum_containers(&counting, SOURCE_EFFECTIVE);
    else
        sum = sum_with_status(&counting);
    if (!options->containers_only) {
        struct quantity_map pod_level = pod_level_requests(&counting);
        sum = resources_override(&sum, &pod_level, arena);
    }
    struct quantity_map overhead = resources_sorted(&pod->overhead, arena);
    sum = resources_add(&sum, &overhead, arena);
    return arena->poisoned ? NOTHING : sum;
}

// ---- taken apart

// Puts a sorted list into one member of the demands, which are sorted too.
static void add_demands(struct pod_demand_list *demands, const struct quantity_map *map, struct arena *arena,
                        size_t member) {
    struct pod_demand_list joined = {
        arena_zalloc(arena, demands->count + map->count + 1, sizeof *joined.items), 0};
    size_t left = 0;
    size_t right = 0;
    if (joined.items == NULL) return;
    while (left < demands->count || right < map->count) {
        int order = left == demands->count ? 1
                    : right == map->count
                        ? -1
                        : text_compare(demands->items[left].resource, map->items[right].key);
        struct pod_demand *demand = &joined.items[joined.count++];
        if (order <= 0)
            *demand = demands->items[left++];
        else
            demand->resource = map->items[right].key;
        if (order < 0) continue;
        *(struct quantity *)(void *)((char *)demand + member) = map->items[right++].value;
    }
    *demands = joined;
}

struct pod_demand_list pod_demands(const struct pod *pod, int minor, struct arena *arena) {
    struct pod_requests_options options = {.minor = minor};
    struct counting counting = {.pod = pod, .options = &options, .arena = arena};
    struct pod_demand_list demands = {0};
    counting.infeasible = text_equal(pod->resize, TEXT("Infeasible"));
    if (!index_statuses(&counting)) return demands;
    struct quantity_map on_top;
    struct quantity_map within = NOTHING;
    if (minor < 37)
        on_top = sum_containers(&counting, SOURCE_EFFECTIVE);
    else
        sum_parts(&counting, &on_top, &within);
    struct quantity_map pod_level = pod_level_requests(&counting);
    struct quantity_map overhead = resources_sorted(&pod->overhead, arena);
    add_demands(&demands, &on_top, arena, offsetof(struct pod_demand, on_top));
    add_demands(&demands, &within, arena, offsetof(struct pod_demand, within));
    add_demands(&demands, &pod_level, arena, offsetof(struct pod_demand, within));
    // When a resize was refused and status tells the whole Pod, claims come on top of nothing.
    bool whole = minor >= 37 && counting.infeasible && tells_whole(pod);
    for (size_t i = 0; i < demands.count; i++)
        demands.items[i].pod_level = whole || resources_find(&pod_level, demands.items[i].resource) != NULL;
    add_demands(&demands, &overhead, arena, offsetof(struct pod_demand, overhead));
    return arena->poisoned ? (struct pod_demand_list){0} : demands;
}

struct quantity pod_demand_sum(const struct quantity *on_top, const struct quantity *within,
                               const struct quantity *overhead, bool pod_level, struct quantity claims) {
    struct quantity sum = {0};
    if (pod_level) {
        sum = *within;
    } else {
        if (on_top->set) add_to(&sum, *on_top);
        if (claims.set) add_to(&sum, claims);
        if (within->set && (!sum.set || quantity_compare(*within, sum) > 0)) sum = *within;
    }
    if (overhead->set) add_to(&sum, *overhead);
    if (!sum.set) sum = quantity_from_int64(0, QUANTITY_DECIMAL_SI);
    sum.set = true;
    return sum;
}
