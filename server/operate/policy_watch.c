// SPDX-License-Identifier: Apache-2.0
// Two lists of entries and their difference. The lists are short: a policy holds some hundred entries at
// most.
#include "server/operate/policy_watch.h"

#include <string.h>

#include "server/ledger/clock.h"
#include "validators/registry/registry.h"

// ---- entries

static bool put(json_t *entry, const char *name, struct text text) {
    return text.len == 0 || json_object_set_new(entry, name, json_stringn(text.ptr, text.len)) == 0;
}

static bool put_texts(json_t *entry, const char *name, const struct text_list *list) {
    if (list->count == 0) return true;
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; i < list->count && fine; i++)
        fine = json_array_append_new(array, json_stringn(list->items[i].ptr, list->items[i].len)) == 0;
    return json_object_set_new(entry, name, array) == 0 && fine;
}

static bool put_scope(json_t *entry, bool cluster, struct text driver, struct text node,
                      struct text namespace) {
    json_t *scope = NULL;
    if (cluster)
        scope = json_string("the cluster");
    else if (driver.len > 0 && node.len > 0)
        scope = json_sprintf("driver %.*s on node %.*s", TEXT_ARG(driver), TEXT_ARG(node));
    else if (driver.len > 0)
        scope = json_sprintf("driver %.*s", TEXT_ARG(driver));
    else if (node.len > 0)
        scope = json_sprintf("node %.*s", TEXT_ARG(node));
    else if (namespace.len > 0)
        scope = json_sprintf("namespace %.*s", TEXT_ARG(namespace));
    else
        scope = json_string("nothing");
    return json_object_set_new(entry, "scope", scope) == 0;
}

static bool take(json_t *list, json_t *entry, bool fine) {
    if (fine && entry != NULL) return json_array_append_new(list, entry) == 0;
    json_decref(entry);
    return false;
}

// An entry that has no effect, and why.
static bool refuse(json_t *entry, const char *why) {
    json_t *what = json_incref(json_object_get(entry, "action"));
    return json_object_set_new(entry, "what", what) == 0 &&
           json_object_set_new(entry, "action", json_string("refused")) == 0 &&
           json_object_set_new(entry, "message", json_string(why)) == 0;
}

static bool add_freeze(json_t *list, const struct freeze *freeze) {
    json_t *entry = json_pack("{s:s}", "action", "freeze");
    int scopes =
        freeze->cluster + (freeze->driver.len > 0) + (freeze->node.len > 0) + (freeze->namespace.len > 0);
    bool fine =
        entry != NULL && put_scope(entry, freeze->cluster, freeze->driver, freeze->node, freeze->namespace) &&
        put(entry, "by", freeze->by) && put(entry, "at", freeze->at) &&
        put(entry, "reason", freeze->reason) && put(entry, "expires", freeze->expires) &&
        (scopes > 0 || refuse(entry, "it names no cluster, driver, node or namespace: nothing is frozen"));
    return take(list, entry, fine);
}

static bool add_resume(json_t *list, const struct resume *resume) {
    json_t *entry = json_pack("{s:s}", "action", "resume");
    bool confirms = resume->from_version.set || resume->accept.count > 0;
    bool fine =
        entry != NULL && put_scope(entry, resume->cluster, resume->driver, resume->node, resume->namespace) &&
        put(entry, "by", resume->by) && put(entry, "at", resume->at) && put(entry, "reason", resume->reason);
    if (fine && resume->from_version.set)
        fine = json_object_set_new(entry, "fromVersion", json_integer(resume->from_version.value)) == 0;
    fine = fine && put_texts(entry, "accept", &resume->accept);
    if (fine && confirms && resume->driver.len == 0 && resume->node.len == 0)
        fine = refuse(entry, "fromVersion and accept need a driver or a node: nothing is confirmed");
    return take(list, entry, fine);
}

static bool add_rule(json_t *list, const struct ledger_rule *wanted) {
    json_t *entry = json_pack("{s:s}", "action", "rule");
    bool fine = entry != NULL && put(entry, "rule", wanted->id) && put(entry, "to", wanted->action) &&
                put_texts(entry, "drivers", &wanted->drivers);
    if (fine && wanted->namespace_selector.set)
        fine = json_object_set_new(entry, "namespaces", json_string("by selector")) == 0;
    const struct rule *rule = registry_find(wanted->id);
    if (fine && rule == NULL)
        fine = refuse(entry, "there is no such rule");
    else if (fine && rule->locked)
        fine = refuse(entry, "the action of this rule cannot be changed");
    else if (fine && wanted->action.len == 0)
        fine = refuse(entry, "an action is deny, warn, audit or off");
    return take(list, entry, fine);
}

