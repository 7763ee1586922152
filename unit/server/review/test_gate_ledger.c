// SPDX-License-Identifier: Apache-2.0
// The gate over a real store: two writes of one device at the same instant, and waiting before a denial that
// the cache's lag could explain.
#include <criterion/criterion.h>
#include <pthread.h>

#include "server/review/gate_ledger.h"
#include "server/review/judge.h"

#define ARENA_BYTES ((size_t)16 << 20)
#define PAIRS       200u
#define BODY_PATTERN                                                                                         \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"                                       \
    "v1\",\"request\":{\"uid\":\"u\",\"kind\":{"                                                             \
    "\"group\":\"resource.k8s.io\",\"version\":\"v1\",\"kind\":\"ResourceClaim\"},\"resource\":{\"group\":"  \
    "\"resource.k8s.io\",\"version\":\"v1\",\"resource\":\"resourceclaims\"},\"subResource\":\"status\","    \
    "\"name\":\"%s\",\"namespace\":\"team\",\"operation\":\"UPDATE\",\"userInfo\":{\"username\":\"s\"},"     \
    "\"object\":{\"metadata\":{\"name\":\"%s\",\"namespace\":\"team\",\"uid\":\"%s\",\"resourceVersion\":"   \
    "\"1\"},"                                                                                                \
    "\"spec\":{},\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\"," \
    "\"pool\":\"p\",\"device\":\"dev-%u\"}]}}}},\"oldObject\":{\"metadata\":{\"name\":\"%s\",\"namespace\":" \
    "\"team\",\"uid\":\"%s\",\"resourceVersion\":\"1\"},\"spec\":{}},\"dryRun\":false}}"

static struct store *store_with_lists(void) {
    struct ledger_options options = {.minor = MINOR_36, .seed = {3, 4}};
    struct fault fault;
    struct store *store = store_new(&options, &fault);
    cr_assert_not_null(store);
    for (int kind = KIND_RESOURCE_SLICE; kind <= KIND_NODE_LEDGER; kind++) {
        store_list_begin(store, (enum object_kind)kind);
        store_list_end(store, (enum object_kind)kind);
        store_watch_alive(store, (enum object_kind)kind);
    }
    return store;
}

static bool ask(const struct judge *judge, struct arena *arena, const char *uid, unsigned device) {
    static _Thread_local char bytes[RESPONSE_BYTES];
    static _Thread_local struct judgement judgement;
    struct out out = out_of(bytes, sizeof bytes);
    struct text body = text_format(arena, BODY_PATTERN, uid, uid, uid, device, uid, uid);
    review_judge(judge, PATH_VALIDATE, body, arena, &out, &judgement);
    cr_assert_eq(judgement.http_status, 200);
    return judgement.answer_allowed;
}

struct racer {
    const struct judge *judge;
    const char *uid;
    pthread_barrier_t *barrier;
    bool allowed[PAIRS];
};

static void *race(void *argument) {
    struct racer *racer = argument;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    for (unsigned i = 0; i < PAIRS; i++) {
        char uid[32];
        snprintf(uid, sizeof uid, "%s-%u", racer->uid, i);
        arena_clear(&arena);
        pthread_barrier_wait(racer->barrier);
        racer->allowed[i] = ask(racer->judge, &arena, uid, i);
    }
    arena_release(&arena);
    return NULL;
}

// kubernetes/kubernetes pull request 136269: one of the two, always.
Test(gate_ledger, of_two_at_once_one_gets_the_device, .timeout = 120) {
    struct store *store = store_with_lists();
    struct gate_store door = gate_store_of(store);
    door.wait = NULL; // the device stays held: there is nothing to wait for
    static struct judge judge;
    judge.gate = (struct gate){.minor = MINOR_36, .store = &door};
    pthread_barrier_t barrier;
    pthread_t threads[2];
    static struct racer racers[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < 2; i++) {
        racers[i] = (struct racer){.judge = &judge, .uid = i == 0 ? "a" : "b", .barrier = &barrier};
        cr_assert_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < PAIRS; i++)
        cr_assert_neq(racers[0].allowed[i], racers[1].allowed[i], "device %u", i);
    pthread_barrier_destroy(&barrier);
    store_free(store);
}

struct lagging {
    struct ledger *ledger;
    unsigned waits;
    unsigned comes_after; // so many pauses, what was missing comes; 0: never
    // Asked while somebody waits.
    const struct judge *judge;
    const char *second;
    bool second_allowed;
};

