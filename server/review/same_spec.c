// SPDX-License-Identifier: Apache-2.0
// Order-insensitive comparison of JSON texts, without building a tree: members are listed as key and raw
// value, sorted by key, and compared pair by pair.
#include "server/review/same_spec.h"

#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "validators/core/json_reader.h"

// Each level reads its text once more, so the depth bounds the work: 32 × the size, and no spec of a kind
// that is judged is deeper outside its opaque parameters.
#define SAME_DEPTH_LIMIT 32u

struct member {
    struct text key;
    struct text value;
};
struct member_list {
    struct member *items;
    size_t count;
};

// What two texts of the same members have in common, whatever the order and the blanks.
struct tally {
    uint64_t sum; // over all bytes that are no blanks
    bool escapes; // a backslash is there: the same string may be spelled in two ways
};

static void tally_byte(struct tally *tally, unsigned char byte) {
    tally->sum += byte > ' ' ? (unsigned)(byte - ' ') : 0u;
    tally->escapes |= byte == '\\';
}

// Cheap, so that what has really changed is told apart in one pass.
static struct tally tally_of(struct text text) {
    struct tally tally = {.sum = 0};
    size_t at = 0;
#ifdef __SSE2__
    __m128i sums = _mm_setzero_si128();
    __m128i escapes = _mm_setzero_si128();
    for (; at + 16 <= text.len; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)(text.ptr + at));
        __m128i above = _mm_subs_epu8(bytes, _mm_set1_epi8(' '));
        sums = _mm_add_epi64(sums, _mm_sad_epu8(above, _mm_setzero_si128()));
        escapes = _mm_or_si128(escapes, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    }
    uint64_t halves[2];
    _mm_storeu_si128((__m128i_u *)(void *)halves, sums);
    tally.sum = halves[0] + halves[1];
    tally.escapes = _mm_movemask_epi8(escapes) != 0;
#endif
    for (; at < text.len; at++) tally_byte(&tally, (unsigned char)text.ptr[at]);
    return tally;
}

static int compare_members(const void *a, const void *b) {
    return text_compare(((const struct member *)a)->key, ((const struct member *)b)->key);
}

// The members of an object by key, or the elements of a list in order. False when they cannot be listed: a
// repeated key, too many keys, no memory.
static bool list_members(struct arena *arena, struct text json, enum json_type type,
                         struct member_list *ret_list) {
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    struct json_iterator iterator = {.open = false};
    struct text key = {NULL, 0};
    struct fault fault;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, json, arena, &findings, JSON_WIRE);
    while (type == JSON_OBJECT ? json_member(reader, &iterator, &key) : json_element(reader, &iterator)) {
        struct member member = {.key = key};
        if (!json_raw(reader, &member.value)) break;
        struct member *item = LIST_APPEND(arena, ret_list);
        if (item == NULL) return false;
        *item = member;
    }
    if (!json_finish(reader, &fault)) return false;
    if (type == JSON_OBJECT && ret_list->count > 1)
        qsort(ret_list->items, ret_list->count, sizeof *ret_list->items, compare_members);
    return true;
}

static enum json_type type_of(struct text json) {
    switch (json.len > 0 ? json.ptr[0] : '\0') {
    case '{': return JSON_OBJECT;
    case '[': return JSON_ARRAY;
    case '"': return JSON_STRING;
    default: return JSON_NUMBER; // numbers and words: only their bytes count
    }
}

static bool same_string(struct arena *arena, struct text a, struct text b) {
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, a, arena, &findings, JSON_WIRE);
    bool fine = json_text(reader, &texts[0]);
    json_init(reader, b, arena, &findings, JSON_WIRE);
    return fine && json_text(reader, &texts[1]) && text_equal(texts[0], texts[1]);
}

static bool same_value(struct arena *arena, struct text a, struct text b, unsigned depth) {
    if (text_equal(a, b)) return true;
    enum json_type type = type_of(a);
    if (type != type_of(b) || depth >= SAME_DEPTH_LIMIT) return false;
    if (type == JSON_STRING) return same_string(arena, a, b);
    if (type == JSON_NUMBER) return false;
    struct member_list of_a = {NULL, 0};
    struct member_list of_b = {NULL, 0};
    if (!list_members(arena, a, type, &of_a) || !list_members(arena, b, type, &of_b) ||
        of_a.count != of_b.count)
        return false;
    for (size_t i = 0; i < of_a.count; i++)
        if (!text_equal(of_a.items[i].key, of_b.items[i].key) ||
            !same_value(arena, of_a.items[i].value, of_b.items[i].value, depth + 1))
            return false;
    return true;
}

bool same_json(struct arena *arena, struct text a, struct text b) {
    if (text_equal(a, b)) return true;
    if (a.len == 0 || b.len == 0) return false;
    struct tally of_a = tally_of(a);
    struct tally of_b = tally_of(b);
    return (of_a.sum == of_b.sum || of_a.escapes || of_b.escapes) && same_value(arena, a, b, 0);
}
