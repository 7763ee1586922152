// SPDX-License-Identifier: Apache-2.0
// What devices take of their nodes, each kind of device once.
#include "server/ledger/shape.h"

#include "server/ledger/amounts.h"

#define MINOR_WITH_OVERHEAD 37 // from here on devices speak of nodeAllocatableResources

// Digests are compared across replicas, so their keys are not secret. Two make collisions by chance
// impossible; a driver that makes one on purpose only hides a change of its own mapping.
static const uint64_t digest_keys[2][2] = {{0x6472617762726964u, 0x6765206d61707069u},
                                           {0x6e67732064696765u, 0x7374206b65792032u}};

static void digest_bytes(uint64_t digest[2], const void *data, size_t len) {
    for (int i = 0; i < 2; i++) {
        uint64_t key[2] = {digest_keys[i][0] ^ digest[i], digest_keys[i][1]};
        digest[i] = siphash(key, data, len);
    }
}

void digest_text(uint64_t digest[2], struct text text) {
    digest_bytes(digest, text.ptr, text.len);
}

// A quantity by its value, however it is written.
#define QUANTITY_WORDS 4
static void quantity_words(struct quantity quantity, uint64_t words[QUANTITY_WORDS]) {
    __int128 value = quantity.unscaled;
    int64_t scale = quantity.scale;
    bool small = value == (int64_t)value;
    for (int64_t narrow = (int64_t)value; small && narrow != 0 && narrow % 10 == 0; scale++)
        value = narrow /= 10;
    for (; !small && value % 10 == 0; scale++) value /= 10;
    words[0] = (uint64_t)value;
    words[1] = (uint64_t)((unsigned __int128)value >> 64);
    words[2] = value == 0 ? 0 : (uint64_t)scale;
    words[3] = (quantity.set ? 1u : 0u) | (quantity.out_of_range ? 2u : 0u);
}

void digest_quantity(uint64_t digest[2], struct quantity quantity) {
    uint64_t words[QUANTITY_WORDS];
    quantity_words(quantity, words);
    digest_bytes(digest, words, sizeof words);
}

void digest_print(const uint64_t digest[2], char buffer[DIGEST_TEXT_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) buffer[i] = digits[digest[i / 16] >> (60 - 4 * (i % 16)) & 15];
    buffer[32] = '\0';
}

bool digest_parse(struct text text, uint64_t ret_digest[2]) {
    uint64_t digest[2] = {0, 0};
    if (text.len != DIGEST_TEXT_BYTES - 1) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        unsigned value;
        if (c >= '0' && c <= '9')
            value = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = (unsigned)(c - 'a') + 10;
        else
            return false;
        digest[i / 16] = digest[i / 16] << 4 | value;
    }
    ret_digest[0] = digest[0];
    ret_digest[1] = digest[1];
    return true;
}

// ---- what a device says

// A device's mappings in the order of their resources.
struct source {
    const struct device *device;
    int minor;
    const struct node_allocatable_map *map;
    size_t *order;
    size_t mapping_count;
    size_t numa_count;
    size_t capacity_count;
};

static bool may_name_numa(struct text key) {
    static const char word[] = "numa";
    for (size_t i = 0; i + 4 <= key.len; i++) {
        size_t same = 0;
        while (same < 4 && ((unsigned char)key.ptr[i + same] | 0x20) == (unsigned char)word[same]) same++;
        if (same == 4) return true;
    }
    return false;
}

// What an attribute says of a NUMA node, without its name; false when it is none of those that could.
static bool read_numa(const struct device_attribute *attribute, struct shape_numa *ret_numa) {
    struct shape_numa numa = {.form = NUMA_NODE};
    const struct int64_list *ids = &attribute_lists(attribute)->ints;
    if (!may_name_numa(attribute->key)) return false;
    if (attribute->int_value.set)
        numa.id = attribute->int_value.value;
    else if (ids->count > 0)
        numa.id = ids->items[0];
    else
        numa.form = NUMA_NO_NODE;
    for (size_t i = 1; i < ids->count; i++)
        if (ids->items[i] < 0) numa.form = NUMA_LIST_WITH_NEGATIVE;
    *ret_numa = numa;
    return true;
}

