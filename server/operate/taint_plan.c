// SPDX-License-Identifier: Apache-2.0
// Sets as JSON objects.
#include "server/operate/taint_plan.h"

#include <openssl/sha.h>
#include <stdio.h>

#include "validators/core/banned.h"

#define HASH_BYTES  8 // of the digest that go into a name
#define CAUSE_BYTES 512

void taint_rule_name(const char *driver, const char *pool, const char *device,
                     char ret_name[TAINT_NAME_BYTES]) {
    char key[512];
    unsigned char digest[SHA256_DIGEST_LENGTH];
    int len = snprintf(key, sizeof key, "%s\n%s\n%s", driver, pool, device);
    SHA256((const unsigned char *)key, len < (int)sizeof key ? (size_t)len : sizeof key - 1, digest);
    int at = snprintf(ret_name, TAINT_NAME_BYTES, "drawbridge-");
    for (size_t i = 0; i < HASH_BYTES; i++)
        at += snprintf(ret_name + at, TAINT_NAME_BYTES - (size_t)at, "%02x", digest[i]);
}

bool taint_plan_init(struct taint_plan *plan) {
    plan->pools = json_object();
    plan->devices = json_object();
    return plan->pools != NULL && plan->devices != NULL;
}

void taint_plan_release(struct taint_plan *plan) {
    json_decref(plan->pools);
    json_decref(plan->devices);
    *plan = (struct taint_plan){.pools = NULL};
}

static const char *text_in(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

// A driver that begins anew is given a moment; what is not synced is no reason to write anything.
static bool keeps_away(const char *state) {
    return strcmp(state, "Stale") == 0 || strcmp(state, "Diverged") == 0 ||
           strcmp(state, "Quarantined") == 0 || strcmp(state, "Frozen") == 0;
}

static bool add_pool(struct taint_plan *plan, const json_t *entry) {
    char key[512];
    const char *driver = text_in(entry, "driver"), *pool = text_in(entry, "pool"),
               *state = text_in(entry, "state");
    bool fresh = !keeps_away(state);
    snprintf(key, sizeof key, "%s\n%s", driver, pool);
    json_t *known = json_object_get(plan->pools, key);
    if (known != NULL) return !fresh || json_object_set_new(known, "fresh", json_true()) == 0;
    json_t *made = json_pack("{s:s, s:s, s:s, s:s, s:b}", "driver", driver, "pool", pool, "state", state,
                             "cause", text_in(entry, "cause"), "fresh", fresh);
    return made != NULL && json_object_set_new(plan->pools, key, made) == 0;
}

bool taint_plan_add(struct taint_plan *plan, const json_t *status) {
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(status, "drivers"), index, entry) {
        if (!add_pool(plan, entry)) return false;
    }
    return true;
}

// A pool of which no device may be used is one that nobody finds fresh.
static bool add_faulty_pool(struct taint_plan *plan, const json_t *one) {
    char key[512];
    const char *driver = text_in(one, "driver"), *pool = text_in(one, "pool");
    snprintf(key, sizeof key, "%s\n%s", driver, pool);
    json_t *known = json_object_get(plan->pools, key);
    if (known != NULL && !json_is_true(json_object_get(known, "fresh"))) return true;
    json_t *made = json_pack("{s:s, s:s, s:s, s:s, s:b}", "driver", driver, "pool", pool, "state", "Faulty",
                             "cause", text_in(one, "rule"), "fresh", 0);
    return made != NULL && json_object_set_new(plan->pools, key, made) == 0;
}

static bool add_device(struct taint_plan *plan, const json_t *one) {
    char name[TAINT_NAME_BYTES];
    const char *driver = text_in(one, "driver"), *pool = text_in(one, "pool"),
               *device = text_in(one, "device");
    if (device[0] == '\0') return add_faulty_pool(plan, one);
    if (json_object_size(plan->devices) >= TAINT_DEVICES_MAX) return true; // the gate still denies them
    taint_rule_name(driver, pool, device, name);
    json_t *rule = json_pack("{s:s, s:s, s:s, s:s, s:s}", "driver", driver, "pool", pool, "device", device,
                             "value", "Faulty", "cause", text_in(one, "rule"));
    return rule != NULL && json_object_set_new(plan->devices, name, rule) == 0;
}

bool taint_plan_add_faulty(struct taint_plan *plan, const json_t *faulty) {
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)faulty, index, one) {
        if (!add_device(plan, one)) return false;
    }
    return true;
}

// driver → number of pools, and -1 as soon as one of them is fresh.
static json_t *count_drivers(const struct taint_plan *plan) {
    const char *key;
    json_t *pool, *counts = json_object();
    json_object_foreach(plan->pools, key, pool) {
        const char *driver = text_in(pool, "driver");
        const json_t *known = json_object_get(counts, driver);
        json_int_t count = known == NULL ? 0 : json_integer_value(known);
        bool spoilt = count < 0 || json_is_true(json_object_get(pool, "fresh"));
        if (json_object_set_new(counts, driver, json_integer(spoilt ? -1 : count + 1)) != 0) {
            json_decref(counts);
            return NULL;
        }
    }
    return counts;
}

