// SPDX-License-Identifier: Apache-2.0
// The ledger of one node, put together.
#include "server/ledger/report.h"

#include "server/ledger/divergence.h"
#include "server/ledger/footprint.h"
#include "server/ledger/freshness.h"
#include "server/ledger/pod_requests.h"

// One amount on its way into a column of a resource. They are collected, sorted once and added up, so that a
// Pod with thousands of resources costs no more than its size.
enum column { COLUMN_ALLOCATABLE, COLUMN_ORDINARY, COLUMN_DRA, COLUMN_HELD };
struct part {
    struct text resource;
    enum column column;
    struct quantity quantity;
};
struct part_list {
    struct part *items;
    size_t count;
};

struct making {
    const struct ledger *ledger;
    const struct node_entry *node;
    struct arena *arena;
    struct node_report *report;
    struct part_list parts;
    size_t pod_count;
};

// ---- sorting what is listed

typedef int compare_function(const void *a, const void *b);

// Merges from the bottom: stable, and no worse for any order of input.
static void sort_items(void *items, size_t count, size_t bytes, compare_function *compare,
                       struct arena *arena) {
    if (count < 2) return;
    char *from = items;
    char *to = arena_zalloc(arena, count, bytes);
    if (to == NULL) return;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = middle + width < count ? middle + width : count;
            size_t left = start;
            size_t right = middle;
            for (size_t at = start; at < end; at++) {
                bool take_left = right == end ||
                                 (left < middle && compare(from + left * bytes, from + right * bytes) <= 0);
                memcpy(to + at * bytes, from + (take_left ? left++ : right++) * bytes, bytes);
            }
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, count * bytes);
}
#define SORT(list, compare, arena)                                                                           \
    sort_items((list)->items, (list)->count, sizeof *(list)->items, (compare), (arena))

static int compare_texts(const struct text *a, const struct text *b, size_t count) {
    int order = 0;
    for (size_t i = 0; i < count && order == 0; i++) order = text_compare(a[i], b[i]);
    return order;
}

static int compare_rows(const void *a, const void *b) {
    const struct row_report *x = a;
    const struct row_report *y = b;
    const struct text left[] = {x->namespace, x->name, x->driver, x->pool, x->device, x->share_id};
    const struct text right[] = {y->namespace, y->name, y->driver, y->pool, y->device, y->share_id};
    return compare_texts(left, right, 6);
}

static int compare_divergences(const void *a, const void *b) {
    const struct divergence_report *x = a;
    const struct divergence_report *y = b;
    const struct text left[] = {x->pod, x->claim};
    const struct text right[] = {y->pod, y->claim};
    return compare_texts(left, right, 2);
}

static int compare_drivers(const void *a, const void *b) {
    const struct driver_report *x = a;
    const struct driver_report *y = b;
    const struct text left[] = {x->driver, x->pool};
    const struct text right[] = {y->driver, y->pool};
    return compare_texts(left, right, 2);
}

static int compare_faulty(const void *a, const void *b) {
    const struct faulty_device *x = a;
    const struct faulty_device *y = b;
    const struct text left[] = {x->driver, x->pool, x->device};
    const struct text right[] = {y->driver, y->pool, y->device};
    return compare_texts(left, right, 3);
}

static int compare_numa(const void *a, const void *b) {
    const struct numa_report *x = a;
    const struct numa_report *y = b;
    if (x->id.set != y->id.set) return x->id.set ? -1 : 1;
    return x->id.value < y->id.value ? -1 : x->id.value > y->id.value;
}

static int compare_names(const void *a, const void *b) {
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

// ---- NUMA sub-ledgers

static const struct text_list *numa_spellings(const struct ledger *ledger) {
    return ledger->policy == NULL ? NULL : &ledger->policy->policy.numa_attributes;
}

static struct opt_int64 numa_of(const struct ledger *ledger, const struct shape *shape,
                                const struct name *driver) {
    struct opt_int64 id = {0};
    if (shape != NULL) id.set = shape_numa_node(shape, driver->text, numa_spellings(ledger), &id.value);
    return id;
}

struct opt_int64 row_numa(const struct ledger *ledger, const struct row *row) {
    return row->fixed != NULL ? row->fixed->numa : numa_of(ledger, row->shape, row->group->driver);
}

static struct numa_report *numa_at(struct making *making, struct opt_int64 id) {
    struct numa_report_list *list = &making->report->numa;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].id.set == id.set && (!id.set || list->items[i].id.value == id.value))
            return &list->items[i];
    struct numa_report *numa = LIST_APPEND(making->arena, list);
    if (numa != NULL) *numa = (struct numa_report){.id = id, .dra = {.set = true}, .held = {.set = true}};
    return numa;
}

