// SPDX-License-Identifier: Apache-2.0
// Decisions over certificates, and the contents that they lead to.
#include "certs/rotation.h"

#include "certs/bundle.h"
#include "certs/pem.h"

struct rotation_lives rotation_lives_of(int64_t ca_s, int64_t leaf_s) {
    int64_t shorter_s = ca_s < leaf_s ? ca_s : leaf_s;
    int64_t settle_ms = shorter_s * 1000 / 12;
    if (settle_ms > ROTATION_SETTLE_MOST_MS) settle_ms = ROTATION_SETTLE_MOST_MS;
    return (struct rotation_lives){ca_s, leaf_s, settle_ms};
}

time_t rotation_renewal(time_t begun, time_t ends) {
    return ends <= begun ? ends : begun + (ends - begun) / 3 * 2 + (ends - begun) % 3 * 2 / 3;
}

// CAs of ours are back-dated; that part of their life they did not live.
static time_t begun_of(const struct authority *authority) {
    time_t not_before = authority_not_before(authority);
    time_t begun = not_before + AUTHORITY_BACKDATE_S;
    return begun < authority_not_after(authority) ? begun : not_before;
}

time_t rotation_signing_time(const struct authority *authority, time_t now) {
    time_t not_before = authority_not_before(authority);
    return now < not_before ? not_before : now;
}

static bool is_trusted(const struct ca_set *set, const struct authority *authority) {
    return authority == NULL || bundle_has(set->trusted, authority_certificate(authority));
}

static bool trusts_right(const struct ca_set *set, time_t now) {
    for (int i = 0; i < sk_X509_num(set->trusted); i++) {
        time_t end;
        if (!asn1_time_seconds(X509_get0_notAfter(sk_X509_value(set->trusted, i)), &end) || end <= now)
            return false;
    }
    return is_trusted(set, set->signer) && is_trusted(set, set->next);
}

enum rotation_step rotation_plan(const struct ca_set *set, bool leads, int64_t next_trusted_ms,
                                 const struct rotation_lives *lives, time_t now) {
    if (set->state == CA_NONE) return ROTATION_FILL;
    if (!leads) return ROTATION_KEEP;
    if (set->state == CA_UNUSABLE) return set->next != NULL ? ROTATION_PROMOTE : ROTATION_FILL;
    if (!trusts_right(set, now)) return ROTATION_MEND;
    if (set->next != NULL) return next_trusted_ms >= lives->settle_ms ? ROTATION_PROMOTE : ROTATION_KEEP;
    time_t renewal = rotation_renewal(begun_of(set->signer), authority_not_after(set->signer));
    return now >= renewal ? ROTATION_PREPARE : ROTATION_KEEP;
}

bool rotation_leaf_is_due(const struct leaf_facts *leaf, const struct ca_set *set, int64_t signer_trusted_ms,
                          const struct rotation_lives *lives, time_t now) {
    if (set->state != CA_USABLE) return false;
    if (!leaf->exists || leaf->not_after <= now) return true;
    if (!leaf->of_signer) return signer_trusted_ms >= lives->settle_ms;
    if (leaf->not_before > now && authority_not_before(set->signer) < leaf->not_before) return true;
    // A CA that ends first would only give the same end again.
    time_t end = now + (time_t)lives->leaf_s;
    if (end > authority_not_after(set->signer)) end = authority_not_after(set->signer);
    return end > leaf->not_after && now >= rotation_renewal(leaf->begun, leaf->not_after);
}

// ---- contents

static void take_pair(struct ca_change *change, enum ca_field certificate, struct pem_pair *pair) {
    change->set[certificate] = true;
    change->values[certificate] = (struct secret_bytes){pair->certificate, pair->certificate_bytes};
    change->set[certificate + 1] = true;
    change->values[certificate + 1] = (struct secret_bytes){pair->key, pair->key_bytes};
    *pair = (struct pem_pair){0};
}

// The list of trusted CAs, with one more (NULL: none).
static bool set_trusted(const struct ca_set *set, const struct authority *more, time_t now,
                        struct ca_change *change, struct fault *fault) {
    STACK_OF(X509) *bundle = NULL, *grown = NULL, *extra = sk_X509_new_null();
    bool fine = extra != NULL && (more == NULL || sk_X509_push(extra, authority_certificate(more)) > 0),
         changed;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    struct secret_bytes *value = &change->values[CA_FIELD_TRUSTED];
    fine = fine && ca_set_wanted(set, now, &bundle, fault) &&
           bundle_merge(bundle, extra, now, &grown, &changed, fault) &&
           bundle_write(grown, &value->ptr, &value->len, fault);
    change->set[CA_FIELD_TRUSTED] = fine;
    sk_X509_free(extra);
    pem_chain_free(bundle);
    pem_chain_free(grown);
    return fine;
}

static bool add_new(const struct ca_set *set, enum ca_field certificate, const struct rotation_lives *lives,
                    time_t now, struct ca_change *change, struct fault *fault) {
    struct authority *authority = NULL;
    struct pem_pair pair = {0};
    bool fine = authority_new(KEY_ECDSA_P256, now, lives->ca_s, &authority, fault) &&
                authority_export(authority, &pair, fault) && set_trusted(set, authority, now, change, fault);
    if (fine) take_pair(change, certificate, &pair);
    pem_pair_release(&pair);
    authority_free(authority);
    return fine;
}

static bool promote(const struct ca_set *set, time_t now, struct ca_change *change, struct fault *fault) {
    struct pem_pair pair = {0};
    if (!authority_export(set->next, &pair, fault)) return false;
    take_pair(change, CA_FIELD_CERTIFICATE, &pair);
    return set_trusted(set, NULL, now, change, fault);
}

bool rotation_change(const struct ca_set *set, enum rotation_step step, const struct rotation_lives *lives,
                     time_t now, struct ca_change *ret_change, struct fault *fault) {
    struct ca_change change = {0};
    bool fine = true;
    switch (step) {
    case ROTATION_KEEP: break;
    case ROTATION_FILL: fine = add_new(set, CA_FIELD_CERTIFICATE, lives, now, &change, fault); break;
    case ROTATION_PREPARE: fine = add_new(set, CA_FIELD_NEXT_CERTIFICATE, lives, now, &change, fault); break;
    case ROTATION_PROMOTE: fine = promote(set, now, &change, fault); break;
    case ROTATION_MEND: fine = set_trusted(set, NULL, now, &change, fault); break;
    }
    if (step == ROTATION_FILL || step == ROTATION_PROMOTE)
        change.set[CA_FIELD_NEXT_CERTIFICATE] = change.set[CA_FIELD_NEXT_KEY] = true;
    if (!fine) {
        ca_change_release(&change);
        return false;
    }
    *ret_change = change;
    return true;
}

void ca_change_release(struct ca_change *change) {
    for (int i = 0; i < CA_FIELD_COUNT; i++) secret_bytes_release(&change->values[i]);
    *change = (struct ca_change){0};
}
