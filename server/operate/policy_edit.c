// SPDX-License-Identifier: Apache-2.0
// Lists are made anew; entries that stay are the same values.
#include "server/operate/policy_edit.h"

#include <string.h>

#include "server/ledger/clock.h"

// ---- the change

// UTF-8 without control bytes.
static bool is_plain(const char *string) {
    struct text text = text_of(string);
    for (size_t at = 0, len; at < text.len; at += len) {
        len = text_utf8_len(text_slice(text, at, text.len));
        if (len == 0 || (unsigned char)string[at] < 0x20 || string[at] == 0x7f) return false;
    }
    return true;
}

static bool check_reason(const struct policy_change *change, struct fault *fault) {
    if (change->reason == NULL || change->reason[0] == '\0')
        return fault_set(fault, FAULT_USAGE, "--reason is needed: who reads it later must know why");
    if (strlen(change->reason) > POLICY_REASON_BYTES)
        return fault_set(fault, FAULT_USAGE, "--reason: at most %u bytes", POLICY_REASON_BYTES);
    if (!is_plain(change->reason)) return fault_set(fault, FAULT_USAGE, "--reason: one line of plain text");
    return true;
}

static bool check_name(const char *flag, const char *name, struct fault *fault) {
    if (name == NULL) return true;
    size_t len = strlen(name);
    bool fine = len > 0 && len <= 253 && name[0] != '-' && name[0] != '.';
    for (size_t i = 0; i < len && fine; i++) {
        char byte = name[i];
        fine = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
    }
    return fine ||
           fault_set(fault, FAULT_USAGE, "%s \"%.64s\": lower case letters, digits, '-' and '.'", flag, name);
}

bool policy_change_check(const struct policy_change *change, struct fault *fault) {
    int count =
        change->cluster + (change->driver != NULL) + (change->node != NULL) + (change->namespace != NULL);
    bool confirms = change->from_version_set || change->accept_count > 0;
    bool pair = count == 2 && change->driver != NULL && change->node != NULL && confirms;
    if (count != 1 && !pair)
        return fault_set(fault, FAULT_USAGE,
                         "exactly one of --cluster, --driver, --node and --namespace is needed%s",
                         change->verb == POLICY_RESUME
                             ? "; with --from-version or --accept --driver and --node may be together"
                             : "");
    if (confirms && change->driver == NULL && change->node == NULL)
        return fault_set(fault, FAULT_USAGE, "--from-version and --accept need --driver, --node or both");
    if (change->verb == POLICY_FREEZE && change->for_ms <= 0)
        return fault_set(fault, FAULT_USAGE, "--for is needed: how long the freeze lasts, such as 2h");
    if (change->accept_count > POLICY_ACCEPTS_LIMIT)
        return fault_set(fault, FAULT_USAGE, "--accept: at most %u claims at a time; or all",
                         POLICY_ACCEPTS_LIMIT);
    for (size_t i = 0; i < change->accept_count; i++)
        if (change->accept[i][0] == '\0' || strlen(change->accept[i]) > 128 || !is_plain(change->accept[i]))
            return fault_set(fault, FAULT_USAGE, "--accept \"%.64s\": a claim's UID, or all",
                             change->accept[i]);
    return check_reason(change, fault) && check_name("--driver", change->driver, fault) &&
           check_name("--node", change->node, fault) && check_name("--namespace", change->namespace, fault);
}

const char *policy_change_scope(const struct policy_change *change, char buffer[POLICY_SCOPE_BYTES]) {
    if (change->cluster)
        snprintf(buffer, POLICY_SCOPE_BYTES, "the cluster");
    else if (change->driver != NULL && change->node != NULL)
        snprintf(buffer, POLICY_SCOPE_BYTES, "driver %s on node %s", change->driver, change->node);
    else if (change->driver != NULL)
        snprintf(buffer, POLICY_SCOPE_BYTES, "driver %s", change->driver);
    else if (change->node != NULL)
        snprintf(buffer, POLICY_SCOPE_BYTES, "node %s", change->node);
    else
        snprintf(buffer, POLICY_SCOPE_BYTES, "namespace %s", change->namespace);
    return buffer;
}

// ---- entries

