// SPDX-License-Identifier: Apache-2.0
// What is written like the device or the object before is read and judged once. Whether that shows: each
// review is judged as it is, and once more with blanks thrown in and a bare device before each device, so
// that nothing is like anything before it; and the same must be found.
#include <criterion/criterion.h>
#include <stdio.h>

#include "server/review/judge.h"

#define ROUNDS      3000
#define REVIEW_SIZE ((size_t)32 * 1024)
#define ARENA_BYTES ((size_t)4 << 20)

static uint64_t state = 88172645463325252u;

static unsigned pick(unsigned count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % count;
}

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof(array)[0]))

static const char *const keys[] = {
    "a",  "model",  "numaNode", "numaNodeID", "resource.kubernetes.io/numaNode", "gpu.example.com/numaNode",
    "xa", "bad key"};
static const char *const values[] = {"{'int':0}",
                                     "{'int':1}",
                                     "{'string':'x'}",
                                     "{'string':'y'}",
                                     "{'version':'1.2.3'}",
                                     "{'version':1}",
                                     "{'version':'1'}",
                                     "{'bool':true}",
                                     "{'int':-1}",
                                     "{'int':1,'string':'x'}",
                                     "{'ints':[0,1]}",
                                     "{'strings':['x']}",
                                     "{'strings':[]}",
                                     "{'string':5}",
                                     "{'int':'5'}",
                                     "{'int':1.5}",
                                     "{'string':'a\\nb'}",
                                     "{}",
                                     "{'unknown':1,'int':1}",
                                     "null",
                                     "5",
                                     "{'ints':null}"};
static const char *const long_value =
    "{'string':'0123456789012345678901234567890123456789012345678901234567890123456789'}";
// What ends the document, or is read in a way of its own.
static const char *const rare_values[] = {"{'int':007}", "{'int':1,'int':2}", "{'string':'x','string':'x'}",
                                          "{'int':99999999999999999999}", "{'int':}"};
static const char *const rests[] = {
    "",
    ",'capacity':{'memory':{'value':'80Gi'}},'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier'"
    ":'1'}}",
    ",'capacity':{'memory':{'value':'80Gi'}},'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier'"
    ":'1Gi'}}",
    ",'capacity':{'memory':{'value':'-1'}}",
    ",'capacity':{'memory':{'value':'x'}}",
    ",'capacity':{'memory':{'value':'8','requestPolicy':{'default':'9','validRange':{'min':'2'}}}},"
    "'allowMultipleAllocations':true",
    ",'nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'1'}}}",
    ",'nodeAllocatableResources':{'memory':{'mapping':{'deviceMultiplier':'500m'}}}",
    ",'taints':[{'key':'example.com/a','effect':'NoSchedule'}]",
    ",'taints':[{'key':'-','effect':'Sometimes'}]",
    ",'consumesCounters':[{'counterSet':'s','counters':{'c':{'value':'1'}}}]",
    ",'nodeName':'n'",
    ",'bindsToNode':true,'bindingConditions':['x']",
    ",'unknown':{'name':'x'}",
    ",'capacity':null,'taints':null",
    ",'name':'again'",
};

#define DEVICES_MOST 8u

struct writing {
    char text[REVIEW_SIZE];
    size_t len;
};
struct slice_made {
    struct writing devices[DEVICES_MOST];
    unsigned count;
};

__attribute__((format(printf, 2, 3))) static void put(struct writing *writing, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t room = sizeof writing->text - writing->len;
    int len = vsnprintf(writing->text + writing->len, room, format, args);
    va_end(args);
    cr_assert(len >= 0 && (size_t)len < room);
    for (int i = 0; i < len; i++, writing->len++)
        if (writing->text[writing->len] == '\'') writing->text[writing->len] = '"';
}

// What the devices of a slice are made of; mostly as the one before.
struct making {
    unsigned attributes[COUNT(keys)]; // 0: none, else a value from 1 on
    unsigned rest;
};

static void change(struct making *making) {
    for (unsigned i = 0; i < COUNT(keys); i++)
        if (pick(6) == 0)
            making->attributes[i] = pick(2) == 0 ? 0 : 1 + pick(pick(3) == 0 ? COUNT(values) : 5);
    if (pick(5) == 0) making->rest = pick(COUNT(rests) - (pick(8) == 0 ? 0 : 1));
}

