// SPDX-License-Identifier: Apache-2.0
// What a Pod's own limits must cover.
#include "server/ledger/pod_limits.h"

#include "server/ledger/pod_requests.h"
#include "server/ledger/resource_list.h"

static bool is_hugepages(struct text resource) {
    return text_starts_with(resource, TEXT("hugepages-"));
}

static const struct quantity *limit_of(const struct quantity_map *limits, struct text resource) {
    for (size_t i = 0; i < limits->count; i++)
        if (text_equal(limits->items[i].key, resource)) return &limits->items[i].value;
    return NULL;
}

static struct container_list limits_as_requests(const struct container_list *containers,
                                                struct arena *arena) {
    struct container_list copy = {arena_zalloc(arena, containers->count + 1, sizeof *copy.items), 0};
    if (copy.items == NULL) return copy;
    for (copy.count = 0; copy.count < containers->count; copy.count++) {
        copy.items[copy.count] = containers->items[copy.count];
        copy.items[copy.count].resources.requests = containers->items[copy.count].resources.limits;
    }
    return copy;
}

// Limits of containers are put together as their requests are.
static struct quantity_map together(const struct pod *pod, struct arena *arena) {
    const struct pod_requests_options options = {.minor = 37, .spec_only = true, .containers_only = true};
    struct pod copy = {.containers = limits_as_requests(&pod->containers, arena),
                       .init_containers = limits_as_requests(&pod->init_containers, arena)};
    return pod_requests(&copy, &options, arena);
}

static void add_containers(const struct pod *pod, struct text resource, struct quantity limit,
                           struct arena *arena, struct pod_limit_list *list) {
    for (size_t i = 0; i < pod->containers.count; i++) {
        const struct container *container = &pod->containers.items[i];
        const struct quantity *own = limit_of(&container->resources.limits, resource);
        if (own == NULL || container->resources.claims.count == 0) continue;
        struct pod_limit *place = LIST_APPEND(arena, list);
        if (place == NULL) return;
        *place = (struct pod_limit){.resource = resource,
                                    .container = container->name,
                                    .limit = limit,
                                    .containers = *own,
                                    .claims = &container->resources.claims};
    }
}

struct pod_limit_list pod_limits(const struct pod *pod, struct arena *arena) {
    struct pod_limit_list list = {NULL, 0};
    const struct quantity_map *limits = &pod->resources.limits;
    if (!pod->resources_set || limits->count == 0) return list;
    struct quantity_map sums = together(pod, arena);
    for (size_t i = 0; i < limits->count; i++) {
        struct text resource = limits->items[i].key;
        if (!is_hugepages(resource)) {
            add_containers(pod, resource, limits->items[i].value, arena, &list);
            continue;
        }
        const struct quantity *sum = resources_find(&sums, resource);
        struct pod_limit *place = LIST_APPEND(arena, &list);
        if (place == NULL) break;
        *place = (struct pod_limit){.resource = resource, .limit = limits->items[i].value};
        if (sum != NULL) place->containers = *sum;
    }
    return arena->poisoned ? (struct pod_limit_list){NULL, 0} : list;
}