// What Go writes is sorted, so each name is put in its place from the end. Of two with one name the first
// counts.
static void sort_mappings(struct source *source) {
    for (size_t i = 0; i < source->map->count; i++) {
        struct text key = source->map->items[i].key;
        size_t at = source->mapping_count;
        int order = 1;
        while (at > 0 && (order = text_compare(source->map->items[source->order[at - 1]].key, key)) > 0) at--;
        if (at > 0 && order == 0) continue;
        memmove(source->order + at + 1, source->order + at,
                (source->mapping_count - at) * sizeof *source->order);
        source->order[at] = i;
        source->mapping_count++;
    }
}

// The amount that one entry stands for. An absent multiplier of v1.36 is 1, as the API server fills it in.
static struct shape_mapping mapping_of(const struct source *source, size_t index) {
    const struct node_allocatable *entry = &source->map->items[source->order[index]];
    struct shape_mapping mapping = {.mapped = entry->mapping_set};
    bool by_capacity = entry->capacity_key.set && entry->capacity_key.value.len > 0;
    struct quantity one = quantity_from_int64(1, QUANTITY_DECIMAL_SI);
    if (source->minor < MINOR_WITH_OVERHEAD) {
        mapping.multiplier = entry->allocation_multiplier.set ? entry->allocation_multiplier : one;
        return mapping;
    }
    if (by_capacity) {
        mapping.multiplier = entry->capacity_multiplier.set ? entry->capacity_multiplier : one;
    } else {
        mapping.multiplier = entry->device_multiplier;
        mapping.mapped = mapping.mapped && entry->device_multiplier.set;
    }
    if (!entry->overhead_set) return mapping;
    mapping.per_pod = entry->per_pod;
    mapping.per_container = entry->per_container;
    return mapping;
}

static struct text capacity_key_of(const struct source *source, size_t index) {
    const struct opt_text *key = &source->map->items[source->order[index]].capacity_key;
    return key->set ? key->value : (struct text){NULL, 0};
}

// What goes into a digest, in pieces large enough that hashing them is cheap.
#define PILE_BYTES 512u
struct pile {
    uint64_t digest[2];
    size_t len;
    unsigned char bytes[PILE_BYTES];
};

static void pile_flush(struct pile *pile) {
    if (pile->len > 0) digest_bytes(pile->digest, pile->bytes, pile->len);
    pile->len = 0;
}

static void pile_bytes(struct pile *pile, const void *data, size_t len) {
    if (len > PILE_BYTES - pile->len) pile_flush(pile);
    if (len > PILE_BYTES) {
        digest_bytes(pile->digest, data, len);
        return;
    }
    if (len > 0) memcpy(pile->bytes + pile->len, data, len);
    pile->len += len;
}

static void pile_number(struct pile *pile, uint64_t number) {
    pile_bytes(pile, &number, sizeof number);
}

static void pile_text(struct pile *pile, struct text text) {
    pile_number(pile, text.len);
    pile_bytes(pile, text.ptr, text.len);
}

static void pile_quantity(struct pile *pile, struct quantity quantity) {
    uint64_t words[QUANTITY_WORDS];
    quantity_words(quantity, words);
    pile_bytes(pile, words, sizeof words);
}

// What the digest of a value leaves out and printing shows: trailing zeros, the form.
static void pile_spelling(struct pile *pile, struct quantity quantity) {
    pile_number(pile, (uint64_t)quantity.format << 32 | (uint64_t)(uint32_t)quantity.scale);
}

// The order of capacities does not count.
static uint64_t capacity_digest(const struct source *source) {
    uint64_t sum = 0;
    for (size_t i = 0; i < source->capacity_count; i++) {
        const struct device_capacity *capacity = &source->device->capacity.items[i];
        uint64_t digest[2] = {0, 0};
        digest_text(digest, capacity->key);
        digest_quantity(digest, capacity->value);
        sum += digest[0] | 1u;
    }
    return sum;
}

static void pile_numa(struct pile *pile, const struct device *device) {
    for (size_t i = 0; i < device->attributes.count; i++) {
        const struct device_attribute *attribute = &device->attributes.items[i];
        struct shape_numa numa;
        if (!read_numa(attribute, &numa)) continue;
        pile_text(pile, attribute->key);
        pile_number(pile, (uint64_t)numa.id);
        // The ordinary form adds nothing, so that digests that were written down once still hold.
        if (numa.form != NUMA_NODE) pile_number(pile, UINT64_MAX - (uint64_t)numa.form);
    }
}