static void look(void *state, void (*run)(const struct view *view, void *context), void *context) {
    struct lagging *lagging = state;
    struct view view = ledger_view(lagging->ledger);
    run(&view, context);
}

static bool judge_body(const struct judge *judge, const char *body);

static bool wait_a_little(void *state, enum object_kind kind, int64_t version, int wait_ms) {
    struct lagging *lagging = state;
    cr_assert_leq(wait_ms, 200);
    bool is_first_of_claim = kind == KIND_RESOURCE_CLAIM && lagging->waits == 0;
    if (lagging->judge == NULL)
        cr_expect_eq(version, is_first_of_claim ? 1 : INT64_MAX, "the version of the old object, once");
    lagging->waits++;
    if (lagging->second != NULL) {
        const char *second = lagging->second;
        lagging->second = NULL;
        lagging->second_allowed = judge_body(lagging->judge, second);
    }
    if (lagging->waits != lagging->comes_after) return is_first_of_claim;
    // The other claim is released, the other slice deleted.
    for (int gone = KIND_RESOURCE_SLICE; gone <= KIND_RESOURCE_CLAIM; gone++) {
        ledger_list_begin(lagging->ledger, (enum object_kind)gone);
        ledger_list_end(lagging->ledger, (enum object_kind)gone);
    }
    return true;
}

static struct ledger *ledger_with_holder(struct arena *arena) {
    struct ledger_options options = {.minor = MINOR_36, .seed = {5, 6}};
    struct fault fault;
    struct ledger *ledger = ledger_new(&options, &fault);
    struct text json = text_format(
        arena,
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"h\","
        "\"namespace\":\"team\",\"uid\":\"h\"},\"spec\":{},\"status\":{\"allocation\":{\"devices\":{"
        "\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"dev-0\"}]}}}}");
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    struct decode_options how = {JSON_WIRE, MINOR_36};
    struct finding_list findings;
    finding_list_init(&findings, arena);
    cr_assert(decode_object(arena, json, &how, object, &findings, &fault));
    for (int kind = KIND_RESOURCE_SLICE; kind <= KIND_NODE_LEDGER; kind++) {
        ledger_list_begin(ledger, (enum object_kind)kind);
        struct ledger_event event = {.type = EVENT_ADDED, .object = object, .resource_version = 2};
        if (kind == KIND_RESOURCE_CLAIM) cr_assert_eq(ledger_apply(ledger, &event, &fault), LEDGER_APPLIED);
        ledger_list_end(ledger, (enum object_kind)kind);
    }
    return ledger;
}

Test(gate_ledger, a_denial_that_lag_could_explain_waits) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    for (unsigned comes = 0; comes < 3; comes++) {
        struct lagging lagging = {.ledger = ledger_with_holder(&arena), .comes_after = comes};
        struct gate_store door = {.with_view = look, .wait = wait_a_little, .state = &lagging};
        static struct judge judge;
        judge.gate = (struct gate){.minor = MINOR_36, .store = &door};
        cr_assert_eq(ask(&judge, &arena, "new", 0), comes > 0);
        cr_assert_eq(lagging.waits, comes > 0 ? comes : 20, "it ends as soon as nothing is against it");
        unsigned waits = lagging.waits;
        cr_assert(ask(&judge, &arena, "new", 1));
        cr_assert_eq(lagging.waits, waits, "what is allowed does not wait");
        ledger_free(lagging.ledger);
    }
    arena_release(&arena);
}

#define SLICE_FIELDS(name, generation)                                                                       \
    "\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"" name        \
    "\",\"uid\":\"" name                                                                                     \
    "\"},\"spec\":{\"driver\":\"d.example.com\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\","                \
    "\"generation\":" generation ",\"resourceSliceCount\":1},\"devices\":[{\"name\":\"dev-0\"}]}"
#define SLICE_REVIEW(operation, old, name, generation)                                                       \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"                                       \
    "v1\",\"request\":{\"uid\":\"u\",\"kind\":{"                                                             \
    "\"group\":\"resource.k8s.io\",\"version\":\"v1\",\"kind\":\"ResourceSlice\"},\"resource\":{\"group\":"  \
    "\"resource.k8s.io\",\"version\":\"v1\",\"resource\":\"resourceslices\"},\"name\":\"" name               \
    "\",\"operation\":\"" operation                                                                          \
    "\",\"userInfo\":{\"username\":\"d\"},\"object\":{" SLICE_FIELDS(name, generation) "}" old               \
                                                                                       ",\"dryRun\":false}}"

