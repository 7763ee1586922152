// SPDX-License-Identifier: Apache-2.0
// What was let in and is not seen yet: how long it counts, what ends it, what it costs.
#include <criterion/criterion.h>

#include "server/codec/decode.h"
#include "server/ledger/ledger.h"
#include "server/ledger/provisional.h"

struct rig {
    struct ledger *ledger;
    struct arena arena;
    int64_t now_ms;
};

static void start(struct rig *rig) {
    struct ledger_options options = {.minor = MINOR_36, .seed = {1, 2}};
    struct fault fault;
    *rig = (struct rig){.ledger = ledger_new(&options, &fault), .now_ms = 1000000};
    cr_assert_not_null(rig->ledger);
    arena_init(&rig->arena, (size_t)64 << 20);
    ledger_advance(rig->ledger, rig->now_ms);
    ledger_list_begin(rig->ledger, KIND_RESOURCE_CLAIM);
    ledger_list_end(rig->ledger, KIND_RESOURCE_CLAIM);
    ledger_watch_alive(rig->ledger, KIND_RESOURCE_CLAIM, rig->now_ms);
}

static void stop(struct rig *rig) {
    ledger_free(rig->ledger);
    arena_release(&rig->arena);
}

static void pass(struct rig *rig, int64_t ms, bool alive) {
    rig->now_ms += ms;
    ledger_advance(rig->ledger, rig->now_ms);
    if (alive) ledger_watch_alive(rig->ledger, KIND_RESOURCE_CLAIM, rig->now_ms);
}

static struct object *claim_of(struct rig *rig, const char *uid, const char *device, bool admin,
                               int version) {
    struct text json = text_format(
        &rig->arena,
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"%s\","
        "\"namespace\":\"team\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"},\"spec\":{\"devices\":{}}%s%s%s}",
        uid, uid, version,
        device == NULL ? ""
                       : ",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
                         "\"driver\":\"d\",\"pool\":\"p\",\"device\":\"",
        device == NULL ? "" : device,
        device == NULL ? ""
        : admin        ? "\",\"adminAccess\":true}]}}}"
                       : "\",\"consumedCapacity\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}]}}}");
    struct object *object = arena_zalloc(&rig->arena, 1, sizeof *object);
    struct decode_options options = {JSON_WIRE, MINOR_36};
    struct finding_list findings;
    struct fault fault;
    finding_list_init(&findings, &rig->arena);
    cr_assert(decode_object(&rig->arena, json, &options, object, &findings, &fault), "%s", fault.text);
    return object;
}

static bool let_in(struct rig *rig, const char *uid, const char *device, bool admin, int old_version) {
    return ledger_let_in(rig->ledger, &claim_of(rig, uid, device, admin, old_version)->claim, old_version,
                         text_of(uid), TEXT("node"));
}

static void see(struct rig *rig, enum event_type type, const char *uid, const char *device, int version) {
    struct ledger_event event = {
        .type = type, .object = claim_of(rig, uid, device, false, version), .resource_version = version};
    struct fault fault;
    cr_assert_eq(ledger_apply(rig->ledger, &event, &fault), LEDGER_APPLIED);
}

// The claims that have device x, each as its UID and a sign: + pending, = in the cache.
static struct text holders(struct rig *rig) {
    struct view view = ledger_view(rig->ledger);
    struct device_key key = {TEXT("d"), TEXT("p"), TEXT("x")};
    struct device_holder_list list = {NULL, 0};
    struct text found = TEXT("");
    (void)VIEW_ASK(&view, holders, &key, TEXT("node"), &rig->arena, &list);
    for (size_t i = 0; i < list.count; i++)
        found = text_format(&rig->arena, "%.*s%.*s%s", TEXT_ARG(found), TEXT_ARG(list.items[i].claim_uid),
                            list.items[i].pending ? "+" : "=");
    return found;
}

#define HOLDERS(rig, want)                                                                                   \
    do {                                                                                                     \
        struct text have_ = holders(rig);                                                                    \
        cr_assert(text_equal(have_, TEXT(want)), "%.*s", TEXT_ARG(have_));                                   \
    } while (0)

Test(provisional, counts_for_two_seconds) {
    struct rig rig;
    start(&rig);
    cr_assert(let_in(&rig, "a", "x", false, 5));
    HOLDERS(&rig, "a+");
    pass(&rig, 1999, true);
    HOLDERS(&rig, "a+");
    pass(&rig, 1, true);
    HOLDERS(&rig, "");
    stop(&rig);
}

