// SPDX-License-Identifier: Apache-2.0
// One look: the Secret, the caBundles, our certificate, in the order in which a change goes through them.
#include "server/operate/serving_state.h"

#include <openssl/evp.h>

#include "certs/bundle.h"
#include "certs/pem.h"
#include "server/log.h"

#define RETRY_AFTER_MOST_S 120
#define HOOKS_PATH         "/apis/admissionregistration.k8s.io/v1/"

static void digest_of(const X509 *certificate, unsigned char ret_digest[DIGEST_BYTES]) {
    unsigned len = DIGEST_BYTES;
    if (X509_digest(certificate, EVP_sha256(), ret_digest, &len) != 1) memset(ret_digest, 0, DIGEST_BYTES);
}

// Reading is tried again at the next look, later only where the server asks for it: what is due soon must not
// wait for a back-off.
static bool may_read(const struct serving *serving, enum write_kind kind) {
    return feed_now_ms() >= serving->read_next_ms[kind];
}

static void note_read(struct serving *serving, enum write_kind kind, bool fine,
                      const struct api_answer *answer) {
    int64_t wait_s = fine || answer->retry_after_s < 0 ? 0 : answer->retry_after_s;
    if (wait_s > RETRY_AFTER_MOST_S) wait_s = RETRY_AFTER_MOST_S;
    serving->read_next_ms[kind] = feed_now_ms() + wait_s * 1000;
    if (fine && serving->read_failed[kind]) writer_answered(&serving->writer, kind);
    serving->read_failed[kind] = !fine;
}

// ---- the Secret

static void secret_path(const struct serving *serving, bool with_name, char path[API_PATH_BYTES]) {
    snprintf(path, API_PATH_BYTES, "/api/v1/namespaces/%s/secrets%s%s", serving->namespace,
             with_name ? "/" : "", with_name ? serving->secret_name : "");
}

static bool read_secret(struct serving *serving, struct serving_secret *ret_secret) {
    char path[API_PATH_BYTES];
    struct api_answer answer = {.http_code = 0};
    struct fault fault;
    if (!may_read(serving, WRITE_SECRET)) return false;
    secret_path(serving, true, path);
    int code = writer_send(&serving->writer, WRITE_SECRET, API_GET, path, NULL, 404, &answer);
    bool fine = code == 404;
    if (code == 200) {
        fine = serving_secret_read(answer.body, ret_secret, &fault);
        if (!fine) writer_failed(&serving->writer, WRITE_SECRET, code, 0, fault.text);
    }
    api_wipe(&serving->writer.api);
    note_read(serving, WRITE_SECRET, fine, &answer);
    return fine;
}

static void note_unusable(struct serving *serving, const struct ca_set *set) {
    const char *why = set->state == CA_UNUSABLE ? set->why.text : "";
    if (strcmp(why, serving->told_unusable) == 0) return;
    snprintf(serving->told_unusable, sizeof serving->told_unusable, "%s", why);
    if (why[0] == '\0') return;
    log_error("certs", "The CA in the Secret cannot be used, the leader makes a new one", why,
              LOG_OBJECT("secret", text_of(serving->namespace), text_of(serving->secret_name)));
}

static void note_change(struct serving *serving, enum rotation_step step) {
    static const struct {
        int count;
        const char *message;
    } notes[] = {
        [ROTATION_FILL] = {SERVING_MADE, "A CA was made"},
        [ROTATION_PREPARE] = {SERVING_PREPARED, "The next CA is stored; it signs once every caBundle has it"},
        [ROTATION_PROMOTE] = {SERVING_PROMOTED, "The next CA signs from now on"},
        [ROTATION_MEND] = {SERVING_MENDED, "The list of trusted CAs was put right"},
    };
    pthread_mutex_lock(&serving->mutex);
    serving->facts.changes[notes[step].count]++;
    pthread_mutex_unlock(&serving->mutex);
    log_info(0, "certs", notes[step].message,
             LOG_OBJECT("secret", text_of(serving->namespace), text_of(serving->secret_name)));
}

// A write of a version that is no longer the present one is refused with 409: somebody else was faster.
static void write_secret(struct serving *serving, const struct serving_secret *secret,
                         const struct ca_set *set, int64_t next_trusted_ms, time_t now) {
    char path[API_PATH_BYTES];
    struct ca_change change = {0};
    struct secret_bytes body = {0};
    struct fault fault;
    bool leads = serving->leads(serving->context);
    enum rotation_step step = rotation_plan(set, leads, next_trusted_ms, &serving->lives, now);
    if (step == ROTATION_KEEP || !writer_is_ready(&serving->writer, WRITE_SECRET, feed_now_ms())) return;
    if (rotation_change(set, step, &serving->lives, now, &change, &fault) &&
        serving_secret_write(secret, serving->namespace, serving->secret_name, &change, &body, &fault)) {
        secret_path(serving, secret->exists, path);
        int code =
            writer_send_text(&serving->writer, WRITE_SECRET, secret->exists ? API_MERGE_PATCH : API_POST,
                             path, secret_bytes_text(&body), 409, NULL);
        api_wipe(&serving->writer.api);
        if (code >= 200 && code <= 202) note_change(serving, step);
        serving->again = serving->again || code == 409 || (code >= 200 && code <= 202);
    } else {
        writer_failed(&serving->writer, WRITE_SECRET, 0, 0, fault.text);
    }
    secret_bytes_release(&body);
    ca_change_release(&change);
}