static bool member_is(const json_t *entry, const char *name, const char *wanted) {
    const char *have = json_string_value(json_object_get(entry, name));
    if (have != NULL && have[0] == '\0') have = NULL;
    return wanted == NULL ? have == NULL : have != NULL && strcmp(have, wanted) == 0;
}

static bool same_scope(const json_t *entry, const struct policy_change *change) {
    return json_is_true(json_object_get(entry, "cluster")) == change->cluster &&
           member_is(entry, "driver", change->driver) && member_is(entry, "node", change->node) &&
           member_is(entry, "namespace", change->namespace);
}

static bool is_expired(const json_t *entry, int64_t now_ms) {
    int64_t expires_ms;
    const char *expires = json_string_value(json_object_get(entry, "expires"));
    // A freeze whose end cannot be read goes on: nothing is let through because something is not understood.
    return expires != NULL && time_read_ms(text_of(expires), &expires_ms) && expires_ms <= now_ms;
}

static bool put(json_t *entry, const char *name, const char *value) {
    return value == NULL || json_object_set_new(entry, name, json_string(value)) == 0;
}

// Scope, reason, who and when.
static json_t *new_entry(const struct policy_change *change) {
    char at[TIME_TEXT_BYTES];
    json_t *entry = json_object();
    if (entry == NULL) return NULL;
    time_print(change->now_ms, at);
    if ((!change->cluster || json_object_set_new(entry, "cluster", json_true()) == 0) &&
        put(entry, "driver", change->driver) && put(entry, "node", change->node) &&
        put(entry, "namespace", change->namespace) && put(entry, "reason", change->reason) &&
        put(entry, "by", change->by) && put(entry, "at", at))
        return entry;
    json_decref(entry);
    return NULL;
}

static bool add_new(json_t *list, json_t *entry, struct fault *fault) {
    return (entry != NULL && json_array_append_new(list, entry) == 0) ||
           fault_set(fault, FAULT_MEMORY, "no memory for the policy");
}

// ---- the lists

static bool list_of(const json_t *policy, const char *name, const json_t **ret_list, struct fault *fault) {
    const json_t *list = json_object_get(json_object_get(policy, "spec"), name);
    *ret_list = NULL;
    if (list == NULL || json_is_null(list)) return true;
    if (!json_is_array(list))
        return fault_set(fault, FAULT_INPUT, "spec.%s of the LedgerPolicy is not a list", name);
    *ret_list = list;
    return true;
}

static bool add_freeze(const struct policy_change *change, struct policy_edit *edit, struct fault *fault) {
    char expires[TIME_TEXT_BYTES];
    // Whole seconds: a person reads them.
    time_print((change->now_ms + change->for_ms) / 1000 * 1000, expires);
    json_t *entry = new_entry(change);
    if (entry != NULL && !put(entry, "expires", expires)) {
        json_decref(entry);
        entry = NULL;
    }
    snprintf(edit->expires, sizeof edit->expires, "%s", expires);
    return add_new(edit->freezes, entry, fault);
}

static bool make_freezes(const json_t *old, const struct policy_change *change, struct policy_edit *edit,
                         struct fault *fault) {
    size_t index;
    json_t *entry;
    json_array_foreach((json_t *)old, index, entry) {
        if (is_expired(entry, change->now_ms)) {
            edit->pruned_count++;
        } else if (same_scope(entry, change)) {
            edit->replaced = change->verb == POLICY_FREEZE;
            edit->lifted_count += change->verb == POLICY_RESUME;
        } else if (json_array_append(edit->freezes, entry) != 0) {
            return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
        }
    }
    if (change->verb == POLICY_FREEZE && !add_freeze(change, edit, fault)) return false;
    return json_array_size(edit->freezes) <= POLICY_FREEZES_LIMIT ||
           fault_set(fault, FAULT_STATE, "the policy holds %u freezes; resume some first",
                     POLICY_FREEZES_LIMIT);
}

static bool names_version(const json_t *entry) {
    return json_is_integer(json_object_get(entry, "fromVersion"));
}

// A newer resume for the same scope takes the place of one that names a version, when it names one too.
static bool is_superseded(const json_t *entry, const struct policy_change *change) {
    return change->from_version_set && names_version(entry) && same_scope(entry, change) &&
           json_object_get(entry, "accept") == NULL;
}

