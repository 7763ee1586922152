// SPDX-License-Identifier: Apache-2.0
// Memory that is used again.
#include <criterion/criterion.h>

#include "server/http/workspace.h"

Test(workspace, requests_are_used_again_and_hold_any_body) {
    struct workspace workspace;
    cr_assert(workspace_init(&workspace, 2, 1u << 20, 4096));
    static const size_t sizes[] = {0, 1, 8192, 8193, 65536, 262144, 262145, 8u << 20, 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct request *request = request_take(&workspace, sizes[i]);
        cr_assert_not_null(request);
        cr_expect_geq(request->cap_bytes, sizes[i]);
        cr_expect_eq(request->length_bytes, sizes[i]);
        cr_expect_eq(request->read_bytes, 0);
        cr_expect_not(request->answered);
        memset(request->body, 'x', request->cap_bytes);
        request->read_bytes = sizes[i];
        request->answered = true;
        request_give(&workspace, request);
    }
    cr_expect_eq(workspace.free_count, 1, "one after the other needs one");
    cr_expect(atomic_load(&workspace.large_freed), "8 MiB are worth giving back");
    workspace_release(&workspace);
}

Test(workspace, few_requests_are_kept) {
    struct workspace workspace;
    struct request *requests[100];
    cr_assert(workspace_init(&workspace, 1, 1u << 20, 4096));
    for (size_t i = 0; i < 100; i++) requests[i] = request_take(&workspace, 100);
    for (size_t i = 0; i < 100; i++) request_give(&workspace, requests[i]);
    cr_expect_leq(workspace.free_count, 32);
    workspace_release(&workspace);
}

Test(workspace, the_answer_takes_the_place_of_the_body) {
    struct workspace workspace;
    static char answer[100000];
    cr_assert(workspace_init(&workspace, 1, 1u << 20, 4096));
    struct request *request = request_take(&workspace, 10);
    memset(answer, 'a', sizeof answer);
    cr_assert(request_keep_answer(request, (struct text){answer, 20}));
    cr_assert(request_keep_answer(request, (struct text){answer, sizeof answer}), "also when it is longer");
    cr_expect_eq(memcmp(request->body, answer, sizeof answer), 0);
    request_give(&workspace, request);
    workspace_release(&workspace);
}

Test(workspace, benches_are_as_many_as_threads_and_tell_how_long_they_are_busy) {
    struct workspace workspace;
    cr_assert(workspace_init(&workspace, 2, 1u << 20, 4096));
    struct bench *first = bench_take(&workspace, 1000);
    struct bench *second = bench_take(&workspace, 3000);
    cr_assert(first != NULL && second != NULL && first != second);
    cr_expect_null(bench_take(&workspace, 3000));
    cr_expect_eq(workspace_busy_ms(&workspace, 5000), 4000);
    cr_expect_not_null(arena_alloc(&first->arena, 1000));
    first->arena.poisoned = true;
    bench_give(&workspace, first);
    cr_expect_eq(workspace_busy_ms(&workspace, 5000), 2000);
    first = bench_take(&workspace, 6000);
    cr_assert_not_null(first);
    cr_expect_not(first->arena.poisoned, "each review begins with a clean arena");
    bench_give(&workspace, first);
    bench_give(&workspace, second);
    cr_expect_eq(workspace_busy_ms(&workspace, 9000), 0);
    workspace_release(&workspace);
}