static const char *value_of(unsigned number) {
    if (pick(400) == 0) return rare_values[pick(COUNT(rare_values))];
    return pick(300) == 0 ? long_value : values[number - 1];
}

static void put_attributes(struct writing *writing, const struct making *making) {
    const char *comma = "";
    put(writing, ",'attributes':{");
    for (unsigned i = 0; i < COUNT(keys); i++) {
        if (making->attributes[i] == 0) continue;
        const char *key = pick(40) == 0 && i == 6 ? "x\\u0061" : keys[pick(200) == 0 ? pick(COUNT(keys)) : i];
        put(writing, "%s'%s':%s", comma, key, value_of(making->attributes[i]));
        comma = ",";
    }
    put(writing, "}");
}

static void make_device(struct writing *device, struct making *making, unsigned number) {
    bool attributes_last = pick(20) == 0;
    change(making);
    device->len = 0;
    put(device, "{'name':'%s%u'", pick(30) == 0 ? "Not-a-name" : "d", pick(40) == 0 ? 0 : number);
    if (!attributes_last) put_attributes(device, making);
    put(device, "%s", rests[making->rest]);
    if (attributes_last) put_attributes(device, making);
    put(device, "}");
}

static void make_slice(struct slice_made *slice, struct making *making) {
    slice->count = 2 + pick(DEVICES_MOST - 2);
    for (unsigned i = 0; i < slice->count; i++) make_device(&slice->devices[i], making, i);
}

// A slice that repeats most devices of another one.
static void make_slice_after(const struct slice_made *before, struct slice_made *slice,
                             struct making *making) {
    *slice = *before;
    slice->count = pick(2) == 0 ? before->count : 1 + pick(before->count);
    for (unsigned i = 0; i < slice->count; i++)
        if (pick(3) == 0) make_device(&slice->devices[i], making, i);
}

static void put_slice(struct writing *writing, const struct slice_made *slice, unsigned generation,
                      bool bare) {
    put(writing,
        "{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/"
        "v1','metadata':{'name':'s','resourceVersion':'1'},"
        "'spec':{'driver':'gpu.example.com','nodeName':'n','pool':{'name':'n','generation':%u,"
        "'resourceSliceCount':1},'devices':[",
        generation);
    for (unsigned i = 0; i < slice->count; i++) {
        if (i > 0) put(writing, ",");
        if (bare) put(writing, "{'name':'bare-%u'},", i);
        put(writing, "%s", slice->devices[i].text);
    }
    put(writing, "]}}");
}

struct review_made {
    struct slice_made object;
    struct slice_made old;
    unsigned generation; // of the old slice
    bool is_update;
    bool old_first; // not as the API server writes it: which one is shared with which is turned around
};

static void make_review(struct review_made *review) {
    struct making making = {.rest = 0};
    make_slice(&review->object, &making);
    make_slice_after(&review->object, &review->old, &making);
    if (pick(2) == 0) { // the old slice is the shorter one
        struct slice_made object = review->object;
        review->object = review->old;
        review->old = object;
    }
    review->generation = 1 + pick(2);
    review->is_update = pick(3) > 0;
    review->old_first = pick(3) == 0;
}

static void put_review(struct writing *writing, const struct review_made *review, bool bare) {
    writing->len = 0;
    put(writing,
        "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','request':{'uid':'u',"
        "'kind':{'group':'resource.k8s.io','version':'v1','kind':'ResourceSlice'},"
        "'resource':{'group':'resource.k8s.io','version':'v1','resource':'resourceslices'},"
        "'operation':'%s'",
        review->is_update ? "UPDATE" : "CREATE");
    for (int i = 0; i < 2; i++) {
        bool is_old = review->old_first == (i == 0);
        if (is_old && !review->is_update) continue;
        put(writing, is_old ? ",'oldObject':" : ",'object':");
        put_slice(writing, is_old ? &review->old : &review->object, is_old ? review->generation : 2, bare);
    }
    put(writing, "}}");
}