static const char below_live[] = SLICE_REVIEW("CREATE", "", "new", "2");
static const char below_itself[] =
    SLICE_REVIEW("UPDATE", ",\"oldObject\":{" SLICE_FIELDS("live", "5") "}", "live", "2");

static bool judge_body(const struct judge *judge, const char *body) {
    static char bytes[RESPONSE_BYTES];
    struct judgement judgement;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct out out = out_of(bytes, sizeof bytes);
    review_judge(judge, PATH_VALIDATE, text_of(body), &arena, &out, &judgement);
    cr_assert_eq(judgement.http_status, 200);
    bool allowed = judgement.answer_allowed;
    arena_release(&arena);
    return allowed;
}

static void put_live_slice(struct ledger *ledger, struct arena *arena) {
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    struct decode_options how = {JSON_WIRE, MINOR_36};
    struct finding_list findings;
    struct fault fault;
    finding_list_init(&findings, arena);
    cr_assert(decode_object(arena, TEXT("{" SLICE_FIELDS("live", "5") "}"), &how, object, &findings, &fault));
    struct ledger_event event = {.type = EVENT_ADDED, .object = object, .resource_version = 3};
    cr_assert_eq(ledger_apply(ledger, &event, &fault), LEDGER_APPLIED);
}

// What a driver says of the generation it comes from is certain; what the cache says of another slice may be
// late, and is waited for.
Test(gate_ledger, a_slice_below_its_own_generation_is_denied_at_once) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct lagging lagging = {.ledger = ledger_with_holder(&arena), .comes_after = 3};
    struct gate_store door = {.with_view = look, .wait = wait_a_little, .state = &lagging};
    static struct judge judge;
    judge.gate = (struct gate){.minor = MINOR_36, .store = &door};
    put_live_slice(lagging.ledger, &arena);
    cr_expect_not(judge_body(&judge, below_itself));
    cr_expect_eq(lagging.waits, 0);
    cr_expect(judge_body(&judge, below_live), "the live slice goes while it waits");
    cr_expect_eq(lagging.waits, 3);
    ledger_free(lagging.ledger);
    arena_release(&arena);
}

Test(gate_ledger, while_one_waits_only_what_is_certain_is_denied) {
    const char *const seconds[] = {below_live, below_itself};
    for (size_t i = 0; i < 2; i++) {
        struct arena arena;
        arena_init(&arena, ARENA_BYTES);
        static struct judge judge;
        struct lagging lagging = {
            .ledger = ledger_with_holder(&arena), .judge = &judge, .second = seconds[i]};
        struct gate_store door = {.with_view = look, .wait = wait_a_little, .state = &lagging};
        judge.gate = (struct gate){.minor = MINOR_36, .store = &door};
        put_live_slice(lagging.ledger, &arena);
        cr_expect_not(judge_body(&judge, below_live));
        cr_expect_eq(lagging.waits, 20, "the second one does not wait");
        cr_expect_eq(lagging.second_allowed, i == 0);
        ledger_free(lagging.ledger);
        arena_release(&arena);
    }
}

// The scheduler's writes come side by side: each of them has its time.
Test(gate_ledger, allocations_wait_beside_each_other) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    static struct judge judge;
    struct text second = text_format(&arena, BODY_PATTERN, "b", "b", "b", 0u, "b", "b");
    const char *body = arena_zalloc(&arena, second.len + 1, 1);
    memcpy((char *)(uintptr_t)body, second.ptr, second.len);
    struct lagging lagging = {
        .ledger = ledger_with_holder(&arena), .judge = &judge, .second = body, .comes_after = 5};
    struct gate_store door = {.with_view = look, .wait = wait_a_little, .state = &lagging};
    judge.gate = (struct gate){.minor = MINOR_36, .store = &door};
    cr_expect(ask(&judge, &arena, "a", 0));
    cr_expect(lagging.second_allowed, "it waited too, until the holder was gone");
    cr_expect_eq(lagging.waits, 5);
    ledger_free(lagging.ledger);
    arena_release(&arena);
}