json_t *policy_watch_entries(const struct ledger_policy *policy) {
    json_t *list = json_array();
    bool fine = list != NULL;
    if (policy == NULL) return list;
    for (size_t i = 0; i < policy->freezes.count && fine; i++)
        fine = add_freeze(list, &policy->freezes.items[i]);
    for (size_t i = 0; i < policy->resumes.count && fine; i++)
        fine = add_resume(list, &policy->resumes.items[i]);
    for (size_t i = 0; i < policy->rules.count && fine; i++) fine = add_rule(list, &policy->rules.items[i]);
    if (fine) return list;
    json_decref(list);
    return NULL;
}

// ---- the difference

static bool has(const json_t *list, const json_t *entry) {
    size_t index;
    json_t *other;
    json_array_foreach((json_t *)list, index, other) if (json_equal(other, entry)) return true;
    return false;
}

static const char *member(const json_t *entry, const char *name) {
    const char *text = json_string_value(json_object_get(entry, name));
    return text == NULL ? "" : text;
}

static bool is(const json_t *entry, const char *action) {
    return strcmp(member(entry, "action"), action) == 0;
}

// Whether an entry that came says what became of one that is gone.
static bool is_explained(const json_t *gone, const json_t *entries, const json_t *seen) {
    size_t index;
    json_t *entry;
    json_array_foreach((json_t *)entries, index, entry) {
        if (has(seen, entry)) continue;
        if (is(gone, "rule") && is(entry, "rule") && strcmp(member(gone, "rule"), member(entry, "rule")) == 0)
            return true;
        if (is(gone, "freeze") && (is(entry, "freeze") || is(entry, "resume")) &&
            strcmp(member(gone, "scope"), member(entry, "scope")) == 0)
            return true;
    }
    return false;
}

// A freeze that is no longer there, or a rule that has its own action again. Resumes are forgotten in time.
static bool tell_gone(json_t *records, const json_t *gone, const json_t *entries, const json_t *seen,
                      int64_t now_ms) {
    int64_t end_ms;
    bool freeze = is(gone, "freeze");
    if ((!freeze && !is(gone, "rule")) || is_explained(gone, entries, seen)) return true;
    bool expired = freeze && time_read_ms(text_of(member(gone, "expires")), &end_ms) && end_ms <= now_ms;
    json_t *record = json_copy((json_t *)gone);
    bool fine = record != NULL;
    if (fine && freeze)
        fine = json_object_set_new(record, "action", json_string(expired ? "expired" : "lifted")) == 0;
    if (fine && !freeze) fine = json_object_set_new(record, "to", json_string("its default")) == 0;
    // Who made it is not who took it away.
    if (fine && freeze && !expired) json_object_del(record, "by");
    return take(records, record, fine);
}

static bool tell_new(json_t *records, const json_t *entry, bool start) {
    json_t *record = json_copy((json_t *)entry);
    bool fine = record != NULL;
    if (fine && start) fine = json_object_set_new(record, "observed", json_string("start")) == 0;
    return take(records, record, fine);
}

json_t *policy_watch_step(struct policy_watch *watch, json_t *entries, int64_t now_ms) {
    size_t index;
    json_t *entry;
    json_t *records = json_array();
    bool fine = records != NULL && entries != NULL;
    if (fine) {
        json_array_foreach(entries, index, entry) {
            if (!has(watch->seen, entry)) fine = fine && tell_new(records, entry, watch->seen == NULL);
        }
        json_array_foreach(watch->seen, index, entry) {
            if (!has(entries, entry)) fine = fine && tell_gone(records, entry, entries, watch->seen, now_ms);
        }
    }
    if (!fine) {
        json_decref(records);
        json_decref(entries);
        return NULL;
    }
    json_decref(watch->seen);
    watch->seen = entries;
    return records;
}

void policy_watch_release(struct policy_watch *watch) {
    json_decref(watch->seen);
    *watch = (struct policy_watch){.seen = NULL};
}