// Every NUMA node of the node's devices is listed, also while nothing is taken of it.
static void list_numa_of_pool(struct making *making, const struct pool_entry *pool) {
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (!slice->has_mappings) continue;
        for (size_t i = 0; i < slice->device_count; i++) {
            if (slice->devices[i].shape->mapping_count == 0) continue;
            struct opt_int64 id = numa_of(making->ledger, slice->devices[i].shape, pool->group->driver);
            if (id.set) numa_at(making, id);
        }
    }
}

// ---- rows

static struct text pod_text(const struct pod_entry *pod, struct arena *arena) {
    return text_format(arena, "%.*s/%.*s", TEXT_ARG(pod->namespace->text), TEXT_ARG(pod->name->text));
}

// The live Pods that consume a claim here.
static const struct pod_entry *consumer_here(const struct making *making, const struct claim_entry *claim,
                                             size_t index) {
    const struct pod_entry *pod = pod_by_uid(making->ledger, claim->consumers[index].pod_uid);
    if (pod == NULL || !pod->live) return NULL;
    struct node_entry *node = consumer_node(claim, pod);
    if (node == NULL) node = making->ledger->nowhere;
    return node == making->node ? pod : NULL;
}

static void fill_row(const struct ledger *ledger, const struct row *row, struct row_report *report) {
    const struct claim_entry *claim = row->claim;
    report->uid = claim->uid->text;
    report->namespace = claim->namespace->text;
    report->name = claim->name->text;
    report->driver = row->group->driver->text;
    report->pool = row->group->pool->text;
    report->device = row->device->text;
    report->share_id = row->share->text;
    report->version = row->version;
    report->admin = row->admin;
    report->observed_ms = row->observed_ms;
    report->held_ms = claim->held_ms;
    report->numa = row_numa(ledger, row);
    report->resources = (struct quantity_map){.set = true};
    const uint64_t *digest = row_digest(row);
    if (digest != NULL) digest_print(digest, report->digest);
}

static void make_row(struct making *making, const struct placement *placement, const struct row *row,
                     struct row_report_list *list) {
    const struct claim_entry *claim = placement->claim;
    struct row_report *report = LIST_APPEND(making->arena, list);
    if (report == NULL) return;
    fill_row(making->ledger, row, report);
    report->held = placement->held;
    footprint_mapping(row, NULL, &report->resources, making->arena);
    for (size_t i = 0; i < claim->consumer_count; i++) {
        const struct pod_entry *pod = consumer_here(making, claim, i);
        if (pod == NULL) continue;
        footprint_overhead(row, NULL, pod_references(pod, claim), &report->resources, making->arena);
        struct text *name = LIST_APPEND(making->arena, &report->pods);
        if (name != NULL) *name = pod_text(pod, making->arena);
    }
    // Pods of a PodGroup come in no order of the API's.
    if (claim->group_count > 0) SORT(&report->pods, compare_names, making->arena);
}

static void add_part(struct making *making, struct text resource, enum column column,
                     struct quantity quantity) {
    struct part *part = LIST_APPEND(making->arena, &making->parts);
    if (part != NULL) *part = (struct part){resource, column, quantity};
}

static void count_row(struct making *making, const struct row_report *row) {
    struct numa_report *numa = row->resources.count == 0 ? NULL : numa_at(making, row->numa);
    for (size_t i = 0; i < row->resources.count; i++)
        add_part(making, row->resources.items[i].key, row->held ? COLUMN_HELD : COLUMN_DRA,
                 row->resources.items[i].value);
    if (numa != NULL) sums_add_all(row->held ? &numa->held : &numa->dra, &row->resources, making->arena);
}

// ---- Pods

// The scheduler counts cpu in thousandths and everything else in whole units, each Pod rounded up.
static struct quantity as_counted(struct text resource, struct quantity sum) {
    int64_t value;
    if (text_equal(resource, TEXT("cpu"))) {
        if (quantity_is_whole_milli(sum) || !quantity_milli(sum, &value)) return sum;
        return quantity_from_milli(value, sum.format);
    }
    if (quantity_is_whole(sum) || !quantity_value(sum, &value)) return sum;
    return quantity_from_int64(value, sum.format);
}

static const struct quantity *find_sum(const struct quantity_map *sums, struct text resource) {
    for (size_t i = 0; i < sums->count; i++)
        if (text_equal(sums->items[i].key, resource)) return &sums->items[i].value;
    return NULL;
}

