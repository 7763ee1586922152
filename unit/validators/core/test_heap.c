// SPDX-License-Identifier: Apache-2.0
#include "validators/core/heap.h"

#include <criterion/criterion.h>

Test(heap, counts_and_caps) {
    struct heap heap = {.cap_bytes = 100};
    char *a = heap_alloc(&heap, 60);
    cr_assert_not_null(a);
    cr_expect_eq(a[59], 0);
    cr_expect_null(heap_alloc(&heap, 41));
    cr_expect_eq(heap.used_bytes, 60);
    char *grown = heap_resize(&heap, a, 60, 100);
    cr_assert_not_null(grown);
    cr_expect_eq(grown[99], 0);
    cr_expect_null(heap_resize(&heap, grown, 100, 101));
    char *shrunk = heap_resize(&heap, grown, 100, 10);
    cr_assert_not_null(shrunk);
    cr_expect_eq(heap.used_bytes, 10);
    heap_free(&heap, shrunk, 10);
    heap_free(&heap, NULL, 10);
    cr_expect_eq(heap.used_bytes, 0);
    cr_expect_eq(heap.count, 0);
    char *fresh = heap_resize(&heap, NULL, 0, 5);
    cr_assert_not_null(fresh);
    heap_free(&heap, fresh, 5);
}

Test(heap, fails_the_allocation_that_a_test_names) {
    struct heap heap = {.fail_after = 2};
    char *a = heap_alloc(&heap, 8);
    cr_expect_not_null(a);
    cr_expect_null(heap_alloc(&heap, 8));
    cr_expect_eq(heap.count, 1);
    heap_free(&heap, a, 8);
}
