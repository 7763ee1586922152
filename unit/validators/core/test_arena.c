// SPDX-License-Identifier: Apache-2.0
#include "validators/core/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

struct numbers {
    uint32_t *items;
    size_t count;
};

Test(arena, hands_out_aligned_memory_until_the_cap) {
    struct arena arena;
    arena_init(&arena, 100000);
    size_t taken = 0;
    for (size_t size = 1; arena_alloc(&arena, size) != NULL; size = size % 97 + 1) taken += size;
    cr_expect(taken > 50000 && taken < 100000, "%zu", taken);
    cr_expect(arena.poisoned);
    cr_expect_null(arena_alloc(&arena, 1), "the poison stays");
    arena_clear(&arena);
    char *memory = arena_alloc(&arena, 40);
    cr_assert_not_null(memory);
    cr_expect_eq((uintptr_t)memory % 16, 0);
    arena_release(&arena);
    arena_release(NULL);
}

Test(arena, refuses_sizes_that_overflow) {
    struct arena arena;
    arena_init(&arena, (size_t)1 << 40);
    cr_expect_null(arena_alloc(&arena, SIZE_MAX - 3));
    arena_clear(&arena);
    cr_expect_null(arena_zalloc(&arena, SIZE_MAX / 2, 3));
    arena_clear(&arena);
    struct numbers list = {0};
    cr_expect_null(arena_append(&arena, &list.items, &list.count, SIZE_MAX - 3));
    arena_release(&arena);
}

Test(arena, lists_keep_their_items_while_they_grow) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct numbers list = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *item = LIST_APPEND(&arena, &list);
        cr_assert_not_null(item);
        cr_expect_eq(*item, 0, "a new item is zeroed");
        *item = i;
    }
    cr_expect_eq(list.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) cr_expect_eq(list.items[i], i);
    arena.fail_after = 1;
    while (LIST_APPEND(&arena, &list) != NULL) continue;
    cr_expect_eq(list.count, 1024, "a failed append leaves the list as it was");
    cr_expect_null(LIST_APPEND(&arena, &list));
    arena_release(&arena);
}

Test(arena, gives_large_chunks_back_when_cleared) {
    struct arena arena;
    arena_init(&arena, 64u << 20);
    cr_assert_not_null(arena_alloc(&arena, 8u << 20));
    arena_clear(&arena);
    cr_expect(arena.used_bytes < 8u << 20);
    arena_release(&arena);
}

Test(arena, fails_the_allocation_that_a_test_names) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    arena.fail_after = 3;
    cr_expect_not_null(arena_alloc(&arena, 8));
    cr_expect_not_null(arena_alloc(&arena, 8));
    cr_expect_null(arena_alloc(&arena, 8));
    cr_expect_null(arena_alloc(&arena, 8));
    arena_release(&arena);
}