static bool want(json_t *wanted, const json_t *pool, bool whole_driver) {
    char name[TAINT_NAME_BYTES];
    const char *driver = text_in(pool, "driver");
    taint_rule_name(driver, whole_driver ? "" : text_in(pool, "pool"), "", name);
    if (json_object_get(wanted, name) != NULL) return true;
    json_t *rule = json_pack("{s:s, s:s, s:s}", "driver", driver, "value", text_in(pool, "state"), "cause",
                             text_in(pool, "cause"));
    if (rule == NULL) return false;
    if (!whole_driver && json_object_set(rule, "pool", json_object_get(pool, "pool")) != 0) {
        json_decref(rule);
        return false;
    }
    return json_object_set_new(wanted, name, rule) == 0;
}

json_t *taint_plan_wanted(const struct taint_plan *plan) {
    const char *key;
    json_t *pool, *wanted = json_copy(plan->devices), *counts = count_drivers(plan);
    bool fine = wanted != NULL && counts != NULL;
    if (fine) json_object_foreach(plan->pools, key, pool) {
            json_int_t count = json_integer_value(json_object_get(counts, text_in(pool, "driver")));
            if (json_is_true(json_object_get(pool, "fresh"))) continue;
            fine = fine && want(wanted, pool, count >= (json_int_t)TAINT_COLLAPSE_AT);
        }
    json_decref(counts);
    if (fine) return wanted;
    json_decref(wanted);
    return NULL;
}

// Takes a member over where there is one.
static bool put_member(json_t *to, const json_t *from, const char *name) {
    const char *text = text_in(from, name);
    return text[0] == '\0' || json_object_set_new(to, name, json_string(text)) == 0;
}

static json_t *rule_of_item(const json_t *item) {
    const json_t *spec = json_object_get(item, "spec");
    const json_t *selector = json_object_get(spec, "deviceSelector");
    json_t *rule = json_object();
    if (rule != NULL && put_member(rule, selector, "driver") && put_member(rule, selector, "pool") &&
        put_member(rule, selector, "device") && put_member(rule, json_object_get(spec, "taint"), "value"))
        return rule;
    json_decref(rule);
    return NULL;
}

json_t *taint_rules_of_list(const json_t *list) {
    size_t index;
    json_t *item, *rules = json_object();
    json_array_foreach(json_object_get(list, "items"), index, item) {
        const json_t *metadata = json_object_get(item, "metadata");
        const char *name = text_in(metadata, "name");
        const char *manager = text_in(json_object_get(metadata, "labels"), "app.kubernetes.io/managed-by");
        // Only names that we would give: a label is soon copied.
        if (strcmp(manager, "drawbridge") != 0 || strncmp(name, "drawbridge-", 11) != 0) continue;
        if (json_object_set_new(rules, name, rule_of_item(item)) != 0) {
            json_decref(rules);
            return NULL;
        }
    }
    return rules;
}

static bool append_name(json_t *list, const char *name) {
    return json_array_append_new(list, json_string(name)) == 0;
}

bool taint_changes_between(const json_t *wanted, const json_t *have, struct taint_changes *ret_changes) {
    struct taint_changes changes = {json_array(), json_array(), json_array()};
    bool fine = changes.make != NULL && changes.change != NULL && changes.remove != NULL;
    const char *name;
    json_t *rule;
    json_object_foreach((json_t *)wanted, name, rule) {
        const json_t *known = json_object_get(have, name);
        if (known == NULL)
            fine = fine && append_name(changes.make, name);
        else if (strcmp(text_in(known, "value"), text_in(rule, "value")) != 0)
            fine = fine && append_name(changes.change, name);
    }
    json_object_foreach((json_t *)have, name, rule) {
        if (json_object_get(wanted, name) == NULL) fine = fine && append_name(changes.remove, name);
    }
    if (!fine) {
        taint_changes_release(&changes);
        return false;
    }
    *ret_changes = changes;
    return true;
}

void taint_changes_release(struct taint_changes *changes) {
    json_decref(changes->make);
    json_decref(changes->change);
    json_decref(changes->remove);
}

json_t *taint_rule_object(const char *api_version, const char *name, const json_t *wanted) {
    char cause[CAUSE_BYTES];
    snprintf(cause, sizeof cause, "%s", text_in(wanted, "cause"));
    json_t *selector = json_object();
    if (selector == NULL || !put_member(selector, wanted, "driver") ||
        !put_member(selector, wanted, "pool") || !put_member(selector, wanted, "device")) {
        json_decref(selector);
        return NULL;
    }
    // A cause cut in the middle of a character is left out rather than failing the rule.
    json_t *annotations = json_pack("{s:s}", "drawbridge.dev/cause", cause);
    if (annotations == NULL) annotations = json_object();
    return json_pack("{s:s, s:s, s:{s:s, s:{s:s}, s:o}, s:{s:o, s:{s:s, s:s, s:s}}}", "apiVersion",
                     api_version, "kind", "DeviceTaintRule", "metadata", "name", name, "labels",
                     "app.kubernetes.io/managed-by", "drawbridge", "annotations", annotations, "spec",
                     "deviceSelector", selector, "taint", "key", TAINT_KEY, "value", text_in(wanted, "value"),
                     "effect", "NoSchedule");
}