static struct quantity_map claims_of_pod(const struct making *making, const struct pod_entry *pod) {
    const struct ledger *ledger = making->ledger;
    struct quantity_map sums = {.set = true};
    uint64_t hash = names_hash(ledger->options.seed, &pod->uid, 1);
    for (struct link *link = index_first(&ledger->consumers, hash); link != NULL; link = index_next(link)) {
        const struct consumer *consumer = LINK_OWNER(link, struct consumer, by_pod);
        if (consumer->pod_uid != pod->uid || !consumer->claim->allocated) continue;
        struct quantity_map claim =
            footprint_claim(consumer->claim, pod_references(pod, consumer->claim), making->arena);
        sums_add_all(&sums, &claim, making->arena);
    }
    return sums;
}

// What the scheduler counts for the Pod once it has its claims right, without what they take.
static void count_pod(struct making *making, const struct pod_entry *pod) {
    struct quantity_map claims = claims_of_pod(making, pod);
    static const struct quantity nothing;
    for (size_t i = 0; i < pod->demand_count; i++) {
        const struct demand *demand = &pod->demands[i];
        const struct quantity *taken = find_sum(&claims, demand->resource->text);
        struct quantity sum = pod_demand_sum(&demand->on_top, &demand->within, &demand->overhead,
                                             demand->pod_level, taken == NULL ? nothing : *taken);
        sum = as_counted(demand->resource->text, sum);
        if (taken != NULL) sum = quantity_subtract(sum, *taken);
        // Pod-level requests that do not cover the claims leave nothing over.
        if (quantity_sign(sum) > 0) add_part(making, demand->resource->text, COLUMN_ORDINARY, sum);
    }
    making->pod_count++;
}

static void make_pods(struct making *making, bool all_settled) {
    for (const struct pod_entry *pod = making->node->pods; pod != NULL; pod = pod->node_next) {
        if (!pod->live) continue;
        count_pod(making, pod);
        divergence_of_pod(making->ledger, pod, all_settled, making->arena, &making->report->divergence);
    }
}

// ---- claims

// A Pod that is not bound yet is seen with the first of its claims that stand here.
static bool is_first_claim_here(const struct making *making, const struct pod_entry *pod,
                                const struct claim_entry *claim) {
    uint64_t hash = names_hash(making->ledger->options.seed, &pod->uid, 1);
    const struct claim_entry *first = NULL;
    for (struct link *link = index_first(&making->ledger->consumers, hash); link != NULL;
         link = index_next(link)) {
        const struct consumer *consumer = LINK_OWNER(link, struct consumer, by_pod);
        if (consumer->pod_uid == pod->uid && consumer->claim->allocated) first = consumer->claim;
    }
    return first == claim;
}

static void make_claims(struct making *making, bool all_settled, struct row_report_list *rows) {
    for (const struct placement *placement = making->node->placements; placement != NULL;
         placement = placement->next) {
        const struct claim_entry *claim = placement->claim;
        for (size_t i = 0; i < claim->row_count; i++) make_row(making, placement, claim->rows[i], rows);
        for (size_t i = 0; i < claim->consumer_count; i++) {
            const struct pod_entry *pod = consumer_here(making, claim, i);
            if (pod == NULL || pod->node != NULL || !is_first_claim_here(making, pod, claim)) continue;
            count_pod(making, pod); // reserved and not bound: the scheduler counts it as a whole
            divergence_of_pod(making->ledger, pod, all_settled, making->arena, &making->report->divergence);
        }
    }
    SORT(rows, compare_rows, making->arena);
}

// ---- totals

static int compare_parts(const void *a, const void *b) {
    return text_compare(((const struct part *)a)->resource, ((const struct part *)b)->resource);
}

static struct quantity *column_of(struct total_report *total, enum column column) {
    switch (column) {
    case COLUMN_ALLOCATABLE: return &total->allocatable;
    case COLUMN_ORDINARY: return &total->ordinary;
    case COLUMN_DRA: return &total->dra;
    case COLUMN_HELD: break;
    }
    return &total->held;
}

// The first amount of a column keeps its form, as in sums of upstream.
static void add_to_column(struct total_report *total, const struct part *part, unsigned *filled) {
    struct quantity *sum = column_of(total, part->column);
    *sum = *filled & 1u << part->column ? quantity_add(*sum, part->quantity) : part->quantity;
    *filled |= 1u << part->column;
}

