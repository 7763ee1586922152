// SPDX-License-Identifier: Apache-2.0
// Mistakes that were reported for other programs (R numbers are those of the list of reports), each as the
// review that an API server would send, and the verdict that is right.
#include <criterion/criterion.h>

#include "server/review/judge.h"
#include "unit/lib/parsed.h"
#include "unit/lib/review_body.h"

#define POOL_OF(generation, count)                                                                           \
    "'pool':{'name':'n1','generation':" generation ",'resourceSliceCount':" count "}"
#define SLICE_OF(pool, rest)                                                                                 \
    "{'metadata':{'name':'s'},'spec':{'driver':'dra.cpu','nodeName':'n1'," pool "," rest "}}"
#define SLICE(devices)         SLICE_OF(POOL_OF("1", "1"), "'devices':[" devices "]")
#define DEVICE(rest)           SLICE("{'name':'d'," rest "}")
#define M36(resource, mapping) DEVICE("'nodeAllocatableResourceMappings':{'" resource "':" mapping "}")
#define M37(resource, mapping) DEVICE("'nodeAllocatableResources':{'" resource "':" mapping "}")
#define PAGES(multiplier)                                                                                    \
    DEVICE("'allowMultipleAllocations':true,'capacity':{'pages':{'value':'224'}},"                           \
           "'nodeAllocatableResourceMappings':{'hugepages-1Gi':{'capacityKey':'pages',"                      \
           "'allocationMultiplier':'" multiplier "'}}")
#define CLAIM(requests)                                                                                      \
    "{'metadata':{'name':'c','namespace':'default','uid':'c-1'},'spec':{'devices':{'requests':[" requests    \
    "]}}}"
#define AT36 "spec.devices[0].nodeAllocatableResourceMappings"
#define AT37 "spec.devices[0].nodeAllocatableResources"

// {N:FROM} in an object stands for N devices with the names FROM0, FROM1, …
struct report_case {
    const char *report;
    int minor;
    const char *object; // ' stands for "; a claim when it has requests
    const char *want;   // severity, rule and field of each finding, in order; "" for none
};

