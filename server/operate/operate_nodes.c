// SPDX-License-Identifier: Apache-2.0
// Every node is looked at in turn, those that changed at once.
#include "server/operate/operate_state.h"

#include <stdlib.h>

#include "server/ledger/clock.h"

#define CHANGED_A_TICK 500
#define ROUND_TICKS    6 // a round over all nodes takes so many ticks, where there are few enough
#define NODES_A_TICK   500u
#define NODES_AT_LEAST 8u
#define WRITES_A_TICK  20
#define NODE_LEDGERS   "/apis/drawbridge.dev/v1alpha1/nodeledgers"

static const char *text_in(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

// ---- what is told

static void tell_state(struct operate *operate, const char *name, const json_t *status) {
    const char *state = text_in(status, "state");
    const char *cause = text_in(status, "cause");
    char note[EVENT_NOTE_BYTES], reason[48];
    bool fresh = strcmp(state, "Fresh") == 0;
    if (strcmp(state, "NotSynced") == 0 || strcmp(state, "Unmapped") == 0) return;
    snprintf(reason, sizeof reason, "Ledger%s", state);
    snprintf(note, sizeof note, fresh ? "the node's ledger is fresh%s%s" : "[ledger-stale] node is %s: %s",
             fresh ? "" : state, cause);
    operate_tell(operate, &(struct event){.api_version = "v1",
                                          .kind = "Node",
                                          .name = text_of(name),
                                          .uid = text_of(name), // as the kubelet does
                                          .warning = !fresh,
                                          .reason = reason,
                                          .action = "Survey",
                                          .note = text_of(note)});
}

static void tell_divergences(struct operate *operate, const json_t *divergences) {
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)divergences, index, one) {
        char note[EVENT_NOTE_BYTES];
        snprintf(note, sizeof note,
                 "[ledger-diverged] status of claim %s (%s) differs from what it takes by rights: %s",
                 text_in(one, "claim"), text_in(one, "claimUID"), text_in(one, "class"));
        operate_tell(operate, &(struct event){.api_version = "v1",
                                              .kind = "Pod",
                                              .namespace = text_of(text_in(one, "namespace")),
                                              .name = text_of(text_in(one, "pod")),
                                              .uid = text_of(text_in(one, "podUID")),
                                              .warning = true,
                                              .reason = "LedgerDiverged",
                                              .action = "Survey",
                                              .note = text_of(note)});
    }
}

static bool has(const json_t *list, const json_t *one) {
    size_t index;
    json_t *other;
    json_array_foreach((json_t *)list, index, other) if (json_equal(other, one)) return true;
    return false;
}

// The audit records of divergences that came or went.
static void audit_divergences(struct operate *operate, const struct picture *picture, const char *action,
                              const json_t *now, const json_t *before) {
    size_t index;
    json_t *one;
    if (operate->audit == NULL) return;
    json_array_foreach((json_t *)now, index, one) {
        if (has(before, one)) continue;
        json_t *record = json_pack("{s:s, s:s}", "action", action, "node", picture->name);
        if (record != NULL && json_object_update_missing(record, one) == 0) {
            char *text = json_dumps(record, JSON_COMPACT);
            if (text != NULL) operate->audit(operate->audit_context, text_of(text));
            free(text);
        }
        json_decref(record);
    }
}

static void note_divergences(struct operate *operate, struct picture *picture, json_t *divergences) {
    tell_divergences(operate, divergences);
    if (json_array_size(divergences) == 0 && picture->divergences == NULL) return;
    audit_divergences(operate, picture, "diverged", divergences, picture->divergences);
    audit_divergences(operate, picture, "converged", picture->divergences, divergences);
    json_decref(picture->divergences);
    picture->divergences = json_array_size(divergences) == 0 ? NULL : json_incref(divergences);
}

// ---- the survey

static void note_since(struct picture *picture, json_t *status, bool same_state) {
    const char *since = text_in(status, "since");
    if (since[0] != '\0')
        snprintf(picture->since, sizeof picture->since, "%s", since);
    else if (!same_state || picture->since[0] == '\0')
        time_print(operate_wall_ms() / 1000 * 1000, picture->since);
    json_object_set_new(status, "since", json_string(picture->since));
}

static void take(struct operate *operate, struct picture *picture, struct survey_node *node) {
    bool first = picture->status == NULL;
    bool same = !first && strcmp(text_in(picture->status, "state"), text_in(node->status, "state")) == 0;
    bool fresh = strcmp(text_in(node->status, "state"), "Fresh") == 0;
    note_since(picture, node->status, same);
    bool differs = first || node_status_digest(picture->status) != node_status_digest(node->status);
    if (differs) {
        picture->dirty = true;
        operate->changed = true;
    }
    if (!same && !(first && fresh)) tell_state(operate, picture->name, node->status);
    note_divergences(operate, picture, node->divergences);
    if (json_equal(picture->faulty, node->faulty) == 0) {
        json_decref(picture->faulty);
        picture->faulty = json_incref(node->faulty);
        picture->faulty_ms = feed_now_ms();
    }
    picture->known = node->known;
    json_decref(picture->status);
    picture->status = json_incref(node->status);
}

// False when the node is gone; its NodeLedger goes with the Node that owns it.
static bool look_at(struct operate *operate, struct picture *picture) {
    struct survey_node node;
    int minor = atomic_load_explicit(operate->minor, memory_order_relaxed);
    if (!survey_node(operate->store, picture->name, minor, false, &node)) return false;
    take(operate, picture, &node);
    survey_node_release(&node);
    return true;
}

