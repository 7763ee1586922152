// SPDX-License-Identifier: Apache-2.0
// One table of what is kept and what is left out; one walk over the text.
#include "server/ledger/prune.h"

#include "validators/core/json_scan.h"

#define DEPTH_LIMIT     10000u
#define UNESCAPE_FACTOR 3u
#define PATH_BYTES      64u

enum pruning_sense { KEEP_ONLY, LEAVE_OUT };

// What becomes of the members of the object at `path`; elements of lists are "[]". KIND_OTHER is every kind.
struct pruning {
    enum object_kind kind;
    const char *path;
    enum pruning_sense sense;
    const char *names; // parted by one blank
};

#define CONTAINER_SPEC   "name resources restartPolicy"
#define CONTAINER_STATUS "name allocatedResources resources"

static const struct pruning prunings[] = {
    {KIND_OTHER, ".metadata", LEAVE_OUT, "managedFields annotations selfLink"},
    {KIND_POD, ".spec", KEEP_ONLY,
     "nodeName schedulerName schedulingGates schedulingGroup resourceClaims initContainers containers "
     "overhead resources"},
    {KIND_POD, ".spec.containers[]", KEEP_ONLY, CONTAINER_SPEC},
    {KIND_POD, ".spec.initContainers[]", KEEP_ONLY, CONTAINER_SPEC},
    {KIND_POD, ".status", KEEP_ONLY,
     "phase conditions nominatedNodeName initContainerStatuses containerStatuses resourceClaimStatuses "
     "extendedResourceClaimStatus nodeAllocatableResourceClaimStatuses allocatedResources resources"},
    {KIND_POD, ".status.conditions[]", KEEP_ONLY, "type status reason"},
    {KIND_POD, ".status.containerStatuses[]", KEEP_ONLY, CONTAINER_STATUS},
    {KIND_POD, ".status.initContainerStatuses[]", KEEP_ONLY, CONTAINER_STATUS},
    {KIND_NODE, ".spec", KEEP_ONLY, "unschedulable"},
    {KIND_NODE, ".status", KEEP_ONLY, "capacity allocatable nodeInfo declaredFeatures"},
    {KIND_NODE, ".status.nodeInfo", KEEP_ONLY, "kubeletVersion"},
    {KIND_RESOURCE_CLAIM, ".spec.devices", LEAVE_OUT, "config"},
    {KIND_RESOURCE_CLAIM, ".status", LEAVE_OUT, "devices"},
    {KIND_RESOURCE_CLAIM, ".status.allocation.devices", LEAVE_OUT, "config"},
    {KIND_RESOURCE_CLAIM_TEMPLATE, ".spec.metadata", LEAVE_OUT, "annotations"},
    {KIND_RESOURCE_CLAIM_TEMPLATE, ".spec.spec.devices", LEAVE_OUT, "config"},
    {KIND_DEVICE_CLASS, ".spec", LEAVE_OUT, "config"},
    {KIND_NAMESPACE, "", KEEP_ONLY, "apiVersion kind metadata"},
};
#define PRUNING_COUNT (sizeof prunings / sizeof prunings[0])

struct walk {
    struct arena *arena;
    enum object_kind kind;
    char *out; // has room for the whole input
    size_t len;
    char path[PATH_BYTES];
    size_t path_len;
};

static void put(struct walk *walk, struct text text) {
    if (text.len > 0) memcpy(walk->out + walk->len, text.ptr, text.len);
    walk->len += text.len;
}

static struct text path_of(const struct walk *walk) {
    return (struct text){walk->path, walk->path_len};
}

static bool concerns(const struct walk *walk, const struct pruning *pruning) {
    return pruning->kind == KIND_OTHER || pruning->kind == walk->kind;
}

// Whether there is anything to cut at the path or below it.
static bool is_on_the_way(const struct walk *walk) {
    for (size_t i = 0; i < PRUNING_COUNT; i++)
        if (concerns(walk, &prunings[i]) && text_starts_with(text_of(prunings[i].path), path_of(walk)))
            return true;
    return false;
}

static bool has_word(const char *words, struct text name) {
    struct text all = text_of(words);
    for (size_t at = 0; at < all.len;) {
        size_t end = text_find(all, ' ', at);
        if (text_equal(text_slice(all, at, end), name)) return true;
        at = end + 1;
    }
    return false;
}

