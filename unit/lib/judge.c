// SPDX-License-Identifier: Apache-2.0
// Judging of single objects in tests.
#include "unit/lib/judge.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "server/codec/decode.h"

#define ARENA_BYTES (16u << 20)

static void decode(struct judged *judged, const char *json, int minor, struct object *ret_object) {
    struct decode_options options = {.mode = JSON_WIRE, .minor = minor};
    struct finding_list findings;
    struct fault fault = {0};
    finding_list_init(&findings, &judged->arena);
    cr_assert(decode_object(&judged->arena, text_of(json), &options, ret_object, &findings, &fault), "%s: %s",
              fault.text, json);
    if (findings.count > 0) cr_assert_fail("%s: %.*s", json, TEXT_ARG(findings.items[0].detail));
}

void judged_init(struct judged *judged, const char *json, int minor) {
    *judged = (struct judged){0};
    arena_init(&judged->arena, ARENA_BYTES);
    json = text_copy(&judged->arena, text_of(json)).ptr;
    decode(judged, json, minor, &judged->object);
    judged->input = (struct rule_input){
        .object = &judged->object, .operation = OPERATION_CREATE, .minor = minor, .arena = &judged->arena};
}

void judged_set_old(struct judged *judged, const char *json) {
    json = text_copy(&judged->arena, text_of(json)).ptr;
    decode(judged, json, judged->input.minor, &judged->old);
    judged->input.old = &judged->old;
    judged->input.operation = OPERATION_UPDATE;
}

static enum severity switch_on(const void *state, const struct rule *rule) {
    (void)state;
    return rule->action == SEVERITY_OFF ? SEVERITY_WARN : rule->action;
}

void judged_run(struct judged *judged, const char *rule, enum rule_phase phase) {
    struct rule_actions actions = {.action = switch_on};
    struct finding_list all;
    finding_list_init(&all, &judged->arena);
    finding_list_init(&judged->findings, &judged->arena);
    registry_run_rules(&judged->input, phase, &actions, &all);
    cr_assert(finding_list_is_sound(&all));
    finding_list_sort(&all);
    for (size_t i = 0; i < all.count; i++) {
        if (strcmp(all.items[i].rule, rule) != 0) continue;
        struct finding *kept = LIST_APPEND(&judged->arena, &judged->findings);
        *kept = all.items[i];
    }
}

const struct finding *judged_only(const struct judged *judged) {
    cr_assert_eq(judged->findings.count, 1, "%zu findings", judged->findings.count);
    return &judged->findings.items[0];
}

void judged_release(struct judged *judged) {
    arena_release(&judged->arena);
}

const char *slice_with(const char *device) {
    static char json[16384];
    snprintf(
        json, sizeof json,
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"s\"},"
        "\"spec\":{\"driver\":\"gpu.example.com\",\"nodeName\":\"node-1\",\"pool\":{\"name\":\"node-1\","
        "\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"gpu-0\",%s}]}}",
        device);
    return json;
}

const char *slice_mapping(int minor, const char *resource, const char *key, const char *multiplier,
                          const char *more) {
    char mapping[2048];
    char device[8192];
    char key_json[512] = "";
    if (key != NULL) snprintf(key_json, sizeof key_json, "\"capacityKey\":\"%s\",", key);
    if (minor >= MINOR_37)
        snprintf(mapping, sizeof mapping,
                 "\"nodeAllocatableResources\":{\"%s\":{\"mapping\":{%s\"%sMultiplier\":%s}}}", resource,
                 key_json, key == NULL ? "device" : "capacity", multiplier);
    else
        snprintf(mapping, sizeof mapping,
                 "\"nodeAllocatableResourceMappings\":{\"%s\":{%s\"allocationMultiplier\":%s}}", resource,
                 key_json, multiplier);
    snprintf(device, sizeof device, "%s%s%s", more == NULL ? "" : more, more == NULL ? "" : ",", mapping);
    return slice_with(device);
}