static void make_totals(struct making *making) {
    struct total_report_list *totals = &making->report->totals;
    const struct part_list *parts = &making->parts;
    struct quantity zero = quantity_from_int64(0, QUANTITY_DECIMAL_SI);
    SORT(parts, compare_parts, making->arena);
    for (size_t at = 0; at < parts->count;) {
        struct text resource = parts->items[at].resource;
        struct total_report *total = LIST_APPEND(making->arena, totals);
        unsigned filled = 0;
        if (total == NULL) return;
        *total = (struct total_report){resource, zero, zero, zero, zero, zero};
        for (; at < parts->count && text_equal(parts->items[at].resource, resource); at++)
            add_to_column(total, &parts->items[at], &filled);
        total->free = quantity_subtract(quantity_subtract(total->allocatable, total->ordinary), total->dra);
    }
}

// The scheduler counts Pods too, where the node says how many it takes.
static void count_allocatable(struct making *making) {
    const struct amounts *allocatable = &making->node->allocatable;
    for (size_t i = 0; i < allocatable->count; i++) {
        struct text resource = allocatable->items[i].resource->text;
        add_part(making, resource, COLUMN_ALLOCATABLE, allocatable->items[i].quantity);
        if (!text_equal(resource, TEXT("pods"))) continue;
        struct quantity pods = quantity_from_int64((int64_t)making->pod_count, QUANTITY_DECIMAL_SI);
        add_part(making, resource, COLUMN_ORDINARY, pods);
    }
}

// ---- freshness

static bool has_group(const struct driver_report_list *list, const struct pool_group *group) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].driver.ptr == group->driver->text.ptr &&
            list->items[i].pool.ptr == group->pool->text.ptr)
            return true;
    return false;
}

static void make_driver(struct making *making, const struct pool_entry *pool) {
    struct driver_report_list *list = &making->report->drivers;
    const struct pool_group *group = pool->group;
    if (!pool->had_mappings || has_group(list, group)) return;
    if (pool_is_left(making->ledger, pool, making->node)) return;
    struct driver_report *report = LIST_APPEND(making->arena, list);
    if (report == NULL) return;
    struct gathered gathered = {.generation = -1};
    group_gather(making->ledger, group, making->node, INT64_MAX, &gathered);
    struct freshness_report state = freshness_of_pool(making->ledger, group, making->node, making->arena);
    freshness_worsen(&state, freshness_of_driver(making->ledger, group->driver, making->arena));
    *report = (struct driver_report){.driver = group->driver->text,
                                     .pool = group->pool->text,
                                     .generation = gathered.generation,
                                     .retired_generation = pool->retired_generation,
                                     .version = gathered.version,
                                     .state = state.state,
                                     .cause = state.cause,
                                     .since_ms = state.since_ms};
    uint64_t digest[2] = {0, 0};
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (slice->generation != gathered.generation) continue;
        digest[0] += slice->digest[0];
        digest[1] += slice->digest[1];
    }
    digest_print(digest, report->digest);
}

static void note_divergence(struct making *making) {
    const struct divergence_report_list *divergence = &making->report->divergence;
    for (size_t i = 0; i < divergence->count; i++) {
        const struct divergence_report *found = &divergence->items[i];
        if (!found->settled || !freshness_gates_on(making->ledger, found->class)) continue;
        const struct row_report_list *rows = &making->report->claims;
        for (size_t d = 0; d < making->report->drivers.count; d++) {
            struct driver_report *driver = &making->report->drivers.items[d];
            bool concerned = false;
            for (size_t r = 0; r < rows->count && !concerned; r++)
                concerned = text_equal(rows->items[r].uid, found->claim_uid) &&
                            text_equal(rows->items[r].driver, driver->driver);
            if (!concerned || driver->state >= FRESHNESS_DIVERGED) continue;
            driver->state = FRESHNESS_DIVERGED;
            driver->cause = text_format(making->arena, "%s: Pod %.*s, claim %.*s", found->class,
                                        TEXT_ARG(found->pod), TEXT_ARG(found->claim_uid));
        }
    }
}

static void add_cause(struct making *making, struct text cause) {
    struct text *place = cause.len == 0 ? NULL : LIST_APPEND(making->arena, &making->report->causes);
    if (place != NULL) *place = cause;
}

static void make_freshness(struct making *making) {
    struct node_report *report = making->report;
    struct freshness_report whole = freshness_of_node(making->ledger, making->node, making->arena);
    note_divergence(making);
    SORT(&report->drivers, compare_drivers, making->arena);
    add_cause(making, whole.cause);
    report->state = report->drivers.count == 0 ? FRESHNESS_UNMAPPED : whole.state;
    for (size_t i = 0; i < report->drivers.count; i++) {
        struct driver_report *driver = &report->drivers.items[i];
        if (driver->cause.len > 0)
            add_cause(making, text_format(making->arena, "%.*s: %.*s", TEXT_ARG(driver->driver),
                                          TEXT_ARG(driver->cause)));
        if (driver->state > report->state) report->state = driver->state;
        if (driver->state >= whole.state) continue;
        driver->state = whole.state;
        driver->cause = whole.cause;
        driver->since_ms = whole.since_ms;
    }
}