// The same JSON with one to four blanks behind what structures it.
static void spread(const struct writing *writing, struct writing *ret_spread) {
    bool in_string = false;
    ret_spread->len = 0;
    for (size_t i = 0; i < writing->len; i++) {
        char byte = writing->text[i];
        cr_assert(ret_spread->len + 8 < sizeof ret_spread->text);
        ret_spread->text[ret_spread->len++] = byte;
        if (byte == '"' && (i == 0 || writing->text[i - 1] != '\\')) in_string = !in_string;
        if (in_string || strchr("{[,:", byte) == NULL) continue;
        for (unsigned blanks = 1 + pick(4); blanks > 0; blanks--) ret_spread->text[ret_spread->len++] = ' ';
    }
}

static void judge(const struct writing *writing, int minor, struct arena *arena,
                  struct judgement *ret_judgement) {
    static char answer[RESPONSE_BYTES];
    struct judge judge = {.gate = {.minor = minor}};
    struct out out = out_of(answer, sizeof answer);
    review_judge(&judge, PATH_VALIDATE, (struct text){writing->text, writing->len}, arena, &out,
                 ret_judgement);
}

// The path where there are no bare devices.
static struct text path_without(struct text path, struct arena *arena) {
    static const char devices[] = "spec.devices[";
    int64_t index;
    size_t end = text_find(path, ']', 0);
    if (!text_starts_with(path, text_of(devices))) return path;
    cr_assert(text_to_int64(text_slice(path, sizeof devices - 1, end), &index));
    cr_assert_eq(index % 2, 1, "%.*s", TEXT_ARG(path));
    return text_format(arena, "%s%lld%.*s", devices, (long long)index / 2,
                       TEXT_ARG(text_slice(path, end, path.len)));
}

static void expect_same(struct judgement *a, struct judgement *b, struct arena *arena, const char *text) {
    cr_assert_eq(a->error, b->error, "%s", text);
    cr_assert_eq(a->decision, b->decision, "%s", text);
    cr_assert_eq(a->findings.count, b->findings.count, "%zu, %zu: %s", a->findings.count, b->findings.count,
                 text);
    for (size_t i = 0; i < b->findings.count; i++)
        b->findings.items[i].path = path_without(b->findings.items[i].path, arena);
    finding_list_sort(&a->findings);
    finding_list_sort(&b->findings);
    for (size_t i = 0; i < a->findings.count; i++) {
        const struct finding *x = &a->findings.items[i];
        const struct finding *y = &b->findings.items[i];
        cr_assert(text_equal(x->path, y->path) && text_equal(x->detail, y->detail) && x->type == y->type &&
                      x->severity == y->severity && strcmp(x->rule, y->rule) == 0,
                  "%.*s: %.*s, %.*s: %.*s: %s", TEXT_ARG(x->path), TEXT_ARG(x->detail), TEXT_ARG(y->path),
                  TEXT_ARG(y->detail), text);
    }
}

Test(alike, what_is_written_alike_is_judged_alike) {
    static struct review_made review;
    static struct writing compact;
    static struct writing bare;
    static struct writing wide;
    struct arena arenas[2];
    for (int i = 0; i < 2; i++) arena_init(&arenas[i], ARENA_BYTES);
    unsigned judged = 0;
    unsigned denied = 0;
    for (int round = 0; round < ROUNDS; round++) {
        make_review(&review);
        put_review(&compact, &review, false);
        put_review(&bare, &review, true);
        spread(&bare, &wide);
        for (int minor = 36; minor <= 37; minor++) {
            struct judgement of_compact;
            struct judgement of_wide;
            judge(&compact, minor, &arenas[0], &of_compact);
            judge(&wide, minor, &arenas[1], &of_wide);
            expect_same(&of_compact, &of_wide, &arenas[1], compact.text);
            judged += of_compact.error == REVIEW_FINE;
            denied += of_compact.decision == DECISION_DENIED;
            for (int i = 0; i < 2; i++) arena_clear(&arenas[i]);
        }
    }
    // The reviews are of all kinds.
    cr_expect_gt(judged, ROUNDS);
    cr_expect_lt(judged, 2 * ROUNDS);
    cr_expect_gt(denied, ROUNDS / 8);
    cr_expect_lt(denied, judged);
    for (int i = 0; i < 2; i++) arena_release(&arenas[i]);
}