static void digest_source(const struct source *source, uint64_t digest[2], uint64_t spelling[2]) {
    struct pile content = {.len = 0};
    struct pile spelled = {.len = 0};
    for (size_t i = 0; i < source->mapping_count; i++) {
        struct shape_mapping mapping = mapping_of(source, i);
        pile_text(&content, source->map->items[source->order[i]].key);
        pile_text(&content, capacity_key_of(source, i));
        pile_number(&content, mapping.mapped);
        const struct quantity parts[] = {mapping.multiplier, mapping.per_pod, mapping.per_container};
        for (size_t k = 0; k < 3; k++) {
            pile_quantity(&content, parts[k]);
            pile_spelling(&spelled, parts[k]);
        }
    }
    pile_number(&content, source->device->allow_multiple_allocations.value);
    pile_numa(&content, source->device);
    if (source->capacity_count > 0) pile_number(&spelled, capacity_digest(source));
    pile_flush(&content);
    pile_flush(&spelled);
    memcpy(digest, content.digest, sizeof content.digest);
    memcpy(spelling, spelled.digest, sizeof spelled.digest);
}

static size_t shape_bytes(const struct shape *shape) {
    return sizeof *shape + shape->mapping_count * sizeof *shape->mappings +
           shape->numa_count * sizeof *shape->numa + shape->capacity_count * sizeof *shape->capacities;
}

static void shape_free(struct shape_table *table, struct shape *shape) {
    for (size_t i = 0; i < shape->mapping_count; i++) {
        name_drop(table->names, shape->mappings[i].resource);
        name_drop(table->names, shape->mappings[i].capacity_key);
    }
    for (size_t i = 0; i < shape->numa_count; i++) name_drop(table->names, shape->numa[i].attribute);
    for (size_t i = 0; i < shape->capacity_count; i++) name_drop(table->names, shape->capacities[i].key);
    heap_free(table->index.heap, shape, shape_bytes(shape));
}

static bool fill_mappings(struct shape_table *table, const struct source *source,
                          struct shape_mapping *mappings) {
    for (size_t i = 0; i < source->mapping_count; i++) {
        struct text capacity_key = capacity_key_of(source, i);
        mappings[i] = mapping_of(source, i);
        mappings[i].multiplier = quantity_kept(mappings[i].multiplier);
        mappings[i].per_pod = quantity_kept(mappings[i].per_pod);
        mappings[i].per_container = quantity_kept(mappings[i].per_container);
        mappings[i].resource = name_take(table->names, source->map->items[source->order[i]].key);
        if (mappings[i].resource == NULL) return false;
        if (capacity_key.len == 0) continue;
        mappings[i].capacity_key = name_take(table->names, capacity_key);
        if (mappings[i].capacity_key == NULL) return false;
    }
    return true;
}

static bool fill_numa(struct shape_table *table, const struct source *source, struct shape *shape,
                      struct shape_numa *numa) {
    size_t at = 0;
    for (size_t i = 0; i < source->device->attributes.count; i++) {
        const struct device_attribute *attribute = &source->device->attributes.items[i];
        if (!read_numa(attribute, &numa[at])) continue;
        if (numa[at].form != NUMA_NODE || numa[at].id < 0 || numa[at].id != numa[0].id)
            shape->numa_doubtful = true;
        numa[at].attribute = name_take(table->names, attribute->key);
        if (numa[at++].attribute == NULL) return false;
    }
    return true;
}

static bool fill_capacities(struct shape_table *table, const struct source *source,
                            struct shape_capacity *capacities) {
    for (size_t i = 0; i < source->capacity_count; i++) {
        const struct device_capacity *capacity = &source->device->capacity.items[i];
        capacities[i].quantity = quantity_kept(capacity->value);
        capacities[i].key = name_take(table->names, capacity->key);
        if (capacities[i].key == NULL) return false;
    }
    return true;
}

static struct shape *shape_new(struct shape_table *table, const struct source *source) {
    struct shape sizes = {.mapping_count = source->mapping_count,
                          .numa_count = source->numa_count,
                          .capacity_count = source->capacity_count};
    struct shape *shape = heap_alloc(table->index.heap, shape_bytes(&sizes));
    if (shape == NULL) return NULL;
    struct shape_mapping *mappings = (struct shape_mapping *)(shape + 1);
    struct shape_capacity *capacities = (struct shape_capacity *)(mappings + source->mapping_count);
    struct shape_numa *numa = (struct shape_numa *)(capacities + source->capacity_count);
    *shape = (struct shape){.mapping_count = source->mapping_count,
                            .numa_count = source->numa_count,
                            .capacity_count = source->capacity_count,
                            .refs = 1,
                            .shareable = source->device->allow_multiple_allocations.value,
                            .mappings = mappings,
                            .numa = numa,
                            .capacities = capacities};
    if (fill_mappings(table, source, mappings) && fill_numa(table, source, shape, numa) &&
        fill_capacities(table, source, capacities) && index_reserve(&table->index))
        return shape;
    shape_free(table, shape);
    return NULL;
}

