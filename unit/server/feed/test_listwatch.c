// SPDX-License-Identifier: Apache-2.0
// What is asked after what, and what the store is told.
#include <criterion/criterion.h>

#include "server/feed/listwatch.h"

static struct listwatch lw;
static struct listwatch_request request;
static int64_t now_ms;

static void start(enum object_kind kind) {
    listwatch_init(&lw, feed_kind_of(kind), 7);
    now_ms = 1000000;
}

static bool asks(const char *words) {
    return strstr(request.path, words) != NULL;
}

static void expect_asked(void) {
    cr_assert(listwatch_next(&lw, now_ms, &request), "nothing is asked for another %lld ms",
              (long long)(lw.next_ms - now_ms));
}

static void expect_asked_later(int64_t least_ms, int64_t most_ms) {
    int64_t wait_ms = lw.next_ms - now_ms;
    cr_assert(wait_ms >= least_ms && wait_ms <= most_ms, "asked again in %lld ms", (long long)wait_ms);
    cr_assert_not(listwatch_next(&lw, lw.next_ms - 1, &request));
    now_ms = lw.next_ms;
    expect_asked();
}

static struct listwatch_step give(enum frame_type type, int64_t version) {
    const struct frame frame = {.type = type, .resource_version = version};
    return listwatch_frame(&lw, &frame, now_ms);
}

static struct listwatch_step give_end(int64_t version) {
    const struct frame frame = {.type = FRAME_BOOKMARK, .resource_version = version, .initial_end = true};
    return listwatch_frame(&lw, &frame, now_ms);
}

static void list_at(int64_t version) {
    expect_asked();
    cr_assert(give_end(version).ends_list);
}

