// SPDX-License-Identifier: Apache-2.0
// Webhook configurations, as far as their caBundles are concerned.
#ifndef DRAWBRIDGE_OPERATE_SERVING_HOOKS_H
#define DRAWBRIDGE_OPERATE_SERVING_HOOKS_H

#include <jansson.h>
#include <time.h>

#include <openssl/x509.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

#define HOOKS_LIMIT        128u // webhooks of one configuration that are looked at
#define HOOKS_BUNDLE_BYTES 95000u

// What one configuration was when it was read last.
struct hooks {
    bool seen;       // read at least once
    bool exists;     // at that time
    size_t count;    // webhooks
    json_t *bundles; // array of the caBundles, as PEM; "" where there is none or it cannot be read
    json_t *version; // resourceVersion
};

// What it does: takes what the API server answered; NULL body: there is no such object. Errors: FAULT_INPUT,
// FAULT_LIMIT, FAULT_MEMORY; what was known stays.
bool hooks_read(struct hooks *hooks, const struct text *body, struct fault *fault)
    __attribute__((warn_unused_result));

void hooks_release(struct hooks *hooks);

// What it does: says whether each webhook trusts this CA. A configuration that does not exist sends nobody.
// Errors: FAULT_MEMORY counts as no.
bool hooks_trust(const struct hooks *hooks, const X509 *authority);

// What it does: says whether each webhook would accept this serving certificate. Errors: FAULT_STATE with the
// first that would not, counted from 0.
bool hooks_accept(const struct hooks *hooks, X509 *leaf, time_t now, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: the JSON patch that puts what is wanted into every caBundle, on the version that was read;
// NULL when nothing is to be changed. Owner: the caller, json_decref. Errors: FAULT_MEMORY, FAULT_STATE.
bool hooks_patch(const struct hooks *hooks, const STACK_OF(X509) * wanted, time_t now, json_t **ret_patch,
                 size_t *ret_changed_count, struct fault *fault) __attribute__((warn_unused_result));

#endif