static const struct report_case cases[] = {
    {"R01", 37, M37("cpu", "{'mapping':{}}"), "deny schema " AT37 "[cpu].mapping;"},
    {"R01", 37,
     DEVICE("'allowMultipleAllocations':true,'capacity':{'cpu':{'value':'8'}},"
            "'nodeAllocatableResources':{'cpu':{'mapping':{'capacityKey':'cpu'}}}"),
     "deny schema " AT37 "[cpu].mapping.capacityMultiplier;"},
    {"R01", 37, M37("cpu", "{'mapping':{'capacityMultiplier':'1'}}"),
     "deny schema " AT37 "[cpu].mapping;deny schema " AT37 "[cpu].mapping.capacityKey;"},
    {"R01", 37,
     DEVICE("'allowMultipleAllocations':true,'capacity':{'cpu':{'value':'8'}},'nodeAllocatableResources':"
            "{'cpu':{'mapping':{'capacityKey':'cpu','capacityMultiplier':'1','deviceMultiplier':'1'}}}"),
     "deny schema " AT37 "[cpu].mapping;"},
    {"R01", 36, M36("cpu", "{}"), ""},
    {"R02", 37, M36("cpu", "{'allocationMultiplier':'1'}"), "warn mapping-wrong-version " AT36 ";"},
    {"R02", 36, M37("cpu", "{'mapping':{'deviceMultiplier':'1'}}"), "warn mapping-wrong-version " AT37 ";"},
    {"R02", 36,
     DEVICE("'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'1'}},"
            "'nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'1'}}}"),
     "deny mapping-both-versions " AT37 ";"},
    {"R03", 36,
     DEVICE("'attributes':{'numa-1':{'int':1},'numa-2':{'int':1}},'capacity':{'numa-3':{'value':'1'}}"),
     "deny schema spec.devices[0].attributes;deny schema spec.devices[0].attributes;"
     "deny schema spec.devices[0].capacity;"},
    {"R04", 36, SLICE("{128:d}"), ""},
    {"R04", 36, SLICE("{129:d}"), "deny schema spec.devices;"},
    {"R04", 36, SLICE(""), ""},
    {"R05", 36, SLICE("{65:d}"), ""},
    {"R05", 36, SLICE("{64:d},{'name':'x','taints':[{'key':'a','effect':'NoSchedule'}]}"),
     "deny schema spec.devices;"},
    {"R05", 36,
     SLICE("{64:d},{'name':'x','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'1'}}}]}"),
     "deny schema spec.devices;"},
    {"R05", 36,
     SLICE_OF(POOL_OF("1", "1"), "'devices':[{'name':'d'}],'sharedCounters':[{'name':'c','counters':"
                                 "{'m':{'value':'1'}}}]"),
     "deny schema spec;"},
    {"R06", 36,
     DEVICE("'allowMultipleAllocations':true,'capacity':{'cpu':{'value':'8'},'dra.cpu/cpu':{'value':'16'}},"
            "'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'cpu'}}"),
     "deny mapping-key-spelling spec.devices[0].capacity[dra.cpu/cpu];"},
    {"R06", 36,
     DEVICE("'allowMultipleAllocations':true,'capacity':{'dra.cpu/cpu':{'value':'16'}},"
            "'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'dra.cpu/cpu'}}"),
     ""},
    {"R08", 36,
     DEVICE("'nodeAllocatableResourceMappings':{'memory':{'allocationMultiplier':'512m'},"
            "'cpu':{'allocationMultiplier':'512m'}}"),
     "deny unit-bytes-fraction " AT36 "[memory].allocationMultiplier;"},
    {"R08", 37, M37("memory", "{'overhead':{'perPod':'512m'}}"),
     "deny unit-bytes-fraction " AT37 "[memory].overhead.perPod;"},
    {"R09", 36, M36("memory", "{'allocationMultiplier':'1.1Gi'}"),
     "deny unit-bytes-fraction " AT36 "[memory].allocationMultiplier;"},
    {"R09", 36, M36("memory", "{'allocationMultiplier':'1181116006400m'}"),
     "deny unit-bytes-fraction " AT36 "[memory].allocationMultiplier;"},
    {"R09", 36, M36("memory", "{'allocationMultiplier':'0.5'}"),
     "deny unit-bytes-fraction " AT36 "[memory].allocationMultiplier;"},
    {"R09", 36, M36("memory", "{'allocationMultiplier':'1.5Gi'}"), ""},
    {"R10", 36, M36("hugepages-2Mi", "{'allocationMultiplier':'5Mi'}"),
     "deny unit-hugepage-multiple " AT36 "[hugepages-2Mi].allocationMultiplier;"},
    {"R10", 36, M36("hugepages-2Mi", "{'allocationMultiplier':'4Mi'}"), ""},
    {"R10", 36, M36("hugepages-2Mi", "{'allocationMultiplier':'0'}"),
     "deny schema " AT36 "[hugepages-2Mi].allocationMultiplier;"},
    {"R10", 36, M36("hugepages-3", "{'allocationMultiplier':'4Mi'}"),
     "deny hugepage-size " AT36 "[hugepages-3];"},
    {"R10", 36, M36("hugepages-", "{'allocationMultiplier':'4Mi'}"),
     "deny hugepage-size " AT36 "[hugepages-];"},
    {"R12", 36, PAGES("1Gi"), ""},
    {"R12", 36, PAGES("1"), "deny unit-hugepage-multiple " AT36 "[hugepages-1Gi].allocationMultiplier;"},
    {"R13", 36,
     CLAIM("{'name':'r','exactly':{'deviceClassName':'g','allocationMode':'ExactCount','count':1,"
           "'capacity':{'requests':{'m':'-1'}}}}"),
     "deny unit-negative spec.devices.requests[0].exactly.capacity.requests[m];"},
    {"R13", 36,
     CLAIM("{'name':'r','firstAvailable':[{'name':'a','deviceClassName':'g','allocationMode':'ExactCount',"
           "'count':1,'capacity':{'requests':{'m':'-1'}}}]}"),
     "deny unit-negative spec.devices.requests[0].firstAvailable[0].capacity.requests[m];"},
    {"R23", 36, SLICE_OF(POOL_OF("4", "0"), "'devices':[]"), "deny schema spec.pool.resourceSliceCount;"},
    {"R23", 36, SLICE_OF(POOL_OF("-1", "1"), "'devices':[]"), "deny schema spec.pool.generation;"},
    {"R23", 36, SLICE_OF(POOL_OF("4", "2"), "'devices':[]"), ""},
};

struct bench {
    struct judge judge;
    struct arena bodies;
    struct arena arena;
    char answer[RESPONSE_BYTES];
    struct out out;
    struct judgement judgement;
};

static struct bench bench;

static void start(int minor) {
    bench.judge.gate.minor = minor;
    arena_init(&bench.bodies, 4u << 20);
    arena_init(&bench.arena, 4u << 20);
    bench.out = out_of(bench.answer, sizeof bench.answer);
}

static void finish(void) {
    arena_release(&bench.bodies);
    arena_release(&bench.arena);
}

// The object as JSON.
static const char *written(const char *object) {
    size_t room = 64 * 1024;
    char *json = arena_alloc(&bench.bodies, room);
    struct out out = out_of(json, room - 1);
    for (const char *at = object; *at != '\0'; at++) {
        char *end = NULL;
        unsigned long count = *at == '{' ? strtoul(at + 1, &end, 10) : 0;
        if (count == 0 || *end != ':') {
            out_format(&out, "%c", *at == '\'' ? '"' : *at);
            continue;
        }
        const char *name = end + 1;
        at = strchr(name, '}');
        for (unsigned long i = 0; i < count; i++)
            out_format(&out, "%s{\"name\":\"%.*s%lu\"}", i == 0 ? "" : ",", (int)(at - name), name, i);
    }
    json[out.len] = '\0';
    return json;
}