// ---- webhook configurations

static void hook_path(const struct serving_hook *hook, char path[API_PATH_BYTES]) {
    snprintf(path, API_PATH_BYTES, HOOKS_PATH "%s/%s", write_kind_name(hook->kind), hook->name);
}

static void read_hook(struct serving *serving, struct serving_hook *hook) {
    char path[API_PATH_BYTES];
    struct api_answer answer = {.http_code = 0};
    struct fault fault;
    hook->is_current = false;
    if (!may_read(serving, hook->kind)) return;
    hook_path(hook, path);
    int code = writer_send(&serving->writer, hook->kind, API_GET, path, NULL, 404, &answer);
    if (code == 200 || code == 404) {
        hook->is_current = hooks_read(&hook->hooks, code == 404 ? NULL : &answer.body, &fault);
        if (!hook->is_current) writer_failed(&serving->writer, hook->kind, code, 0, fault.text);
    }
    note_read(serving, hook->kind, hook->is_current, &answer);
}

// What somebody cut or replaced is put right, what the Secret has anew is added.
static void write_hook(struct serving *serving, struct serving_hook *hook, const STACK_OF(X509) * wanted,
                       time_t now) {
    char path[API_PATH_BYTES];
    json_t *patch = NULL;
    size_t changed_count = 0;
    struct fault fault;
    if (!hook->is_current || !writer_is_ready(&serving->writer, hook->kind, feed_now_ms())) return;
    if (!hooks_patch(&hook->hooks, wanted, now, &patch, &changed_count, &fault)) {
        writer_failed(&serving->writer, hook->kind, 0, 0, fault.text);
        return;
    }
    if (patch == NULL) return;
    hook_path(hook, path);
    int code = writer_send(&serving->writer, hook->kind, API_JSON_PATCH, path, patch, 409, NULL);
    serving->again = serving->again || code == 409 || code == 200;
    if (code == 200)
        log_info(0, "certs", "The CA was put into caBundles", LOG_STRING("configuration", hook->name),
                 LOG_STRING("resource", write_kind_name(hook->kind)), LOG_NUMBER("webhooks", changed_count));
}

static void write_hooks(struct serving *serving, const struct ca_set *set, time_t now) {
    STACK_OF(X509) *wanted = NULL;
    struct fault fault;
    if (set->state != CA_USABLE || !serving->leads(serving->context)) return;
    if (!ca_set_wanted(set, now, &wanted, &fault)) return;
    for (size_t i = 0; i < serving->hook_count; i++) write_hook(serving, &serving->hooks[i], wanted, now);
    pem_chain_free(wanted);
}

// For how long every caBundle has had a CA, as far as this replica saw; -1: not.
static int64_t trusted_ms(struct serving *serving, struct serving_trust *trust,
                          const struct authority *authority) {
    unsigned char digest[DIGEST_BYTES];
    bool holds = authority != NULL;
    for (size_t i = 0; holds && i < serving->hook_count; i++)
        holds = serving->hooks[i].is_current &&
                hooks_trust(&serving->hooks[i].hooks, authority_certificate(authority));
    if (holds) {
        digest_of(authority_certificate(authority), digest);
        if (!trust->holds || memcmp(trust->digest, digest, sizeof digest) != 0)
            trust->since_ms = feed_now_ms();
        memcpy(trust->digest, digest, sizeof digest);
    }
    trust->holds = holds;
    return holds ? feed_now_ms() - trust->since_ms : -1;
}

// ---- our certificate