Test(provisional, counts_on_while_the_watch_is_not_alive) {
    struct rig rig;
    start(&rig);
    pass(&rig, 300000, false);
    cr_assert(let_in(&rig, "a", "x", false, 5));
    pass(&rig, 60000, false);
    HOLDERS(&rig, "a+");
    pass(&rig, 0, true);
    HOLDERS(&rig, "");
    stop(&rig);
}

Test(provisional, ends_when_it_is_confirmed_deallocated_or_deleted) {
    struct rig rig;
    start(&rig);
    see(&rig, EVENT_ADDED, "a", NULL, 5);
    cr_assert(let_in(&rig, "a", "x", false, 5));
    see(&rig, EVENT_MODIFIED, "a", "x", 6);
    HOLDERS(&rig, "a=");
    see(&rig, EVENT_MODIFIED, "a", NULL, 7);
    HOLDERS(&rig, "");
    cr_assert(let_in(&rig, "a", "x", false, 7));
    see(&rig, EVENT_MODIFIED, "a", NULL, 8);
    HOLDERS(&rig, "");
    cr_assert(let_in(&rig, "a", "x", false, 8));
    see(&rig, EVENT_DELETED, "a", NULL, 9);
    HOLDERS(&rig, "");
    stop(&rig);
}

Test(provisional, an_event_before_the_write_changes_nothing) {
    struct rig rig;
    start(&rig);
    cr_assert(let_in(&rig, "a", "x", false, 7));
    see(&rig, EVENT_ADDED, "a", NULL, 6);
    HOLDERS(&rig, "a+");
    stop(&rig);
}

Test(provisional, a_claim_that_is_gone_does_not_come_back) {
    struct rig rig;
    start(&rig);
    see(&rig, EVENT_ADDED, "a", NULL, 5);
    see(&rig, EVENT_DELETED, "a", NULL, 6);
    cr_assert(let_in(&rig, "a", "x", false, 5), "a late review is no failure");
    HOLDERS(&rig, "");
    stop(&rig);
}

Test(provisional, a_claim_replaces_its_own_and_admin_access_takes_nothing) {
    struct rig rig;
    start(&rig);
    cr_assert(let_in(&rig, "a", "x", false, 5));
    cr_assert(let_in(&rig, "a", "y", false, 5));
    HOLDERS(&rig, "");
    cr_assert(let_in(&rig, "a", "x", false, 5));
    cr_assert(let_in(&rig, "b", "x", true, 5));
    HOLDERS(&rig, "a+");
    stop(&rig);
}

Test(provisional, a_second_reservation_of_a_claim_keeps_its_device) {
    struct rig rig;
    start(&rig);
    const struct resource_claim *claim = &claim_of(&rig, "a", "x", false, 5)->claim;
    cr_assert(ledger_let_in(rig.ledger, claim, 5, TEXT("pod-1"), TEXT("node")));
    cr_assert(ledger_let_in(rig.ledger, claim, 6, TEXT("pod-2"), TEXT("node")));
    HOLDERS(&rig, "a+a+");
    see(&rig, EVENT_ADDED, "a", "x", 6); // the first write is seen, the second is not
    HOLDERS(&rig, "a=a+");
    see(&rig, EVENT_MODIFIED, "a", "x", 7);
    HOLDERS(&rig, "a=");
    stop(&rig);
}

Test(provisional, there_is_a_bound) {
    struct rig rig;
    char uid[16];
    start(&rig);
    for (unsigned i = 0; i < PROVISIONAL_MAX; i++) {
        snprintf(uid, sizeof uid, "c-%u", i);
        if (i % 1024 == 0) arena_clear(&rig.arena);
        cr_assert(let_in(&rig, uid, uid, false, 5));
    }
    cr_assert_not(let_in(&rig, "last", "x", false, 5));
    HOLDERS(&rig, "");
    pass(&rig, PROVISIONAL_LIFE_MS, true);
    cr_assert(let_in(&rig, "last", "x", false, 5));
    HOLDERS(&rig, "last+");
    stop(&rig);
}

Test(provisional, no_memory_changes_nothing) {
    struct rig rig;
    start(&rig);
    cr_assert(let_in(&rig, "a", "x", false, 5));
    size_t failures = 0;
    for (size_t n = 1; n < 64; n++) {
        size_t before = ledger_heap(rig.ledger)->count;
        ledger_fail_after(rig.ledger, n);
        bool fine = let_in(&rig, "b", "x", false, 5);
        ledger_fail_after(rig.ledger, 0);
        if (fine) break;
        failures++;
        cr_assert_leq(ledger_heap(rig.ledger)->count, before + 4, "only room in tables may stay");
        HOLDERS(&rig, "a+");
    }
    cr_assert_geq(failures, 4, "%zu", failures);
    stop(&rig);
}