static void ask(const char *object, const char *subresource) {
    const char *json = written(object);
    bool is_claim = strstr(json, "\"requests\"") != NULL;
    struct review_parts parts = {.kind = is_claim ? "ResourceClaim" : "ResourceSlice",
                                 .resource = is_claim ? "resourceclaims" : "resourceslices",
                                 .subresource = subresource,
                                 .object = json};
    review_judge(&bench.judge, PATH_VALIDATE, review_body(&bench.bodies, &parts), &bench.arena, &bench.out,
                 &bench.judgement);
}

static void collect(char *found, size_t room) {
    struct out out = out_of(found, room - 1);
    for (size_t i = 0; i < bench.judgement.findings.count; i++) {
        const struct finding *finding = &bench.judgement.findings.items[i];
        out_format(&out, "%s %s %.*s;", severity_name(finding->severity), finding->rule,
                   TEXT_ARG(finding->path));
    }
    found[out.len] = '\0';
}

Test(reports, each_mistake_gets_its_verdict) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct report_case *report = &cases[i];
        char found[4096];
        start(report->minor);
        ask(report->object, NULL);
        collect(found, sizeof found);
        cr_expect_str_eq(found, report->want, "%s (case %zu)\n  found %s\n  want  %s", report->report, i,
                         found, report->want);
        bool denied = strstr(report->want, "deny ") != NULL;
        cr_expect_eq(bench.judgement.decision == DECISION_DENIED, denied, "%s (case %zu)", report->report, i);
        finish();
    }
}

// R04, R08, R11: the message says what the limit or the unit is, and what to write.
Test(reports, messages_say_what_to_write) {
    static const struct {
        const char *object;
        const char *words;
    } messages[] = {
        {SLICE("{129:d}"), "128"},
        {M36("memory", "{'allocationMultiplier':'512m'}"), "512Mi"},
        {M36("hugepages-2Mi", "{'allocationMultiplier':'256'}"), "512Mi"},
        {M36("hugepages-2Mi", "{'allocationMultiplier':'256'}"), "bytes"},
    };
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        start(36);
        ask(messages[i].object, NULL);
        struct parsed *answer = parsed_new(bench.out.ptr, bench.out.len);
        const char *message = parsed_text(answer, "response/status/message", NULL);
        cr_expect_not_null(strstr(message, messages[i].words), "%s", message);
        parsed_free(answer);
        finish();
    }
}

// R56, R57: a denial is a Failure with its text in message; what is allowed has no status, and its warnings
// are short lines.
Test(reports, denials_and_warnings_stand_where_the_api_server_reads_them) {
    start(36);
    ask(M36("memory", "{'allocationMultiplier':'500m'}"), NULL);
    struct parsed *answer = parsed_new(bench.out.ptr, bench.out.len);
    cr_expect_not(parsed_is_true(answer, "response/allowed"));
    cr_expect_str_eq(parsed_text(answer, "response/status/status", NULL), "Failure");
    cr_expect_not_null(strstr(parsed_text(answer, "response/status/message", NULL), "500Mi"));
    parsed_free(answer);
    finish();
    start(36);
    ask(M36("memory", "{'allocationMultiplier':'4'}"), NULL);
    answer = parsed_new(bench.out.ptr, bench.out.len);
    cr_expect(parsed_is_true(answer, "response/allowed"));
    cr_expect_not(parsed_has(answer, "response/status"));
    const char *warning = parsed_text(answer, "response/warnings/0", NULL);
    cr_expect_leq(strlen(warning), 120, "%s", warning);
    cr_expect_null(strchr(warning, '\n'), "%s", warning);
    parsed_free(answer);
    finish();
}

// R36, R40: whatever the review is about, its uid comes back.
Test(reports, every_answer_has_the_uid) {
    static const struct review_parts reviews[] = {
        {.kind = "ResourceSlice", .resource = "resourceslices", .object = "\"no object\""},
        {.kind = "ResourceSlice", .resource = "resourceslices", .object = "{\"spec\":[1]}"},
        {.kind = "Widget", .resource = "widgets", .object = "{\"spec\":[1]}"},
        {.kind = "ResourceSlice", .resource = "resourceslices"},
        {.kind = "ResourceSlice", .resource = "resourceslices", .operation = "DELETE", .old_object = "{}"},
        {.kind = "ResourceSlice", .resource = "resourceslices", .operation = "DELETE"},
        {.kind = "ResourceSlice", .resource = "resourceslices", .operation = "CONNECT"},
    };
    for (size_t i = 0; i < sizeof reviews / sizeof reviews[0]; i++) {
        start(36);
        review_judge(&bench.judge, PATH_VALIDATE, review_body(&bench.bodies, &reviews[i]), &bench.arena,
                     &bench.out, &bench.judgement);
        cr_assert_eq(bench.judgement.http_status, 200, "%zu", i);
        struct parsed *answer = parsed_new(bench.out.ptr, bench.out.len);
        cr_expect_str_eq(parsed_text(answer, "response/uid", NULL), "u-1", "%zu", i);
        cr_expect_eq(parsed_is_true(answer, "response/allowed"), i == 2 || i > 3, "%zu", i);
        parsed_free(answer);
        finish();
    }
}
