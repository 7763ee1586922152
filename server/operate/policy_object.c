// SPDX-License-Identifier: Apache-2.0
// A merge patch of the two lists, on the version that was read: whatever else the policy holds stays.
#include "server/operate/policy_object.h"

#define ATTEMPTS     5
#define DEFAULT_PATH POLICY_PATH "/default"
#define WHOAMI_PATH  "/apis/authentication.k8s.io/v1/selfsubjectreviews"
#define WHOAMI_BODY  "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}"

static bool send_object(struct api *api, enum api_method method, const char *path, json_t *object,
                        struct api_answer *ret_answer, struct fault *fault) {
    char *body = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (body == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    bool fine = api_request(api, method, path, text_of(body), ret_answer, fault);
    free(body);
    return fine;
}

static bool read_policy(struct api *api, json_t **ret_policy, struct fault *fault) {
    struct api_answer answer;
    json_error_t error;
    *ret_policy = NULL;
    if (!api_request(api, API_GET, DEFAULT_PATH, (struct text){NULL, 0}, &answer, fault)) return false;
    if (answer.http_code == 404) return true;
    if (!api_is_success(&answer)) return api_refusal(&answer, fault);
    *ret_policy = json_loadb(answer.body.ptr, answer.body.len, 0, &error);
    return *ret_policy != NULL ||
           fault_set(fault, FAULT_INPUT, "the API server's LedgerPolicy cannot be read: %.100s", error.text);
}

static const char *version_of(const json_t *policy) {
    return json_string_value(json_object_get(json_object_get(policy, "metadata"), "resourceVersion"));
}

static json_t *patch_of(const json_t *policy, json_t *freezes, json_t *resumes) {
    return json_pack("{s:{s:s?}, s:{s:O, s:O*}}", "metadata", "resourceVersion", version_of(policy), "spec",
                     "freezes", freezes, "resumes", resumes);
}

static bool explain(const struct api_answer *answer, struct fault *fault) {
    if (answer->http_code == 404)
        return fault_set(fault, FAULT_STATE,
                         "the API server does not know LedgerPolicy; apply the CRDs of the chart first");
    return api_refusal(answer, fault) || fault_wrap(fault, "the LedgerPolicy is not written");
}

bool policy_object_change(struct api *api, const struct policy_change *change, struct policy_edit *ret_edit,
                          struct fault *fault) {
    for (int attempt = 1;; attempt++) {
        json_t *policy;
        struct policy_edit edit;
        struct api_answer answer;
        if (!read_policy(api, &policy, fault)) return false;
        bool fine = policy_edit_make(policy, change, &edit, fault);
        if (!fine) {
            json_decref(policy);
            return false;
        }
        if (policy == NULL)
            fine = send_object(api, API_POST, POLICY_PATH, policy_new_object(&edit), &answer, fault);
        else
            fine = send_object(api, API_MERGE_PATCH, DEFAULT_PATH,
                               patch_of(policy, edit.freezes, edit.resumes), &answer, fault);
        json_decref(policy);
        if (fine && api_is_success(&answer)) {
            *ret_edit = edit;
            return true;
        }
        policy_edit_release(&edit);
        if (!fine) return false;
        if (answer.http_code != 409 || attempt == ATTEMPTS) return explain(&answer, fault);
    }
}

void policy_object_user(struct api *api, char ret_user[POLICY_USER_BYTES]) {
    struct api_answer answer;
    struct fault fault;
    ret_user[0] = '\0';
    if (!api_request(api, API_POST, WHOAMI_PATH, TEXT(WHOAMI_BODY), &answer, &fault) ||
        !api_is_success(&answer))
        return;
    json_t *review = json_loadb(answer.body.ptr, answer.body.len, 0, NULL);
    const json_t *user = json_object_get(json_object_get(review, "status"), "userInfo");
    const char *name = json_string_value(json_object_get(user, "username"));
    if (name != NULL && strlen(name) < POLICY_USER_BYTES) snprintf(ret_user, POLICY_USER_BYTES, "%s", name);
    json_decref(review);
}

size_t policy_object_prune(struct api *api, const json_t *policy, int64_t now_ms) {
    json_t *freezes;
    struct api_answer answer;
    struct fault fault;
    size_t count = policy_prune(policy, now_ms, &freezes);
    if (count == 0) return 0;
    bool fine =
        send_object(api, API_MERGE_PATCH, DEFAULT_PATH, patch_of(policy, freezes, NULL), &answer, &fault);
    json_decref(freezes);
    return fine && api_is_success(&answer) ? count : 0;
}
