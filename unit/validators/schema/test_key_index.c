// SPDX-License-Identifier: Apache-2.0
// The sorted index of texts.
#include <criterion/criterion.h>

#include "validators/schema/key_index.h"

#define CAP_BYTES ((size_t)16 << 20)

Test(key_index, finds_the_first_and_the_last_of_equal_keys) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    const char *const keys[] = {"b", "a", "c", "a", "", "b", "a"};
    struct key_index index;
    key_index_init(&index, &arena, 7);
    for (size_t i = 0; i < 7; i++) key_index_add(&index, 0, text_of(keys[i]), i);
    key_index_sort(&index, &arena);
    cr_assert_eq(key_index_first(&index, 0, TEXT("a")), 1);
    cr_assert_eq(key_index_last(&index, 0, TEXT("a")), 6);
    cr_assert_eq(key_index_first(&index, 0, TEXT("b")), 0);
    cr_assert_eq(key_index_last(&index, 0, TEXT("b")), 5);
    cr_assert_eq(key_index_first(&index, 0, TEXT("")), 4);
    cr_assert_eq(key_index_last(&index, 0, TEXT("")), 4);
    cr_assert_eq(key_index_last(&index, 0, TEXT("c")), 2);
    cr_assert_eq(key_index_first(&index, 0, TEXT("ab")), KEY_INDEX_NONE);
    cr_assert_eq(key_index_last(&index, 0, TEXT("d")), KEY_INDEX_NONE);
    cr_assert_eq(key_index_last(&index, 1, TEXT("a")), KEY_INDEX_NONE);
    arena_release(&arena);
}

Test(key_index, keeps_groups_apart) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    struct key_index index;
    key_index_init(&index, &arena, 3);
    key_index_add(&index, 2, TEXT("a"), 7);
    key_index_add(&index, 1, TEXT("a"), 8);
    key_index_add(&index, 2, TEXT("b"), 9);
    key_index_sort(&index, &arena);
    cr_assert_eq(key_index_first(&index, 1, TEXT("a")), 8);
    cr_assert_eq(key_index_first(&index, 2, TEXT("a")), 7);
    cr_assert_eq(key_index_first(&index, 1, TEXT("b")), KEY_INDEX_NONE);
    arena_release(&arena);
}

Test(key_index, sorts_many) {
    enum { COUNT = 5000 };
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    struct key_index index;
    key_index_init(&index, &arena, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        key_index_add(&index, 0, text_format(&arena, "%zu", i * 7919 % COUNT), i);
    key_index_sort(&index, &arena);
    for (size_t i = 0; i < COUNT; i++)
        cr_assert_eq(key_index_first(&index, 0, text_format(&arena, "%zu", i * 7919 % COUNT)), i);
    arena_release(&arena);
}

Test(key_index, empty_and_full) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    struct key_index index;
    key_index_init(&index, &arena, 0);
    key_index_add(&index, 0, TEXT("a"), 0);
    key_index_sort(&index, &arena);
    cr_assert_eq(key_index_first(&index, 0, TEXT("a")), KEY_INDEX_NONE);
    cr_assert_eq(key_index_last(&index, 0, TEXT("a")), KEY_INDEX_NONE);
    key_index_init(&index, &arena, 1);
    key_index_add(&index, 0, TEXT("a"), 0);
    key_index_add(&index, 0, TEXT("b"), 1);
    key_index_sort(&index, &arena);
    cr_assert_eq(key_index_first(&index, 0, TEXT("b")), KEY_INDEX_NONE);
    arena_release(&arena);
}

Test(key_index, composed_keys_differ_when_a_part_does) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    const struct text a[] = {TEXT("a"), TEXT("bc")};
    const struct text b[] = {TEXT("ab"), TEXT("c")};
    cr_assert(text_equal(key_compose(&arena, a, 2), key_compose(&arena, a, 2)));
    cr_assert_not(text_equal(key_compose(&arena, a, 2), key_compose(&arena, b, 2)));
    cr_assert_not(text_equal(key_compose(&arena, a, 1), key_compose(&arena, a, 2)));
    arena_release(&arena);
}

Test(key_index, tells_whether_a_key_is_repeated) {
    static const struct {
        const char *keys[3];
        bool repeated;
    } cases[] = {{{"a", "b", "c"}, false}, {{"c", "a", "b"}, false}, {{"a", "a", "b"}, true},
                 {{"b", "a", "b"}, true},  {{"c", "b", "a"}, false}, {{"a", "", ""}, true}};
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct key_index index;
        key_index_init(&index, &arena, 3);
        for (size_t j = 0; j < 3; j++) key_index_add(&index, 0, text_of(cases[i].keys[j]), j);
        key_index_sort(&index, &arena);
        cr_expect_eq(index.repeated, cases[i].repeated, "case %zu", i);
        for (size_t j = 0; j < 3; j++)
            cr_expect_leq(key_index_first(&index, 0, text_of(cases[i].keys[j])), j, "case %zu", i);
    }
    // The same key in two groups is two keys.
    struct key_index index;
    key_index_init(&index, &arena, 2);
    key_index_add(&index, 1, TEXT("a"), 0);
    key_index_add(&index, 0, TEXT("a"), 1);
    key_index_sort(&index, &arena);
    cr_expect_not(index.repeated);
    arena_release(&arena);
}

Test(key_index, without_memory_nothing_is_found_and_the_arena_tells) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    struct key_index index;
    key_index_init(&index, &arena, 2);
    key_index_add(&index, 0, TEXT("b"), 0);
    key_index_add(&index, 0, TEXT("a"), 1);
    arena.fail_after = 1;
    key_index_sort(&index, &arena);
    cr_assert(arena.poisoned);
    cr_assert_eq(key_index_first(&index, 0, TEXT("a")), KEY_INDEX_NONE);
    key_index_init(&index, &arena, 2);
    cr_assert_eq(index.capacity, 0);
    const struct text parts[] = {TEXT("a")};
    cr_assert_eq(key_compose(&arena, parts, 1).len, 0);
    arena_release(&arena);
}
