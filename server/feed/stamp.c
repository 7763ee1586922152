// SPDX-License-Identifier: Apache-2.0
// Cutting metadata out of the text and putting it back.
#include "server/feed/stamp.h"

#include "validators/core/json_scan.h"

#define DEPTH_LIMIT     10000u
#define VERSION_BYTES   32u
#define UNESCAPE_FACTOR 3u

// Bytes gathered in memory of the arena that is known to be enough.
struct gathered {
    char *ptr;
    size_t len;
};

static void put(struct gathered *out, struct text text) {
    if (text.len > 0) memcpy(out->ptr + out->len, text.ptr, text.len);
    out->len += text.len;
}

// One member of an object: from its key to the end of its value.
struct member {
    struct text name;
    struct text whole;
    struct text value;
};

static struct text inside(struct arena *arena, const char *begin, const char *end) {
    struct text raw = {begin + 1, (size_t)(end - begin) - 2};
    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL) return raw;
    char *out = arena_alloc(arena, raw.len * UNESCAPE_FACTOR);
    return out == NULL ? raw : (struct text){out, json_unescape(raw, out)};
}

// The next member at *at, which stands behind the brace or behind a member. False at the end.
static bool next_member(struct arena *arena, const char **at, const char *end, struct member *ret) {
    const char *here = json_scan_blanks(*at, end);
    if (here < end && *here == ',') here = json_scan_blanks(here + 1, end);
    if (here == end || *here != '"') return false;
    const char *key = here;
    if (json_scan_value(&here, end, DEPTH_LIMIT) != JSON_FINE) return false;
    struct text name = inside(arena, key, here);
    here = json_scan_blanks(here, end);
    if (here == end || *here != ':') return false;
    const char *value = json_scan_blanks(here + 1, end);
    here = value;
    if (json_scan_value(&here, end, DEPTH_LIMIT) != JSON_FINE) return false;
    *ret = (struct member){
        .name = name, .whole = {key, (size_t)(here - key)}, .value = {value, (size_t)(here - value)}};
    *at = here;
    return true;
}

static bool is_object(struct text text) {
    return text.len > 1 && text.ptr[0] == '{';
}

static bool is_stamped(struct text name) {
    return text_equal(name, TEXT("uid")) || text_equal(name, TEXT("resourceVersion")) ||
           text_equal(name, TEXT("namespace"));
}

static void put_metadata(struct arena *arena, struct gathered *out, struct text metadata,
                         const struct stamp *stamp) {
    // UIDs and namespaces were checked to be plain, so they need no escapes.
    struct text head = text_format(arena, "{\"uid\":\"%.*s\",\"resourceVersion\":\"%lld\"",
                                   TEXT_ARG(stamp->uid), (long long)stamp->resource_version);
    put(out, head);
    if (stamp->namespace.len > 0)
        put(out, text_format(arena, ",\"namespace\":\"%.*s\"", TEXT_ARG(stamp->namespace)));
    const char *at = metadata.ptr + 1;
    struct member member;
    while (next_member(arena, &at, metadata.ptr + metadata.len, &member)) {
        if (is_stamped(member.name)) continue;
        put(out, TEXT(","));
        put(out, member.whole);
    }
    put(out, TEXT("}"));
}

struct text stamp_object(struct arena *arena, struct text json, const struct stamp *stamp) {
    const struct text none = {NULL, 0};
    json = text_slice(json, (size_t)(json_scan_blanks(json.ptr, json.ptr + json.len) - json.ptr), json.len);
    if (!is_object(json)) return none;
    size_t room_bytes = json.len + stamp->uid.len + stamp->namespace.len + 3 * VERSION_BYTES;
    struct gathered out = {.ptr = arena_alloc(arena, room_bytes)};
    if (out.ptr == NULL) return none;
    const char *at = json.ptr + 1;
    struct member member;
    bool found = false;
    put(&out, TEXT("{"));
    for (bool first = true; next_member(arena, &at, json.ptr + json.len, &member); first = false) {
        if (!first) put(&out, TEXT(","));
        if (!text_equal(member.name, TEXT("metadata")) || !is_object(member.value) || found) {
            put(&out, member.whole);
            continue;
        }
        found = true;
        put(&out, TEXT("\"metadata\":"));
        put_metadata(arena, &out, member.value, stamp);
    }
    put(&out, TEXT("}"));
    return found && !arena->poisoned ? (struct text){out.ptr, out.len} : none;
}