const struct quantity *shape_capacity(const struct shape *shape, const struct name *key) {
    for (size_t i = 0; i < shape->capacity_count; i++)
        if (shape->capacities[i].key == key) return &shape->capacities[i].quantity;
    return NULL;
}

bool shape_equal(const struct shape *a, const struct shape *b) {
    return a->digest[0] == b->digest[0] && a->digest[1] == b->digest[1];
}

static const struct shape *find_or_make(struct shape_table *table, const struct source *source) {
    uint64_t digest[2] = {0, 0};
    uint64_t spelling[2] = {0, 0};
    digest_source(source, digest, spelling);
    uint64_t hash = siphash(table->names->seed, digest, sizeof digest);
    for (struct link *link = index_first(&table->index, hash); link != NULL; link = index_next(link)) {
        const struct shape *shape = LINK_OWNER(link, struct shape, by_content);
        if (shape->digest[0] == digest[0] && shape->digest[1] == digest[1] && shape->spelling == spelling[0])
            return shape_share(shape);
    }
    struct shape *shape = shape_new(table, source);
    if (shape == NULL) return NULL;
    shape->digest[0] = digest[0];
    shape->digest[1] = digest[1];
    shape->spelling = spelling[0];
    index_insert(&table->index, &shape->by_content, hash);
    return shape;
}

const struct shape *shape_take(struct shape_table *table, const struct device *device, int minor) {
    struct source source = {.device = device, .minor = minor};
    source.map = minor < MINOR_WITH_OVERHEAD ? &device->mappings_v136 : &device->resources_v137;
    for (size_t i = 0; i < device->attributes.count; i++) {
        struct shape_numa numa;
        if (read_numa(&device->attributes.items[i], &numa)) source.numa_count++;
    }
    if (device->allow_multiple_allocations.value && source.map->count > 0)
        source.capacity_count = device->capacity.count;
    size_t bytes = source.map->count * sizeof *source.order;
    if (bytes > 0) {
        source.order = heap_alloc(table->index.heap, bytes);
        if (source.order == NULL) return NULL;
        sort_mappings(&source);
    }
    const struct shape *shape = find_or_make(table, &source);
    heap_free(table->index.heap, source.order, bytes);
    return shape;
}

const struct shape *shape_share(const struct shape *shape) {
    ((struct shape *)(uintptr_t)shape)->refs++;
    return shape;
}

void shape_drop(struct shape_table *table, const struct shape *shape) {
    if (shape == NULL) return;
    struct shape *held = (struct shape *)(uintptr_t)shape;
    if (--held->refs > 0) return;
    index_remove(&table->index, &held->by_content);
    shape_free(table, held);
}

// ---- NUMA

static const struct text built_in[] = {
    TEXT_INIT("resource.kubernetes.io/numaNode"),
    TEXT_INIT("numaNodeID"),
    TEXT_INIT("numaNode"),
    TEXT_INIT("dra.cpu/numaNodeID"),
};

static struct text without_domain(struct text key, struct text domain) {
    if (key.len <= domain.len || !text_starts_with(key, domain) || key.ptr[domain.len] != '/') return key;
    return text_slice(key, domain.len + 1, key.len);
}

bool shape_numa_node(const struct shape *shape, struct text driver, const struct text_list *spellings,
                     int64_t *ret_node) {
    bool own = spellings != NULL && spellings->count > 0;
    const struct text *wanted = own ? spellings->items : built_in;
    size_t count = own ? spellings->count : sizeof built_in / sizeof built_in[0];
    for (size_t i = 0; i < count; i++) {
        struct text spelling = without_domain(wanted[i], driver);
        for (size_t k = 0; k < shape->numa_count; k++) {
            if (shape->numa[k].form == NUMA_NO_NODE) continue;
            if (!text_equal(spelling, without_domain(shape->numa[k].attribute->text, driver))) continue;
            *ret_node = shape->numa[k].id;
            return true;
        }
    }
    return false;
}