static bool issue(struct serving *serving, const struct authority *signer, time_t now, struct fault *fault) {
    const struct leaf_request request = {.algorithm = KEY_ECDSA_P256,
                                         .hosts = (const char *const *)serving->names,
                                         .host_count = serving->name_count,
                                         .lifetime_s = serving->lives.leaf_s};
    struct pem_pair pair = {0};
    STACK_OF(X509) *chain = NULL;
    struct leaf_facts facts = {.exists = true, .begun = now, .of_signer = true};
    bool fine = authority_issue(signer, &request, rotation_signing_time(signer, now), &pair, fault);
    struct text certificate = {pair.certificate, pair.certificate_bytes};
    fine = fine && pem_parse_chain(certificate, &chain, fault) &&
           source_put(serving->source, certificate, (struct text){pair.key, pair.key_bytes}, fault);
    pem_pair_release(&pair);
    X509 *leaf = fine ? sk_X509_shift(chain) : NULL;
    pem_chain_free(chain);
    if (leaf == NULL) return false;
    if (!asn1_time_seconds(X509_get0_notBefore(leaf), &facts.not_before) ||
        !asn1_time_seconds(X509_get0_notAfter(leaf), &facts.not_after))
        facts.not_after = now;
    X509_free(serving->leaf);
    serving->leaf = leaf;
    serving->leaf_facts = facts;
    digest_of(authority_certificate(signer), serving->leaf_issuer);
    return true;
}

static void renew(struct serving *serving, const struct ca_set *set, int64_t signer_trusted_ms, time_t now) {
    unsigned char signer[DIGEST_BYTES];
    struct fault fault = {.code = FAULT_NONE};
    if (set->state != CA_USABLE) return;
    digest_of(authority_certificate(set->signer), signer);
    serving->leaf_facts.of_signer = memcmp(signer, serving->leaf_issuer, sizeof signer) == 0;
    if (!rotation_leaf_is_due(&serving->leaf_facts, set, signer_trusted_ms, &serving->lives, now)) return;
    if (issue(serving, set->signer, now, &fault))
        log_info(0, "certs", "Certificate in force", LOG_NUMBER("notAfter", serving->leaf_facts.not_after));
    else
        log_error("certs", "No certificate could be issued, the present one stays", fault.text);
}

// ---- what has come of it

static bool accepts(const struct serving *serving, const struct serving_hook *hook, time_t now,
                    struct fault *fault) {
    time_t at = now > serving->leaf_facts.not_before ? now : serving->leaf_facts.not_before;
    return hooks_accept(&hook->hooks, serving->leaf, at, fault) || fault_wrap(fault, "%.80s", hook->name);
}

static void conclude(struct serving *serving, const struct ca_set *set, time_t now) {
    struct fault fault = {.code = FAULT_NONE}, why = {.code = FAULT_NONE};
    bool accepted[2] = {serving->leaf != NULL, serving->leaf != NULL};
    if (serving->leaf == NULL) fault_set(&why, FAULT_STATE, "no certificate was issued yet");
    for (size_t i = 0; serving->leaf != NULL && i < serving->hook_count; i++) {
        if (accepts(serving, &serving->hooks[i], now, &fault)) continue;
        accepted[serving->hooks[i].kind == WRITE_MUTATING_HOOKS] = false;
        if (why.code == FAULT_NONE) why = fault;
    }
    bool all = accepted[0] && accepted[1];
    pthread_mutex_lock(&serving->mutex);
    bool told = all ? serving->lost_ms != 0 : serving->was_accepted && serving->lost_ms == 0;
    memcpy(serving->facts.accepted, accepted, sizeof accepted);
    if (set != NULL) {
        serving->facts.signer_not_after = set->signer == NULL ? 0 : authority_not_after(set->signer);
        serving->facts.next_not_after = set->next == NULL ? 0 : authority_not_after(set->next);
    }
    if (all) serving->facts.accepted_at = now;
    serving->was_accepted = serving->was_accepted || all;
    if (all) serving->lost_ms = 0;
    if (!all && serving->lost_ms == 0) serving->lost_ms = feed_now_ms();
    memcpy(serving->why, why.text, sizeof serving->why);
    pthread_mutex_unlock(&serving->mutex);
    if (!told) return;
    if (all)
        log_info(0, "certs", "Every caBundle vouches for the certificate");
    else
        log_error("certs", "Callers do not trust the certificate", why.text);
}

void serving_round(struct serving *serving) {
    struct serving_secret secret = {.exists = false};
    struct ca_set set = {.state = CA_NONE};
    struct fault fault;
    time_t now = time(NULL);
    bool known = read_secret(serving, &secret) && ca_set_read(&secret.content, now, &set, &fault);
    // A renewal from the same CA waits for nothing else.
    if (known) renew(serving, &set, -1, now);
    for (size_t i = 0; i < serving->hook_count; i++) read_hook(serving, &serving->hooks[i]);
    if (known) {
        int64_t next_ms = trusted_ms(serving, &serving->next_trust, set.next);
        int64_t signer_ms = trusted_ms(serving, &serving->signer_trust, set.signer);
        note_unusable(serving, &set);
        write_secret(serving, &secret, &set, next_ms, now);
        write_hooks(serving, &set, now);
        renew(serving, &set, signer_ms, now);
    }
    conclude(serving, known ? &set : NULL, now);
    ca_set_release(&set);
    serving_secret_release(&secret);
}
