// SPDX-License-Identifier: Apache-2.0
// As client-go's leader election does it, with the same Lease fields, so that its rules hold for others too.
#include "server/operate/leader.h"

#include <jansson.h>
#include <stdlib.h>

#include "server/ledger/clock.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/"

void leader_init(struct leader *leader, const char *namespace, const char *identity) {
    *leader = (struct leader){.holds = false};
    snprintf(leader->namespace, sizeof leader->namespace, "%s", namespace);
    snprintf(leader->identity, sizeof leader->identity, "%s", identity);
}

bool leader_is(const struct leader *leader, int64_t now_ms) {
    return leader->holds && now_ms - leader->renewed_ms < LEADER_DEADLINE_MS;
}

enum leader_action leader_decide(struct leader *leader, const struct leader_record *record, int64_t now_ms) {
    bool changed = strcmp(record->version, leader->seen.version) != 0;
    if (changed || leader->seen_ms == 0) leader->seen_ms = now_ms;
    leader->seen = *record;
    bool ours = record->exists && strcmp(record->holder, leader->identity) == 0;
    if (!ours) leader->holds = false;
    if (!record->exists) return LEADER_CREATE;
    if (ours) return LEADER_RENEW;
    if (record->holder[0] == '\0') return LEADER_TAKE;
    return now_ms - leader->seen_ms >= record->duration_s * 1000 ? LEADER_TAKE : LEADER_WAIT;
}

static void copy_member(const json_t *object, const char *name, char *to, size_t size) {
    const char *text = json_string_value(json_object_get(object, name));
    snprintf(to, size, "%s", text == NULL ? "" : text);
}

static void read_record(struct text body, struct leader_record *record) {
    json_t *lease = json_loadb(body.ptr, body.len, 0, NULL);
    const json_t *spec = json_object_get(lease, "spec");
    *record = (struct leader_record){.exists = true};
    copy_member(spec, "holderIdentity", record->holder, sizeof record->holder);
    copy_member(spec, "renewTime", record->renewed, sizeof record->renewed);
    copy_member(json_object_get(lease, "metadata"), "resourceVersion", record->version,
                sizeof record->version);
    record->duration_s = json_integer_value(json_object_get(spec, "leaseDurationSeconds"));
    record->transitions = json_integer_value(json_object_get(spec, "leaseTransitions"));
    json_decref(lease);
}

// MicroTime, as the API wants it.
static void micro_time(int64_t ms, char buffer[TIME_TEXT_BYTES + 8]) {
    char text[TIME_TEXT_BYTES];
    time_print(ms / 1000 * 1000, text);
    size_t len = strlen(text);
    if (len > 0) text[len - 1] = '\0'; // its Z
    snprintf(buffer, TIME_TEXT_BYTES + 8, "%s.%03d000Z", text, (int)(ms % 1000));
}

static char *lease_body(const struct leader *leader, const char *holder, int64_t wall_ms,
                        enum leader_action action) {
    char now[TIME_TEXT_BYTES + 8];
    const struct leader_record *seen = &leader->seen;
    micro_time(wall_ms, now);
    json_t *spec = json_pack("{s:s, s:i, s:s, s:I}", "holderIdentity", holder, "leaseDurationSeconds",
                             holder[0] == '\0' ? 1 : LEADER_DURATION_S, "renewTime", now, "leaseTransitions",
                             (json_int_t)(seen->transitions + (action == LEADER_TAKE)));
    if (spec != NULL && action != LEADER_RENEW) json_object_set_new(spec, "acquireTime", json_string(now));
    json_t *metadata = json_pack("{s:s, s:s}", "name", LEADER_LEASE, "namespace", leader->namespace);
    if (metadata != NULL && action != LEADER_CREATE)
        json_object_set_new(metadata, "resourceVersion", json_string(seen->version));
    json_t *lease = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "coordination.k8s.io/v1", "kind", "Lease",
                              "metadata", metadata, "spec", spec);
    char *body = lease == NULL ? NULL : json_dumps(lease, JSON_COMPACT);
    json_decref(lease);
    return body;
}

// A renewal keeps acquireTime: it is patched in, the rest is written whole.
static bool write_lease(struct leader *leader, struct api *api, const char *holder, int64_t wall_ms,
                        enum leader_action action, struct api_answer *ret_answer, struct fault *fault) {
    char path[API_PATH_BYTES];
    bool create = action == LEADER_CREATE;
    snprintf(path, sizeof path, LEASES "%s/leases%s", leader->namespace, create ? "" : "/" LEADER_LEASE);
    char *body = lease_body(leader, holder, wall_ms, action);
    if (body == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the Lease");
    bool fine = api_request(api, create ? API_POST : API_MERGE_PATCH, path, text_of(body), ret_answer, fault);
    free(body);
    return fine;
}

static bool read_lease(struct leader *leader, struct api *api, struct leader_record *ret_record,
                       struct fault *fault) {
    char path[API_PATH_BYTES];
    struct api_answer answer;
    snprintf(path, sizeof path, LEASES "%s/leases/" LEADER_LEASE, leader->namespace);
    if (!api_request(api, API_GET, path, (struct text){NULL, 0}, &answer, fault)) return false;
    if (answer.http_code == 404) {
        *ret_record = (struct leader_record){.exists = false};
        return true;
    }
    if (!api_is_success(&answer)) return api_refusal(&answer, fault);
    read_record(answer.body, ret_record);
    return true;
}

bool leader_step(struct leader *leader, struct api *api, int64_t now_ms, int64_t wall_ms,
                 struct fault *fault) {
    struct leader_record record;
    struct api_answer answer;
    if (now_ms < leader->next_ms) return true;
    leader->next_ms = now_ms + LEADER_STEP_MS;
    if (!read_lease(leader, api, &record, fault)) return fault_wrap(fault, "Lease " LEADER_LEASE);
    enum leader_action action = leader_decide(leader, &record, now_ms);
    if (action == LEADER_WAIT) return true;
    if (!write_lease(leader, api, leader->identity, wall_ms, action, &answer, fault))
        return fault_wrap(fault, "Lease " LEADER_LEASE);
    if (api_is_success(&answer)) {
        // The answer may have been long on its way: what counts is when it was asked.
        leader->renewed_ms = now_ms;
        leader->holds = true;
        return true;
    }
    if (answer.http_code == 409) return true;
    return api_refusal(&answer, fault) || fault_wrap(fault, "Lease " LEADER_LEASE);
}

void leader_resign(struct leader *leader, struct api *api, int64_t wall_ms) {
    struct leader_record record;
    struct api_answer answer;
    struct fault fault;
    if (!leader->holds) return;
    leader->holds = false;
    if (!read_lease(leader, api, &record, &fault) || strcmp(record.holder, leader->identity) != 0) return;
    leader->seen = record;
    // Whatever becomes of it: the Lease runs out by itself.
    (void)write_lease(leader, api, "", wall_ms, LEADER_RENEW, &answer, &fault);
}