static void forget(struct operate *operate, struct picture *picture) {
    size_t at = (size_t)(picture - operate->pictures.items);
    if (at < operate->cursor) operate->cursor--;
    pictures_remove(&operate->pictures, picture);
    operate->changed = true;
}

// Nodes that are new or that changed. True when there are no more.
static bool look_at_changed(struct operate *operate) {
    for (int i = 0; i < CHANGED_A_TICK; i++) {
        char *name = survey_changed(operate->store);
        if (name == NULL) return true;
        struct picture *picture = pictures_get(&operate->pictures, name);
        free(name);
        if (picture == NULL) return false;
        picture->dirty = true;
        if (!look_at(operate, picture)) forget(operate, picture);
    }
    return false;
}

void operate_survey(struct operate *operate) {
    bool all_known = look_at_changed(operate);
    size_t batch = operate->pictures.count / ROUND_TICKS + NODES_AT_LEAST;
    if (batch > NODES_A_TICK) batch = NODES_A_TICK;
    for (size_t i = 0; i < batch && operate->cursor < operate->pictures.count; i++) {
        struct picture *picture = &operate->pictures.items[operate->cursor++];
        if (!look_at(operate, picture)) forget(operate, picture);
    }
    if (operate->cursor < operate->pictures.count) return;
    operate->cursor = 0;
    operate->rounds += all_known;
}

// ---- NodeLedgers

// Owned by its Node, so that it goes when the Node goes.
static json_t *owner_of(struct operate *operate, const char *name) {
    char path[API_PATH_BYTES];
    struct api_answer answer;
    struct fault fault;
    snprintf(path, sizeof path, "/api/v1/nodes/%s", name);
    if (!api_request(&operate->writer.api, API_GET, path, (struct text){NULL, 0}, &answer, &fault) ||
        !api_is_success(&answer))
        return NULL;
    json_t *node = json_loadb(answer.body.ptr, answer.body.len, 0, NULL);
    const char *uid = text_in(json_object_get(node, "metadata"), "uid");
    json_t *owner =
        json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "v1", "kind", "Node", "name", name, "uid", uid);
    json_decref(node);
    return owner;
}

static bool create(struct operate *operate, const char *name) {
    json_t *owner = owner_of(operate, name);
    if (owner == NULL) return false;
    json_t *object = json_pack("{s:s, s:s, s:{s:s, s:{s:s}, s:[o]}}", "apiVersion", "drawbridge.dev/v1alpha1",
                               "kind", "NodeLedger", "metadata", "name", name, "labels",
                               "app.kubernetes.io/managed-by", "drawbridge", "ownerReferences", owner);
    int code = writer_send(&operate->writer, WRITE_NODE_LEDGER, API_POST, NODE_LEDGERS, object, 404, NULL);
    if (code == 404)
        writer_failed(&operate->writer, WRITE_NODE_LEDGER, code, 0,
                      "the API server does not know NodeLedger; apply the CRDs of the chart");
    return code == 201;
}

// The whole status takes the place of the old one: members that are gone must not stay.
static int put_status(struct operate *operate, const char *name, json_t *status) {
    char path[API_PATH_BYTES];
    snprintf(path, sizeof path, NODE_LEDGERS "/%s/status", name);
    json_t *patch = json_pack("[{s:s, s:s, s:O}]", "op", "add", "path", "/status", "value", status);
    return writer_send(&operate->writer, WRITE_NODE_LEDGER, API_JSON_PATCH, path, patch, 404, NULL);
}

static void write_status(struct operate *operate, struct picture *picture, json_t *status) {
    uint64_t digest = node_status_digest(status);
    if (!picture->written || picture->digest != digest) {
        int code = put_status(operate, picture->name, status);
        if (code == 404 && create(operate, picture->name)) code = put_status(operate, picture->name, status);
        if (code != 200) return;
    }
    picture->written = true;
    picture->digest = digest;
    picture->written_ms = feed_now_ms();
    picture->dirty = false;
}

static void write_node(struct operate *operate, struct picture *picture) {
    struct survey_node node;
    int minor = atomic_load_explicit(operate->minor, memory_order_relaxed);
    if (!survey_node(operate->store, picture->name, minor, true, &node)) return;
    const char *state = text_in(node.status, "state");
    bool same = strcmp(state, text_in(picture->status, "state")) == 0;
    note_since(picture, node.status, same);
    if (survey_is_synced(node.status)) write_status(operate, picture, node.status);
    survey_node_release(&node);
}

static bool is_due(const struct picture *picture, int64_t now_ms) {
    if (!picture->known || !picture->dirty || !survey_is_synced(picture->status)) return false;
    return !picture->written || now_ms - picture->written_ms >= OPERATE_NODE_WRITE_MS;
}

void operate_write_nodes(struct operate *operate) {
    int left = WRITES_A_TICK;
    int64_t now_ms = feed_now_ms();
    for (size_t i = 0; i < operate->pictures.count && left > 0; i++) {
        if (!is_due(&operate->pictures.items[i], now_ms)) continue;
        if (!writer_is_ready(&operate->writer, WRITE_NODE_LEDGER, feed_now_ms()) || !operate_leads(operate))
            return;
        write_node(operate, &operate->pictures.items[i]);
        left--;
    }
}
