// SPDX-License-Identifier: Apache-2.0
// Bundles are compared certificate by certificate, so that an equal one is never written again.
#include "server/operate/serving_hooks.h"

#include <stdlib.h>

#include <openssl/x509v3.h>

#include "certs/base64.h"
#include "certs/bundle.h"
#include "certs/pem.h"
#include "certs/verify.h"

void hooks_release(struct hooks *hooks) {
    json_decref(hooks->bundles);
    json_decref(hooks->version);
    *hooks = (struct hooks){.seen = false};
}

// A caBundle that is no base64, or too long, holds nothing that could be kept.
static json_t *decode(const char *base64) {
    struct secret_bytes pem = {0};
    struct fault why;
    if (base64 == NULL || !base64_decode(text_of(base64), HOOKS_BUNDLE_BYTES, &pem, &why))
        return json_string("");
    json_t *text = json_stringn(pem.ptr, pem.len);
    secret_bytes_release(&pem);
    return text != NULL ? text : json_string("");
}

bool hooks_read(struct hooks *hooks, const struct text *body, struct fault *fault) {
    struct hooks next = {.seen = true, .exists = body != NULL, .bundles = json_array()};
    json_error_t error;
    json_t *object = body == NULL ? NULL : json_loadb(body->ptr, body->len, 0, &error);
    const json_t *version = json_object_get(json_object_get(object, "metadata"), "resourceVersion");
    json_t *webhooks = json_object_get(object, "webhooks"), *webhook;
    bool fine = next.bundles != NULL;
    if (!fine) fault_set(fault, FAULT_MEMORY, "no memory for a webhook configuration");
    if (fine && body != NULL && version == NULL)
        fine = fault_set(fault, FAULT_INPUT, "the API server's webhook configuration cannot be read");
    if (fine && json_array_size(webhooks) > HOOKS_LIMIT)
        fine = fault_set(fault, FAULT_LIMIT, "more than %u webhooks in one configuration", HOOKS_LIMIT);
    size_t index;
    json_array_foreach(webhooks, index, webhook) {
        json_t *bundle = json_object_get(json_object_get(webhook, "clientConfig"), "caBundle");
        if (fine && json_array_append_new(next.bundles, decode(json_string_value(bundle))) != 0)
            fine = fault_set(fault, FAULT_MEMORY, "no memory for a webhook configuration");
    }
    next.count = json_array_size(next.bundles);
    next.version = json_incref((json_t *)version);
    json_decref(object);
    if (!fine) {
        hooks_release(&next);
        return false;
    }
    hooks_release(hooks);
    *hooks = next;
    return true;
}

static bool read_bundle(const struct hooks *hooks, size_t index, STACK_OF(X509) * *ret_bundle,
                        struct fault *fault) {
    const json_t *text = json_array_get(hooks->bundles, index);
    return bundle_read((struct text){json_string_value(text), json_string_length(text)}, ret_bundle, fault);
}

bool hooks_trust(const struct hooks *hooks, const X509 *authority) {
    bool trusts = hooks->seen;
    for (size_t i = 0; trusts && i < hooks->count; i++) {
        STACK_OF(X509) *bundle = NULL;
        struct fault ignored;
        trusts = read_bundle(hooks, i, &bundle, &ignored) && bundle_has(bundle, authority);
        pem_chain_free(bundle);
    }
    return trusts;
}

static bool accepts(const struct hooks *hooks, size_t index, STACK_OF(X509) * chain, time_t now,
                    struct fault *fault) {
    STACK_OF(X509) *bundle = NULL;
    if (!read_bundle(hooks, index, &bundle, fault)) return false;
    bool fine = sk_X509_num(bundle) > 0 || fault_set(fault, FAULT_STATE, "the caBundle is empty");
    fine = fine && (verify_server(bundle, chain, NULL, now, fault) ||
                    fault_wrap(fault, "the caBundle does not vouch for our certificate"));
    pem_chain_free(bundle);
    return fine || fault_wrap(fault, "webhook %zu", index);
}

bool hooks_accept(const struct hooks *hooks, X509 *leaf, time_t now, struct fault *fault) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    bool fine = chain != NULL && sk_X509_push(chain, leaf) > 0;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    if (fine && !hooks->seen) fine = fault_set(fault, FAULT_STATE, "not read yet");
    for (size_t i = 0; fine && i < hooks->count; i++) fine = accepts(hooks, i, chain, now, fault);
    sk_X509_free(chain);
    return fine;
}

// The operation that replaces one caBundle; *ret_operation NULL where it may stay.
static bool change_one(const struct hooks *hooks, size_t index, const STACK_OF(X509) * wanted, time_t now,
                       json_t **ret_operation, struct fault *fault) {
    STACK_OF(X509) *bundle = NULL, *merged = NULL;
    struct secret_bytes pem = {0}, base64 = {0};
    char path[64];
    bool changed = false;
    bool fine = read_bundle(hooks, index, &bundle, fault) &&
                bundle_merge(bundle, wanted, now, &merged, &changed, fault);
    if (fine && changed) {
        fine = bundle_write(merged, &pem.ptr, &pem.len, fault) &&
               base64_encode(secret_bytes_text(&pem), &base64, fault);
        snprintf(path, sizeof path, "/webhooks/%zu/clientConfig/caBundle", index);
        if (fine)
            *ret_operation = json_pack("{s:s, s:s, s:s}", "op", "add", "path", path, "value", base64.ptr);
        if (fine && *ret_operation == NULL) fine = fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    secret_bytes_release(&pem);
    secret_bytes_release(&base64);
    pem_chain_free(bundle);
    pem_chain_free(merged);
    return fine;
}

bool hooks_patch(const struct hooks *hooks, const STACK_OF(X509) * wanted, time_t now, json_t **ret_patch,
                 size_t *ret_changed_count, struct fault *fault) {
    // A version that is no longer the present one is refused with 409.
    json_t *patch = json_pack("[{s:s, s:s, s:O*}]", "op", "replace", "path", "/metadata/resourceVersion",
                              "value", hooks->version);
    bool fine = patch != NULL || fault_set(fault, FAULT_MEMORY, "out of memory");
    for (size_t i = 0; fine && i < hooks->count; i++) {
        json_t *operation = NULL;
        fine = change_one(hooks, i, wanted, now, &operation, fault);
        if (operation != NULL && json_array_append_new(patch, operation) != 0)
            fine = fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    size_t changed_count = json_array_size(patch) - (fine ? 1 : 0);
    if (!fine || changed_count == 0) {
        json_decref(patch);
        patch = NULL;
    }
    if (!fine) return false;
    *ret_patch = patch;
    *ret_changed_count = changed_count;
    return true;
}
