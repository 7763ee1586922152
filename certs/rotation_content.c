// SPDX-License-Identifier: Apache-2.0
// Reading what the Secret holds.
#include "certs/bundle.h"
#include "certs/pem.h"
#include "certs/rotation.h"

const char *ca_field_name(enum ca_field field) {
    static const char *const names[] = {
        [CA_FIELD_CERTIFICATE] = "tls.crt", [CA_FIELD_KEY] = "tls.key",
        [CA_FIELD_TRUSTED] = "ca.crt",      [CA_FIELD_NEXT_CERTIFICATE] = "next.crt",
        [CA_FIELD_NEXT_KEY] = "next.key",
    };
    return names[field];
}

void ca_content_release(struct ca_content *content) {
    for (int i = 0; i < CA_FIELD_COUNT; i++) secret_bytes_release(&content->fields[i]);
    *content = (struct ca_content){0};
}

void ca_set_release(struct ca_set *set) {
    authority_free(set->signer);
    authority_free(set->next);
    pem_chain_free(set->trusted);
    *set = (struct ca_set){.state = CA_NONE};
}

// Takes up a CA that has not ended. Errors: FAULT_MEMORY counts as such, all else is why it cannot be used.
static struct authority *take(const struct ca_content *content, enum ca_field certificate, time_t now,
                              struct fault *why) {
    struct authority *authority = NULL;
    if (!authority_load(secret_bytes_text(&content->fields[certificate]),
                        secret_bytes_text(&content->fields[certificate + 1]), &authority, why))
        return NULL;
    if (authority_not_after(authority) > now) return authority;
    fault_set(why, FAULT_STATE, "the CA has ended");
    authority_free(authority);
    return NULL;
}

bool ca_set_read(const struct ca_content *content, time_t now, struct ca_set *ret_set, struct fault *fault) {
    struct ca_set set = {.state = CA_NONE};
    struct fault why_next = {.code = FAULT_NONE};
    const struct secret_bytes *fields = content->fields;
    if (!bundle_read(secret_bytes_text(&fields[CA_FIELD_TRUSTED]), &set.trusted, fault)) return false;
    if (content->refused.code != FAULT_NONE) {
        set.state = CA_UNUSABLE;
        set.why = content->refused;
    } else if (fields[CA_FIELD_CERTIFICATE].len > 0 || fields[CA_FIELD_KEY].len > 0) {
        set.signer = take(content, CA_FIELD_CERTIFICATE, now, &set.why);
        set.state = set.signer == NULL ? CA_UNUSABLE : CA_USABLE;
    }
    if (set.state != CA_NONE && fields[CA_FIELD_NEXT_CERTIFICATE].len > 0)
        set.next = take(content, CA_FIELD_NEXT_CERTIFICATE, now, &why_next);
    if (set.why.code == FAULT_MEMORY || why_next.code == FAULT_MEMORY) {
        ca_set_release(&set);
        return fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    *ret_set = set;
    return true;
}

bool ca_set_wanted(const struct ca_set *set, time_t now, STACK_OF(X509) * *ret_bundle, struct fault *fault) {
    STACK_OF(X509) *more = sk_X509_new_null();
    bool fine = more != NULL, changed;
    fine = fine && (set->signer == NULL || sk_X509_push(more, authority_certificate(set->signer)) > 0);
    fine = fine && (set->next == NULL || sk_X509_push(more, authority_certificate(set->next)) > 0);
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    fine = fine && bundle_merge(set->trusted, more, now, ret_bundle, &changed, fault);
    sk_X509_free(more);
    return fine;
}