static bool is_kept(const struct walk *walk, struct text name) {
    for (size_t i = 0; i < PRUNING_COUNT; i++) {
        const struct pruning *pruning = &prunings[i];
        if (!concerns(walk, pruning) || !text_equal(text_of(pruning->path), path_of(walk))) continue;
        if (has_word(pruning->names, name) != (pruning->sense == KEEP_ONLY)) return false;
    }
    return true;
}

// Makes the path longer. False when it is longer than any that matters.
static bool path_push(struct walk *walk, struct text prefix, struct text name) {
    if (walk->path_len + prefix.len + name.len > PATH_BYTES) return false;
    memcpy(walk->path + walk->path_len, prefix.ptr, prefix.len);
    if (name.len > 0) memcpy(walk->path + walk->path_len + prefix.len, name.ptr, name.len);
    walk->path_len += prefix.len + name.len;
    return true;
}

static struct text key_between(struct walk *walk, const char *begin, const char *end) {
    struct text raw = {begin + 1, (size_t)(end - begin) - 2};
    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL) return raw;
    char *plain = arena_alloc(walk->arena, raw.len * UNESCAPE_FACTOR);
    return plain == NULL ? raw : (struct text){plain, json_unescape(raw, plain)};
}

static void prune_value(struct walk *walk, struct text value);

static void prune_below(struct walk *walk, struct text prefix, struct text name, struct text value) {
    size_t path_len = walk->path_len;
    if (path_push(walk, prefix, name) && is_on_the_way(walk))
        prune_value(walk, value);
    else
        put(walk, value);
    walk->path_len = path_len;
}

// The value at *at, which is well-formed: its bytes.
static struct text value_at(const char **at, const char *end) {
    const char *begin = json_scan_blanks(*at, end);
    *at = begin;
    if (json_scan_value(at, end, DEPTH_LIMIT) != JSON_FINE) *at = end;
    return (struct text){begin, (size_t)(*at - begin)};
}

static const char *past_comma(const char *at, const char *end) {
    at = json_scan_blanks(at, end);
    return at < end && *at == ',' ? json_scan_blanks(at + 1, end) : at;
}

static void prune_members(struct walk *walk, struct text object) {
    const char *end = object.ptr + object.len - 1;
    const char *at = json_scan_blanks(object.ptr + 1, end);
    bool first = true;
    put(walk, TEXT("{"));
    while (at < end) {
        struct text key = value_at(&at, end);
        struct text name = key_between(walk, key.ptr, key.ptr + key.len);
        at = json_scan_blanks(at, end);
        if (at < end) at++;
        struct text value = value_at(&at, end);
        at = past_comma(at, end);
        if (!is_kept(walk, name)) continue;
        if (!first) put(walk, TEXT(","));
        first = false;
        put(walk, key);
        put(walk, TEXT(":"));
        prune_below(walk, TEXT("."), name, value);
    }
    put(walk, TEXT("}"));
}

static void prune_elements(struct walk *walk, struct text array) {
    const char *end = array.ptr + array.len - 1;
    const char *at = json_scan_blanks(array.ptr + 1, end);
    bool first = true;
    put(walk, TEXT("["));
    while (at < end) {
        struct text value = value_at(&at, end);
        at = past_comma(at, end);
        if (!first) put(walk, TEXT(","));
        first = false;
        prune_below(walk, TEXT("[]"), TEXT(""), value);
    }
    put(walk, TEXT("]"));
}

// Recursion ends with the paths of the table.
static void prune_value(struct walk *walk, struct text value) {
    if (value.len > 1 && value.ptr[0] == '{')
        prune_members(walk, value);
    else if (value.len > 1 && value.ptr[0] == '[')
        prune_elements(walk, value);
    else
        put(walk, value);
}

struct text prune_object(struct arena *arena, enum object_kind kind, struct text json) {
    const struct text none = {NULL, 0};
    const char *at = json.ptr;
    const char *end = json.ptr + json.len;
    if (json.len == 0) return none;
    at = json_scan_blanks(at, end);
    struct text object = {at, 0};
    if (at == end || *at != '{' || json_scan_value(&at, end, DEPTH_LIMIT) != JSON_FINE) return none;
    object.len = (size_t)(at - object.ptr);
    if (json_scan_blanks(at, end) != end) return none;
    struct walk walk = {.arena = arena, .kind = kind, .out = arena_alloc(arena, object.len)};
    if (walk.out == NULL) return none;
    prune_value(&walk, object);
    return arena->poisoned ? none : (struct text){walk.out, walk.len};
}
