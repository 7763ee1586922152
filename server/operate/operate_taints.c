// SPDX-License-Identifier: Apache-2.0
// Keeps DeviceTaintRules as the survey wants them.
#include "server/operate/operate_state.h"

#include "server/log.h"

#define PLAN_MS          1000
#define LIST_MS          30000
#define NOT_SERVED_MS    60000
#define WRITES_A_TICK    20
#define FAULTY_SETTLE_MS 10000
#define OURS             "?labelSelector=app.kubernetes.io%2Fmanaged-by%3Ddrawbridge"

static const char *const prefixes[] = {"/apis/resource.k8s.io/v1", "/apis/resource.k8s.io/v1beta2"};

// ---- what there is

static void tell_not_served(struct operate *operate) {
    if (operate->taints_told) return;
    operate->taints_told = true;
    log_error(
        "operate", "Pods are not steered away from nodes that are not fresh",
        "the API server does not serve DeviceTaintRules; they need the feature gate DRADeviceTaintRules "
        "on kube-apiserver, kube-scheduler and kube-controller-manager, and on v1.36 also "
        "--runtime-config=resource.k8s.io/v1beta2=true on kube-apiserver");
}

static void take_list(struct operate *operate, const struct api_answer *answer, const char *prefix) {
    json_t *list = json_loadb(answer->body.ptr, answer->body.len, 0, NULL);
    json_t *rules = list == NULL ? NULL : taint_rules_of_list(list);
    json_decref(list);
    if (rules == NULL) return;
    json_decref(operate->taints);
    operate->taints = rules;
    operate->taints_listed_ms = feed_now_ms();
    operate->taints_told = false;
    snprintf(operate->taint_prefix, sizeof operate->taint_prefix, "%s", prefix);
}

static void list_rules(struct operate *operate) {
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        char path[API_PATH_BYTES];
        struct api_answer answer;
        snprintf(path, sizeof path, "%s/devicetaintrules%s", prefixes[i], OURS);
        int code = writer_send(&operate->writer, WRITE_TAINT_RULE, API_GET, path, NULL, 404, &answer);
        if (code == 200) take_list(operate, &answer, prefixes[i]);
        if (code != 404) return;
    }
    operate->taint_prefix[0] = '\0';
    json_decref(operate->taints);
    operate->taints = NULL;
    operate->taints_next_ms = feed_now_ms() + NOT_SERVED_MS;
    tell_not_served(operate);
}

// ---- what there should be

static json_t *plan(const struct operate *operate) {
    struct taint_plan plan;
    if (!operate->policy.hold_taint) return json_object();
    if (!taint_plan_init(&plan)) return NULL;
    bool fine = true;
    int64_t now_ms = feed_now_ms();
    for (size_t i = 0; i < operate->pictures.count && fine; i++) {
        const struct picture *picture = &operate->pictures.items[i];
        if (picture->known) fine = taint_plan_add(&plan, picture->status);
    }
    for (size_t i = 0; i < operate->pictures.count && fine; i++) {
        const struct picture *picture = &operate->pictures.items[i];
        // Devices move from slice to slice: what stays so is a fault.
        if (picture->known && now_ms - picture->faulty_ms >= FAULTY_SETTLE_MS)
            fine = taint_plan_add_faulty(&plan, picture->faulty);
    }
    json_t *wanted = fine ? taint_plan_wanted(&plan) : NULL;
    taint_plan_release(&plan);
    return wanted;
}

static bool is_synced(const struct operate *operate) {
    for (size_t i = 0; i < operate->pictures.count; i++) {
        const struct picture *picture = &operate->pictures.items[i];
        if (picture->known && picture->status != NULL && !survey_is_synced(picture->status)) return false;
    }
    return true;
}

// ---- the difference

static const char *api_version(const struct operate *operate) {
    return operate->taint_prefix + strlen("/apis/");
}

static bool make_rule(struct operate *operate, const char *name, const json_t *wanted) {
    char path[API_PATH_BYTES];
    snprintf(path, sizeof path, "%s/devicetaintrules", operate->taint_prefix);
    int code = writer_send(&operate->writer, WRITE_TAINT_RULE, API_POST, path,
                           taint_rule_object(api_version(operate), name, wanted), 409, NULL);
    if (code != 201) return false;
    log_info(0, "operate", "Taint rule made", LOG_STRING("name", name),
             LOG_STRING("driver", json_string_value(json_object_get(wanted, "driver"))),
             LOG_STRING("state", json_string_value(json_object_get(wanted, "value"))));
    return true;
}

static bool change_rule(struct operate *operate, const char *name, const json_t *wanted) {
    char path[API_PATH_BYTES];
    snprintf(path, sizeof path, "%s/devicetaintrules/%s", operate->taint_prefix, name);
    json_t *patch = json_pack("{s:{s:{s:O}}, s:{s:{s:O}}}", "metadata", "annotations", "drawbridge.dev/cause",
                              json_object_get(wanted, "cause"), "spec", "taint", "value",
                              json_object_get(wanted, "value"));
    return writer_send(&operate->writer, WRITE_TAINT_RULE, API_MERGE_PATCH, path, patch, 404, NULL) == 200;
}

static bool remove_rule(struct operate *operate, const char *name) {
    char path[API_PATH_BYTES];
    snprintf(path, sizeof path, "%s/devicetaintrules/%s", operate->taint_prefix, name);
    int code = writer_send(&operate->writer, WRITE_TAINT_RULE, API_DELETE, path, NULL, 404, NULL);
    if (code != 200 && code != 202 && code != 404) return false;
    log_info(0, "operate", "Taint rule removed", LOG_STRING("name", name));
    return true;
}

// Any surprise, such as a rule that somebody else made or removed: list again, then go on.
static void apply(struct operate *operate, const json_t *wanted, const struct taint_changes *changes) {
    const json_t *const lists[] = {changes->make, changes->change, changes->remove};
    int left = WRITES_A_TICK;
    for (size_t kind = 0; kind < 3; kind++) {
        size_t index;
        json_t *item;
        json_array_foreach((json_t *)lists[kind], index, item) {
            const char *name = json_string_value(item);
            json_t *rule = json_object_get(wanted, name);
            if (left-- == 0 || !operate_leads(operate)) return;
            bool fine = kind == 0   ? make_rule(operate, name, rule)
                        : kind == 1 ? change_rule(operate, name, rule)
                                    : remove_rule(operate, name);
            if (!fine) {
                operate->taints_listed_ms = 0;
                return;
            }
            if (kind == 2)
                json_object_del(operate->taints, name);
            else
                json_object_set(operate->taints, name, rule);
        }
    }
}

void operate_write_taints(struct operate *operate) {
    int64_t now_ms = feed_now_ms();
    struct taint_changes changes;
    if (operate->rounds == 0 || !is_synced(operate)) return; // what is not known is no reason to act
    if (now_ms < operate->taints_next_ms && !(operate->changed && operate->taint_prefix[0] != '\0')) return;
    if (!writer_is_ready(&operate->writer, WRITE_TAINT_RULE, now_ms)) return;
    operate->taints_next_ms = now_ms + PLAN_MS;
    operate->changed = false;
    if (operate->taints == NULL || operate->taints_listed_ms == 0 ||
        now_ms - operate->taints_listed_ms >= LIST_MS)
        list_rules(operate);
    if (operate->taints == NULL) return;
    json_t *wanted = plan(operate);
    if (wanted != NULL && taint_changes_between(wanted, operate->taints, &changes)) {
        apply(operate, wanted, &changes);
        taint_changes_release(&changes);
    }
    json_decref(wanted);
}