// ---- what is asked for

static void make_pools(struct making *making) {
    for (const struct pool_entry *pool = making->node->pools; pool != NULL; pool = pool->node_next) {
        make_driver(making, pool);
        list_numa_of_pool(making, pool);
    }
    for (const struct pool_entry *pool = making->ledger->wide_pools; pool != NULL; pool = pool->far_next) {
        if (pool_concerns(pool, making->node)) make_driver(making, pool);
    }
}

bool ledger_node_report(const struct ledger *ledger, struct text node, bool all_settled, struct arena *arena,
                        struct node_report *ret_report) {
    const struct node_entry *entry = node_find(ledger, node);
    if (entry == NULL) return false;
    struct node_report report = {.name = entry->name->text, .known = entry->known, .version = entry->version};
    struct making making = {.ledger = ledger, .node = entry, .arena = arena, .report = &report};
    make_pools(&making);
    make_claims(&making, all_settled, &report.claims);
    for (size_t i = 0; i < report.claims.count; i++) count_row(&making, &report.claims.items[i]);
    make_pods(&making, all_settled);
    count_allocatable(&making);
    make_totals(&making);
    SORT(&report.numa, compare_numa, arena);
    SORT(&report.divergence, compare_divergences, arena);
    make_freshness(&making);
    if (!ledger_faulty_devices(ledger, node, arena, &report.unusable)) return false;
    SORT(&report.unusable, compare_faulty, arena);
    if (arena->poisoned) return false;
    *ret_report = report;
    return true;
}

bool ledger_unplaced(const struct ledger *ledger, struct arena *arena, struct row_report_list *ret_rows) {
    struct node_report report = {0};
    struct row_report_list rows = {0};
    struct making making = {.ledger = ledger, .node = ledger->nowhere, .arena = arena, .report = &report};
    make_claims(&making, true, &rows);
    if (arena->poisoned) return false;
    *ret_rows = rows;
    return true;
}

bool ledger_nodes(const struct ledger *ledger, struct arena *arena, struct text_list *ret_names) {
    struct text_list names = {.set = true};
    size_t bucket = 0;
    for (struct link *link = index_each(&ledger->nodes, &bucket, NULL); link != NULL;
         link = index_each(&ledger->nodes, &bucket, link)) {
        const struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        if (!node->known && node->pods == NULL && node->placements == NULL && node->pools == NULL) continue;
        struct text *place = LIST_APPEND(arena, &names);
        if (place != NULL) *place = node->name->text;
    }
    SORT(&names, compare_names, arena);
    if (arena->poisoned) return false;
    *ret_names = names;
    return true;
}

bool ledger_rejections(const struct ledger *ledger, struct arena *arena,
                       struct rejection_report_list *ret_rejections) {
    struct rejection_report_list list = {0};
    for (size_t i = 0; i < ledger->rejection_count; i++) {
        const struct rejection *rejection = &ledger->rejections[i];
        struct rejection_report *report = LIST_APPEND(arena, &list);
        if (report == NULL) return false;
        *report = (struct rejection_report){.rule = rejection->rule,
                                            .uid = rejection->key[0]->text,
                                            .driver = rejection->key[1]->text,
                                            .pool = rejection->key[2]->text,
                                            .device = rejection->key[3]->text,
                                            .share_id = rejection->key[4]->text,
                                            .namespace = rejection->namespace->text,
                                            .name = rejection->claim_name->text,
                                            .other_uid = rejection->other_uid->text,
                                            .count = rejection->count,
                                            .at_ms = rejection->at_ms};
    }
    *ret_rejections = list;
    return true;
}

struct text ledger_take_changed_node(struct ledger *ledger) {
    while (ledger->dirty_first != NULL) {
        struct node_entry *node = ledger->dirty_first;
        struct text name = node->name->text;
        bool stays = node->refs > 1 || node->known; // else only the list of changes held it
        ledger->dirty_first = node->dirty_next;
        if (ledger->dirty_first == NULL) ledger->dirty_last = NULL;
        node->dirty = false;
        node_drop(ledger, node);
        if (stays) return name;
    }
    return (struct text){NULL, 0};
}