static bool add_resume(const struct policy_change *change, json_t *list, struct fault *fault) {
    json_t *entry = new_entry(change);
    bool fine = entry != NULL;
    if (fine && change->from_version_set)
        fine = json_object_set_new(entry, "fromVersion", json_integer(change->from_version)) == 0;
    if (fine && change->accept_count > 0) {
        json_t *accept = json_array();
        for (size_t i = 0; i < change->accept_count && accept != NULL; i++)
            fine = json_array_append_new(accept, json_string(change->accept[i])) == 0 && fine;
        fine = json_object_set_new(entry, "accept", accept) == 0 && fine;
    }
    if (!fine) {
        json_decref(entry);
        entry = NULL;
    }
    return add_new(list, entry, fault);
}

static void forget_oldest(json_t *resumes) {
    for (size_t i = 0; json_array_size(resumes) > POLICY_RESUMES_KEPT && i < json_array_size(resumes);)
        if (names_version(json_array_get(resumes, i)))
            i++;
        else
            json_array_remove(resumes, i);
}

static bool make_resumes(const json_t *old, const struct policy_change *change, struct policy_edit *edit,
                         struct fault *fault) {
    size_t index;
    json_t *entry;
    json_array_foreach((json_t *)old, index, entry) {
        if (change->verb == POLICY_RESUME && is_superseded(entry, change)) continue;
        if (json_array_append(edit->resumes, entry) != 0)
            return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    }
    if (change->verb == POLICY_FREEZE) return true;
    if (!add_resume(change, edit->resumes, fault)) return false;
    forget_oldest(edit->resumes);
    return json_array_size(edit->resumes) <= POLICY_RESUMES_LIMIT ||
           fault_set(fault, FAULT_STATE, "the policy holds %u resumes that name a version; remove some",
                     POLICY_RESUMES_LIMIT);
}

bool policy_edit_make(const json_t *policy, const struct policy_change *change, struct policy_edit *ret_edit,
                      struct fault *fault) {
    char scope[POLICY_SCOPE_BYTES];
    const json_t *freezes, *resumes;
    if (!list_of(policy, "freezes", &freezes, fault) || !list_of(policy, "resumes", &resumes, fault))
        return false;
    struct policy_edit edit = {.freezes = json_array(), .resumes = json_array()};
    bool fine = (edit.freezes != NULL && edit.resumes != NULL) ||
                fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    fine = fine && make_freezes(freezes, change, &edit, fault) && make_resumes(resumes, change, &edit, fault);
    bool confirms = change->from_version_set || change->accept_count > 0;
    if (fine && change->verb == POLICY_RESUME && edit.lifted_count == 0 && !confirms)
        fine = fault_set(fault, FAULT_STATE, "%.150s is not frozen; nothing was changed",
                         policy_change_scope(change, scope));
    if (!fine) {
        policy_edit_release(&edit);
        return false;
    }
    *ret_edit = edit;
    return true;
}

void policy_edit_release(struct policy_edit *edit) {
    json_decref(edit->freezes);
    json_decref(edit->resumes);
    *edit = (struct policy_edit){.freezes = NULL};
}

size_t policy_prune(const json_t *policy, int64_t now_ms, json_t **ret_freezes) {
    struct fault fault;
    const json_t *old;
    size_t index, count = 0;
    json_t *entry, *kept = json_array();
    bool fine = kept != NULL && list_of(policy, "freezes", &old, &fault);
    if (fine) json_array_foreach((json_t *)old, index, entry) {
            bool ends = is_expired(entry, now_ms);
            count += ends;
            fine = fine && (ends || json_array_append(kept, entry) == 0);
        }
    if (!fine || count == 0) {
        json_decref(kept);
        return 0; // without memory another time
    }
    *ret_freezes = kept;
    return count;
}

json_t *policy_new_object(const struct policy_edit *edit) {
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:O, s:O}}", "apiVersion", "drawbridge.dev/v1alpha1", "kind",
                     "LedgerPolicy", "metadata", "name", "default", "spec", "freezes", edit->freezes,
                     "resumes", edit->resumes);
}