Test(listwatch, stream) {
    start(KIND_POD);
    expect_asked();
    cr_expect(
        asks("/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&watch=1"));
    cr_expect(asks("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
    cr_expect(asks("&allowWatchBookmarks=true"));
    cr_expect_not(asks("resourceVersion="));
    cr_expect(request.begins_list && request.is_stream);
    cr_expect_not(listwatch_next(&lw, now_ms, &request), "one request at a time");
    struct listwatch_step step = give(FRAME_ADDED, 90);
    cr_expect(step.apply && step.alive && !step.ends_list && !step.stop);
    cr_expect_eq(lw.version, 0, "a list in progress is nothing to watch from");
    step = give(FRAME_BOOKMARK, 80);
    cr_expect(step.alive && !step.apply && !step.ends_list);
    step = give_end(100);
    cr_expect(step.apply && step.ends_list && step.alive && !step.stop);
    cr_expect(lw.synced);
    give(FRAME_MODIFIED, 101);
    give(FRAME_DELETED, 105);
    give(FRAME_BOOKMARK, 110);
    now_ms += 400000;
    cr_expect_not(listwatch_ended(&lw, WATCH_END_EOF, 0, now_ms), "no list is given up");
    expect_asked_later(0, 300);
    cr_expect(asks("&resourceVersion=110"));
    cr_expect_not(asks("sendInitialEvents"));
    cr_expect_not(request.begins_list);
    cr_expect_eq(request.silence_ms, LISTWATCH_SILENCE_MS);
}

Test(listwatch, a_watch_that_breaks_goes_on_where_it_was) {
    static const enum watch_end ends[] = {WATCH_END_CUT, WATCH_END_CONNECTION, WATCH_END_SERVER_ERROR,
                                          WATCH_END_UNAUTHORIZED, WATCH_END_FORBIDDEN};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        start(KIND_NODE);
        list_at(100);
        give(FRAME_ADDED, 120);
        listwatch_ended(&lw, ends[i], 0, now_ms);
        expect_asked_later(LISTWATCH_BACKOFF_MS / 2, LISTWATCH_BACKOFF_MS);
        cr_expect(asks("&resourceVersion=120") && !asks("sendInitialEvents"), "%s: %s",
                  watch_end_name(ends[i]), request.path);
    }
}

Test(listwatch, gone_in_the_stream_and_as_an_answer) {
    start(KIND_NODE);
    list_at(100);
    now_ms += 60000;
    const struct frame frame = {.type = FRAME_ERROR, .status = {.code = 410, .reason = TEXT("Expired")}};
    struct listwatch_step step = listwatch_frame(&lw, &frame, now_ms);
    cr_expect(step.stop && !step.apply);
    cr_expect_eq(step.end, WATCH_END_GONE);
    cr_expect_not(listwatch_ended(&lw, step.end, 0, now_ms));
    expect_asked_later(0, LISTWATCH_BACKOFF_MS);
    cr_expect(asks("sendInitialEvents=true") && !asks("resourceVersion="), "all is read anew: %s",
              request.path);
    cr_expect(request.begins_list);
    const struct frame_status status = {.code = 410};
    cr_expect_eq(listwatch_refusal(410, &status), WATCH_END_GONE);
    cr_expect(listwatch_ended(&lw, WATCH_END_GONE, 0, now_ms), "the list that began is given up");
    expect_asked_later(LISTWATCH_LIST_PACE_MS, 2 * LISTWATCH_LIST_PACE_MS);
}

Test(listwatch, an_older_list_never_replaces_a_newer_one) {
    start(KIND_RESOURCE_SLICE);
    list_at(2000);
    give(FRAME_ADDED, 2010);
    now_ms += 60000;
    listwatch_ended(&lw, WATCH_END_SILENT, 0, now_ms);
    now_ms = lw.next_ms;
    expect_asked();
    cr_expect(asks("&resourceVersion=2010") && asks("resourceVersionMatch=NotOlderThan"), "%s", request.path);
    struct listwatch_step step = give_end(1500);
    cr_expect(step.stop && !step.ends_list);
    cr_expect_eq(step.end, WATCH_END_OLDER);
    cr_expect(listwatch_ended(&lw, step.end, 0, now_ms));
    expect_asked_later(LISTWATCH_LIST_PACE_MS - 60000, 2 * LISTWATCH_LIST_PACE_MS);
    cr_expect(give_end(2010).ends_list);
    const struct frame_status behind = {.code = 504, .too_large = true};
    cr_expect_eq(listwatch_refusal(504, &behind), WATCH_END_OLDER);
}

// One end of a list that was older; the next one is asked for.
static void end_older(struct listwatch_step step) {
    cr_assert_eq(step.end, WATCH_END_OLDER);
    cr_assert(step.stop && !step.ends_list);
    listwatch_ended(&lw, WATCH_END_OLDER, 0, now_ms);
    now_ms = lw.next_ms;
    expect_asked();
}

Test(listwatch, a_store_that_was_put_back_is_told_from_a_server_that_lags) {
    start(KIND_NODE);
    list_at(2000);
    listwatch_ended(&lw, WATCH_END_SILENT, 0, now_ms + 100000);
    now_ms = lw.next_ms;
    expect_asked();
    // Servers that lag, and say so or not: they are asked again for what was seen.
    for (unsigned i = 0; i < LISTWATCH_OLDER_COUNT; i++) {
        cr_expect(asks("resourceVersion=2000"), "%s", request.path);
        struct listwatch_step step = give_end(1500);
        cr_expect_not(step.restored);
        end_older(step);
    }
    // Then the store itself is read. Once may be a fault of somebody's, twice is not.
    cr_expect_not(asks("resourceVersion=2000"), "%s", request.path);
    struct listwatch_step step = give_end(1500);
    cr_expect_not(step.restored);
    end_older(step);
    cr_expect_not(asks("resourceVersion=2000"), "%s", request.path);
    cr_expect(give_end(1501).restored);
}

Test(listwatch, servers_that_lag_for_long_and_then_no_more) {
    start(KIND_NODE);
    list_at(2000);
    listwatch_ended(&lw, WATCH_END_SILENT, 0, now_ms + 100000);
    now_ms = lw.next_ms;
    expect_asked();
    for (unsigned i = 0; i < LISTWATCH_OLDER_COUNT; i++) end_older(give_end(1500));
    end_older(give_end(1500));
    cr_expect(give_end(2000).ends_list);
    // All is forgotten: a single older read from the store later on is not the second one.
    now_ms += 20000;
    listwatch_ended(&lw, WATCH_END_GONE, 0, now_ms);
    now_ms = lw.next_ms;
    expect_asked();
    cr_expect_not(give_end(1500).restored);
}

Test(listwatch, a_watch_that_brings_what_is_older_is_a_reason_to_read_the_store) {
    start(KIND_NODE);
    list_at(2000);
    cr_expect_not(give(FRAME_MODIFIED, 2005).stop);
    cr_expect_not(give(FRAME_MODIFIED, 2005).stop, "twice the same is no older one");
    struct listwatch_step step = give(FRAME_MODIFIED, 1900);
    cr_expect(step.stop && !step.apply && !step.restored);
    cr_expect_eq(step.end, WATCH_END_OLDER);
    listwatch_ended(&lw, step.end, 0, now_ms);
    now_ms = lw.next_ms;
    expect_asked();
    cr_expect_not(asks("resourceVersion="), "%s", request.path);
    cr_expect(give_end(2010).ends_list);
    cr_expect_eq(give(FRAME_BOOKMARK, 1990).end, WATCH_END_OLDER);
}

Test(listwatch, pages_of_a_store_that_was_put_back) {
    start(KIND_RESOURCE_CLAIM);
    expect_asked();
    cr_expect(listwatch_ended(&lw, WATCH_END_REFUSED, 0, now_ms));
    expect_asked();
    const struct frame_list newer = {.resource_version = 300}, older = {.resource_version = 200};
    cr_expect(listwatch_page(&lw, &newer).ends_list);
    expect_asked();
    listwatch_ended(&lw, WATCH_END_GONE, 0, now_ms);
    now_ms = lw.next_ms;
    expect_asked();
    end_older(listwatch_page(&lw, &older));
    cr_expect(listwatch_page(&lw, &older).restored);
}

Test(listwatch, pages) {
    start(KIND_RESOURCE_CLAIM);
    expect_asked();
    cr_expect(listwatch_ended(&lw, WATCH_END_REFUSED, 0, now_ms));
    expect_asked();
    cr_expect(asks("/resourceclaims?&limit=500"), "%s", request.path);
    cr_expect(!request.is_stream && request.begins_list && !asks("watch="));
    struct frame_list page = {.resource_version = 300, .next = TEXT("a/b=")};
    struct listwatch_step step = listwatch_page(&lw, &page);
    cr_expect(step.alive && !step.ends_list && !step.stop);
    expect_asked();
    cr_expect(asks("&continue=a%2Fb%3D"), "%s", request.path);
    cr_expect_not(request.begins_list, "the same list goes on");
    page = (struct frame_list){.resource_version = 300};
    step = listwatch_page(&lw, &page);
    cr_expect(step.ends_list && !step.stop);
    expect_asked();
    cr_expect(asks("&watch=1") && asks("&resourceVersion=300") && !asks("sendInitialEvents"));
    // An expired token: the list starts again, from the first page.
    listwatch_ended(&lw, WATCH_END_GONE, 0, now_ms += 60000);
    now_ms = lw.next_ms;
    expect_asked();
    page = (struct frame_list){.resource_version = 310, .next = TEXT("c")};
    listwatch_page(&lw, &page);
    expect_asked();
    cr_expect(listwatch_ended(&lw, WATCH_END_GONE, 0, now_ms));
    now_ms = lw.next_ms;
    expect_asked();
    cr_expect(!asks("continue=") && request.begins_list);
    page = (struct frame_list){.resource_version = 200};
    step = listwatch_page(&lw, &page);
    cr_expect(step.stop);
    cr_expect_eq(step.end, WATCH_END_OLDER);
}

Test(listwatch, a_server_that_never_ends_its_streamed_list) {
    start(KIND_NODE);
    expect_asked();
    give(FRAME_ADDED, 5);
    cr_expect_eq(request.silence_ms, LISTWATCH_LIST_SILENCE_MS);
    now_ms += request.silence_ms;
    cr_expect(listwatch_ended(&lw, WATCH_END_SILENT, 0, now_ms));
    expect_asked();
    cr_expect(asks("&limit="));
}

Test(listwatch, backoff_and_retry_after) {
    start(KIND_NODE);
    int64_t last_ms = 0;
    for (int i = 0; i < 12; i++) {
        expect_asked();
        cr_expect(listwatch_ended(&lw, WATCH_END_SERVER_ERROR, 0, now_ms));
        int64_t wait_ms = lw.next_ms - now_ms;
        cr_expect_geq(wait_ms, LISTWATCH_LIST_PACE_MS, "one list in 5 s");
        cr_expect_leq(wait_ms, LISTWATCH_BACKOFF_MOST_MS);
        last_ms = wait_ms;
        now_ms = lw.next_ms;
    }
    cr_expect_geq(last_ms, LISTWATCH_BACKOFF_MOST_MS / 2);
    expect_asked();
    listwatch_ended(&lw, WATCH_END_THROTTLED, 60, now_ms);
    cr_expect_geq(lw.next_ms - now_ms, 60000);
    now_ms = lw.next_ms;
    expect_asked();
    listwatch_ended(&lw, WATCH_END_THROTTLED, 100000, now_ms);
    cr_expect_leq(lw.next_ms - now_ms, LISTWATCH_RETRY_MOST_S * 1000 + LISTWATCH_BACKOFF_MOST_MS);
    now_ms = lw.next_ms;
    // What began anew and holds is forgiven.
    expect_asked();
    cr_assert(give_end(10).ends_list);
    listwatch_ended(&lw, WATCH_END_CUT, 0, now_ms);
    cr_expect_leq(lw.next_ms - now_ms, LISTWATCH_BACKOFF_MS);
}

Test(listwatch, what_is_heard_again_is_forgiven_soon) {
    start(KIND_NODE);
    list_at(100);
    for (int i = 0; i < 8; i++) {
        listwatch_ended(&lw, WATCH_END_SERVER_ERROR, 0, now_ms);
        now_ms = lw.next_ms;
        expect_asked();
    }
    cr_expect_gt(lw.failures, 5);
    give(FRAME_BOOKMARK, 110);
    listwatch_ended(&lw, WATCH_END_EOF, 0, now_ms);
    cr_expect_leq(lw.next_ms - now_ms, 2 * LISTWATCH_BACKOFF_MS);
}

Test(listwatch, a_server_that_is_down_is_asked_often) {
    start(KIND_NODE);
    for (int i = 0; i < 20; i++) {
        expect_asked();
        listwatch_ended(&lw, WATCH_END_CONNECTION, 0, now_ms);
        cr_expect_leq(lw.next_ms - now_ms, LISTWATCH_CONNECT_MOST_MS);
        now_ms = lw.next_ms;
    }
}

Test(listwatch, replicas_do_not_move_in_step) {
    struct listwatch other;
    start(KIND_NODE);
    listwatch_init(&other, feed_kind_of(KIND_NODE), 8);
    size_t same = 0;
    for (int i = 0; i < 10; i++) {
        expect_asked();
        listwatch_next(&other, other.next_ms, &request);
        listwatch_ended(&lw, WATCH_END_SERVER_ERROR, 0, now_ms);
        listwatch_ended(&other, WATCH_END_SERVER_ERROR, 0, now_ms);
        same += lw.next_ms == other.next_ms;
        now_ms = lw.next_ms > other.next_ms ? lw.next_ms : other.next_ms;
    }
    cr_expect_leq(same, 2);
}

Test(listwatch, kinds_that_are_not_served) {
    start(KIND_LEDGER_POLICY);
    expect_asked();
    listwatch_ended(&lw, WATCH_END_NOT_SERVED, 0, now_ms);
    cr_expect(lw.absent);
    expect_asked_later(LISTWATCH_ABSENT_MS, LISTWATCH_ABSENT_MS);
    cr_assert(give_end(10).ends_list);
    cr_expect_not(lw.absent);
    start(KIND_DEVICE_TAINT_RULE);
    expect_asked();
    cr_expect(asks("/apis/resource.k8s.io/v1/devicetaintrules?"));
    listwatch_ended(&lw, WATCH_END_NOT_SERVED, 0, now_ms);
    cr_expect_not(lw.absent, "an older version may be served");
    expect_asked();
    cr_expect(asks("/apis/resource.k8s.io/v1beta2/devicetaintrules?"), "%s", request.path);
    listwatch_ended(&lw, WATCH_END_NOT_SERVED, 0, now_ms);
    cr_expect(lw.absent);
    expect_asked_later(LISTWATCH_ABSENT_MS, LISTWATCH_ABSENT_MS);
    cr_expect(asks("/apis/resource.k8s.io/v1/devicetaintrules?"));
    start(KIND_POD);
    expect_asked();
    listwatch_ended(&lw, WATCH_END_NOT_SERVED, 0, now_ms);
    cr_expect_not(lw.absent, "without Pods there is nothing to follow");
}

Test(listwatch, what_cannot_be_read_is_listed_again) {
    static const enum watch_end ends[] = {WATCH_END_DECODE, WATCH_END_LIMIT, WATCH_END_MEMORY};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        start(KIND_NODE);
        list_at(100);
        listwatch_ended(&lw, ends[i], 0, now_ms);
        now_ms = lw.next_ms;
        expect_asked();
        cr_expect(request.begins_list && asks("&resourceVersion=100") && asks("sendInitialEvents"));
    }
    start(KIND_NODE);
    list_at(100);
    struct listwatch_step step = give(FRAME_UNKNOWN, 0);
    cr_expect(step.stop && step.end == WATCH_END_DECODE);
}

Test(listwatch, leases_of_nodes_alone) {
    start(KIND_LEASE);
    expect_asked();
    cr_expect(asks("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases?"), "%s", request.path);
}

Test(listwatch, refusals) {
    const struct frame_status none = {.code = 0};
    cr_expect_eq(listwatch_refusal(401, &none), WATCH_END_UNAUTHORIZED);
    cr_expect_eq(listwatch_refusal(403, &none), WATCH_END_FORBIDDEN);
    cr_expect_eq(listwatch_refusal(404, &none), WATCH_END_NOT_SERVED);
    cr_expect_eq(listwatch_refusal(429, &none), WATCH_END_THROTTLED);
    cr_expect_eq(listwatch_refusal(422, &none), WATCH_END_REFUSED);
    cr_expect_eq(listwatch_refusal(503, &none), WATCH_END_SERVER_ERROR);
    cr_expect_eq(listwatch_refusal(302, &none), WATCH_END_DECODE, "redirects are not followed");
    for (int end = 0; end < WATCH_END_COUNT; end++) cr_expect_not_null(watch_end_name((enum watch_end)end));
}
