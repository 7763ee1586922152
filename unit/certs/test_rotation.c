// SPDX-License-Identifier: Apache-2.0
// The life of CAs and certificates, decided by a clock that the test turns.
#include <criterion/criterion.h>

#include <stdlib.h>

#include "certs/bundle.h"
#include "certs/pem.h"
#include "certs/rotation.h"
#include "certs/verify.h"

#define DAY_S ((time_t)86400)
#define NOW   ((time_t)1800000000)

static struct rotation_lives lives = {.ca_s = 360 * DAY_S, .leaf_s = 6 * DAY_S, .settle_ms = 30000};

static void set_field(struct ca_content *content, enum ca_field field, const char *bytes, size_t len) {
    secret_bytes_release(&content->fields[field]);
    content->fields[field] = (struct secret_bytes){malloc(len + 1), len};
    memcpy(content->fields[field].ptr, bytes, len);
    content->fields[field].ptr[len] = '\0';
}

static void set_text(struct ca_content *content, enum ca_field field, const char *text) {
    set_field(content, field, text, strlen(text));
}

static struct ca_set read_set(const struct ca_content *content, time_t now) {
    struct ca_set set;
    struct fault fault = {0};
    cr_assert(ca_set_read(content, now, &set, &fault), "%s", fault.text);
    return set;
}

// What the API server does with a patch.
static void apply(struct ca_content *content, struct ca_change *change) {
    for (int i = 0; i < CA_FIELD_COUNT; i++) {
        if (!change->set[i]) continue;
        secret_bytes_release(&content->fields[i]);
        content->fields[i] = change->values[i];
        change->values[i] = (struct secret_bytes){0};
    }
    content->refused = (struct fault){0};
    ca_change_release(change);
}

// One look of a replica. Returns what was done.
static enum rotation_step step(struct ca_content *content, bool leads, int64_t next_trusted_ms, time_t now) {
    struct ca_set set = read_set(content, now);
    struct ca_change change;
    struct fault fault = {0};
    enum rotation_step wanted = rotation_plan(&set, leads, next_trusted_ms, &lives, now);
    if (wanted != ROTATION_KEEP) {
        cr_assert(rotation_change(&set, wanted, &lives, now, &change, &fault), "%s", fault.text);
        apply(content, &change);
    }
    ca_set_release(&set);
    return wanted;
}

static struct ca_content filled(time_t now) {
    struct ca_content content = {0};
    cr_assert_eq(step(&content, false, -1, now), ROTATION_FILL);
    return content;
}

static bool trusts(const struct ca_set *set, const struct authority *authority) {
    return bundle_has(set->trusted, authority_certificate(authority));
}

Test(rotation, two_thirds_of_a_life) {
    cr_expect_eq(rotation_renewal(0, 9), 6);
    cr_expect_eq(rotation_renewal(100, 110), 106);
    cr_expect_eq(rotation_renewal(5, 5), 5);
    cr_expect_eq(rotation_renewal(7, 5), 5);
    cr_expect_eq(rotation_renewal(NOW, NOW + 7 * DAY_S), NOW + 7 * DAY_S * 2 / 3);
}

Test(rotation, settling_is_half_a_minute_and_less_where_lives_are_short) {
    cr_expect_eq(rotation_lives_of(365 * DAY_S, 7 * DAY_S).settle_ms, 30000);
    cr_expect_eq(rotation_lives_of(60, 12).settle_ms, 1000);
    cr_expect_eq(rotation_lives_of(12, 60).settle_ms, 1000);
}

Test(rotation, an_empty_secret_is_filled_by_anybody_and_then_left_alone) {
    struct ca_content content = filled(NOW);
    struct ca_set set = read_set(&content, NOW);
    cr_assert_eq(set.state, CA_USABLE);
    cr_expect(trusts(&set, set.signer));
    cr_expect_null(set.next);
    cr_expect_eq(authority_not_after(set.signer), NOW + 360 * DAY_S);
    ca_set_release(&set);
    cr_expect_eq(step(&content, true, -1, NOW), ROTATION_KEEP);
    cr_expect_eq(step(&content, true, -1, NOW + 240 * DAY_S - 1), ROTATION_KEEP);
    ca_content_release(&content);
}

Test(rotation, the_next_ca_signs_only_after_every_bundle_had_it_for_a_while) {
    struct ca_content content = filled(NOW);
    time_t now = NOW + 240 * DAY_S;
    cr_expect_eq(step(&content, false, -1, now), ROTATION_KEEP, "who follows, leaves it to the leader");
    cr_expect_eq(step(&content, true, -1, now), ROTATION_PREPARE);
    struct ca_set before = read_set(&content, now);
    cr_assert_not_null(before.next);
    cr_expect(trusts(&before, before.signer));
    cr_expect(trusts(&before, before.next));
    cr_expect_eq(step(&content, true, -1, now), ROTATION_KEEP);
    cr_expect_eq(step(&content, true, 29999, now), ROTATION_KEEP);
    cr_expect_eq(step(&content, false, 30000, now), ROTATION_KEEP);
    cr_expect_eq(step(&content, true, 30000, now), ROTATION_PROMOTE);
    struct ca_set after = read_set(&content, now);
    cr_expect_null(after.next);
    cr_expect_eq(content.fields[CA_FIELD_NEXT_KEY].len, 0, "its key is kept once");
    cr_expect_eq(X509_cmp(authority_certificate(after.signer), authority_certificate(before.next)), 0);
    cr_expect(trusts(&after, before.signer), "the former stays trusted until it ends");
    cr_expect(trusts(&after, after.signer));
    cr_expect_eq(step(&content, true, -1, now + 120 * DAY_S - 1), ROTATION_KEEP);
    cr_expect_eq(step(&content, true, -1, now + 120 * DAY_S), ROTATION_MEND, "then it goes");
    struct ca_set mended = read_set(&content, now + 120 * DAY_S);
    cr_expect_eq(sk_X509_num(mended.trusted), 1);
    cr_expect(trusts(&mended, mended.signer));
    ca_set_release(&before);
    ca_set_release(&after);
    ca_set_release(&mended);
    ca_content_release(&content);
}

Test(rotation, a_ca_that_ended_gives_way_to_the_next_at_once) {
    struct ca_content content = filled(NOW);
    cr_assert_eq(step(&content, true, -1, NOW + 240 * DAY_S), ROTATION_PREPARE);
    time_t now = NOW + 360 * DAY_S;
    cr_expect_eq(step(&content, false, -1, now), ROTATION_KEEP);
    cr_expect_eq(step(&content, true, -1, now), ROTATION_PROMOTE);
    struct ca_set set = read_set(&content, now);
    cr_expect_eq(set.state, CA_USABLE);
    ca_set_release(&set);
    ca_content_release(&content);
}

Test(rotation, content_that_does_not_sign_is_replaced_by_the_leader_alone) {
    struct ca_content other = filled(NOW), content = filled(NOW);
    struct fault too_large = {.code = FAULT_LIMIT, .text = "tls.crt: about 700000 bytes"};
    char *key = strndup(other.fields[CA_FIELD_KEY].ptr, other.fields[CA_FIELD_KEY].len);
    for (int i = 0; i < 5; i++) {
        if (i == 0) set_text(&content, CA_FIELD_KEY, key);
        if (i == 1) set_text(&content, CA_FIELD_CERTIFICATE, "garbage");
        if (i == 2) set_text(&content, CA_FIELD_CERTIFICATE, "");
        if (i == 3) set_text(&content, CA_FIELD_KEY, "");
        if (i == 4) content.refused = too_large;
        struct ca_set set = read_set(&content, NOW);
        cr_expect_eq(set.state, CA_UNUSABLE, "case %d", i);
        cr_expect_neq(set.why.text[0], '\0', "case %d", i);
        cr_expect_eq(sk_X509_num(set.trusted), 1 + i);
        ca_set_release(&set);
        cr_expect_eq(step(&content, false, -1, NOW), ROTATION_KEEP, "case %d", i);
        cr_expect_eq(step(&content, true, -1, NOW), ROTATION_FILL, "case %d", i);
        set = read_set(&content, NOW);
        cr_expect_eq(set.state, CA_USABLE, "case %d", i);
        cr_expect_eq(sk_X509_num(set.trusted), 2 + i, "the former ones stay trusted");
        ca_set_release(&set);
    }
    free(key);
    ca_content_release(&other);
    ca_content_release(&content);
}

Test(rotation, a_list_of_trusted_cas_that_was_cut_is_put_right) {
    struct ca_content content = filled(NOW);
    set_text(&content, CA_FIELD_TRUSTED, "nothing");
    cr_expect_eq(step(&content, false, -1, NOW), ROTATION_KEEP);
    cr_expect_eq(step(&content, true, -1, NOW), ROTATION_MEND);
    struct ca_set set = read_set(&content, NOW);
    cr_expect(trusts(&set, set.signer));
    ca_set_release(&set);
    cr_expect_eq(step(&content, true, -1, NOW), ROTATION_KEEP);
    ca_content_release(&content);
}

Test(rotation, a_next_ca_that_cannot_be_used_is_made_anew) {
    struct ca_content content = filled(NOW);
    time_t now = NOW + 240 * DAY_S;
    cr_assert_eq(step(&content, true, -1, now), ROTATION_PREPARE);
    set_text(&content, CA_FIELD_NEXT_KEY, "garbage");
    cr_expect_eq(step(&content, true, 60000, now), ROTATION_PREPARE);
    cr_expect_eq(step(&content, true, 60000, now), ROTATION_PROMOTE);
    ca_content_release(&content);
}

// ---- the serving certificate

static struct leaf_facts leaf_of(time_t begun) {
    return (struct leaf_facts){.exists = true,
                               .begun = begun,
                               .not_before = begun - 3600,
                               .not_after = begun + lives.leaf_s,
                               .of_signer = true};
}

static bool is_due(const struct leaf_facts *leaf, const struct ca_content *content, int64_t trusted_ms,
                   time_t now) {
    struct ca_set set = read_set(content, now);
    bool due = rotation_leaf_is_due(leaf, &set, trusted_ms, &lives, now);
    ca_set_release(&set);
    return due;
}

Test(rotation, a_leaf_is_renewed_at_two_thirds_and_at_once_where_there_is_none) {
    struct ca_content content = filled(NOW), empty = {0};
    struct leaf_facts none = {.exists = false}, leaf = leaf_of(NOW);
    cr_expect(is_due(&none, &content, -1, NOW));
    cr_expect_not(is_due(&none, &empty, -1, NOW));
    cr_expect_not(is_due(&leaf, &content, -1, NOW));
    cr_expect_not(is_due(&leaf, &content, -1, NOW + 4 * DAY_S - 1));
    cr_expect(is_due(&leaf, &content, -1, NOW + 4 * DAY_S));
    cr_expect(is_due(&leaf, &content, -1, NOW + 300 * DAY_S), "a machine that slept");
    cr_expect_not(is_due(&leaf, &empty, -1, NOW + 4 * DAY_S), "there is nothing to issue from");
    ca_content_release(&content);
}

Test(rotation, a_leaf_of_another_ca_waits_until_the_new_one_is_trusted) {
    struct ca_content content = filled(NOW);
    struct leaf_facts leaf = leaf_of(NOW);
    leaf.of_signer = false;
    cr_expect_not(is_due(&leaf, &content, -1, NOW + 5 * DAY_S));
    cr_expect_not(is_due(&leaf, &content, 29999, NOW + 5 * DAY_S));
    cr_expect(is_due(&leaf, &content, 30000, NOW + 5 * DAY_S));
    cr_expect(is_due(&leaf, &content, -1, NOW + 6 * DAY_S), "it has ended: nothing is worse");
    ca_content_release(&content);
}

Test(rotation, a_leaf_that_ends_with_its_ca_is_not_issued_again_and_again) {
    struct ca_content content = filled(NOW);
    time_t end = NOW + 360 * DAY_S;
    struct leaf_facts leaf = leaf_of(end - 3 * DAY_S);
    leaf.not_after = end;
    cr_expect_not(is_due(&leaf, &content, -1, end - 1));
    ca_content_release(&content);
}

Test(rotation, a_clock_that_was_set_back_issues_anew_once) {
    struct ca_content content = filled(NOW);
    struct leaf_facts leaf = leaf_of(NOW + 7200);
    cr_expect(is_due(&leaf, &content, -1, NOW));
    // A clock that is behind the CA itself: the leaf begins with it, there is nothing better.
    leaf = leaf_of(NOW);
    cr_expect_not(is_due(&leaf, &content, -1, NOW - 7200));
    struct ca_set set = read_set(&content, NOW - 7200);
    cr_expect_eq(rotation_signing_time(set.signer, NOW - 7200), NOW - AUTHORITY_BACKDATE_S);
    cr_expect_eq(rotation_signing_time(set.signer, NOW + 5), NOW + 5);
    ca_set_release(&set);
    ca_content_release(&content);
}

// ---- all of it together: three replicas, one Secret, one caBundle, half a year in steps of twelve hours

struct replica {
    struct leaf_facts facts;
    X509 *leaf;
    X509 *issuer;
    int64_t trusted_since_s; // -1: not
    X509 *trusted;           // which
};

static void renew(struct replica *replica, const struct ca_set *set, STACK_OF(X509) * bundle, time_t now,
                  unsigned *ret_issued) {
    const X509 *signer = authority_certificate(set->signer);
    bool trusted = bundle_has(bundle, signer);
    if (!trusted || replica->trusted == NULL || X509_cmp(replica->trusted, signer) != 0)
        replica->trusted_since_s = trusted ? now : -1;
    X509_free(replica->trusted);
    replica->trusted = trusted ? X509_dup(signer) : NULL;
    int64_t trusted_ms = trusted ? (now - replica->trusted_since_s) * 1000 : -1;
    replica->facts.of_signer = replica->issuer != NULL && X509_cmp(replica->issuer, signer) == 0;
    if (!rotation_leaf_is_due(&replica->facts, set, trusted_ms, &lives, now)) return;
    const char *const hosts[] = {"localhost"};
    struct leaf_request request = {
        .algorithm = KEY_ECDSA_P256, .hosts = hosts, .host_count = 1, .lifetime_s = lives.leaf_s};
    struct pem_pair pair = {0};
    struct fault fault = {0};
    STACK_OF(X509) *chain = NULL;
    cr_assert(authority_issue(set->signer, &request, now, &pair, &fault), "%s", fault.text);
    cr_assert(pem_parse_chain((struct text){pair.certificate, pair.certificate_bytes}, &chain, &fault));
    X509_free(replica->leaf);
    X509_free(replica->issuer);
    replica->leaf = sk_X509_shift(chain);
    replica->issuer = X509_dup(signer);
    replica->facts = leaf_of(now);
    cr_assert(asn1_time_seconds(X509_get0_notAfter(replica->leaf), &replica->facts.not_after));
    pem_chain_free(chain);
    pem_pair_release(&pair);
    ++*ret_issued;
}

static void expect_accepted(const struct replica *replica, STACK_OF(X509) * bundle, time_t now) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    struct fault fault = {0};
    sk_X509_push(chain, replica->leaf);
    cr_assert(verify_server(bundle, chain, "localhost", now, &fault), "after %lld hours: %s",
              (long long)(now - NOW) / 3600, fault.text);
    sk_X509_free(chain);
}

Test(rotation, over_half_a_year_no_replica_ever_serves_what_the_bundle_does_not_vouch_for, .timeout = 120) {
    struct ca_content content = {0};
    struct replica replicas[3] = {{.trusted_since_s = -1}, {.trusted_since_s = -1}, {.trusted_since_s = -1}};
    STACK_OF(X509) *bundle = sk_X509_new_null();
    struct fault fault = {0};
    unsigned promoted = 0, issued = 0, most = 0;
    int64_t next_since_s = -1;
    time_t looked[3] = {0};
    lives.ca_s = 60 * DAY_S;
    for (time_t now = NOW; now < NOW + 200 * DAY_S; now += 12 * 3600) {
        // The bundle is the slowest: it is as it was a look ago when replicas renew.
        struct ca_set set = read_set(&content, now);
        bool next_trusted = set.next != NULL && bundle_has(bundle, authority_certificate(set.next));
        if (!next_trusted) next_since_s = -1;
        if (next_trusted && next_since_s < 0) next_since_s = now;
        enum rotation_step done = step(&content, true, next_trusted ? (now - next_since_s) * 1000 : -1, now);
        promoted += done == ROTATION_PROMOTE;
        ca_set_release(&set);
        set = read_set(&content, now);
        for (int i = 0; i < 3; i++) {
            // The third one sleeps for two days now and then.
            if (i == 2 && (now - NOW) / DAY_S % 15 < 2 && replicas[i].leaf != NULL) continue;
            looked[i] = now;
            renew(&replicas[i], &set, bundle, now, &issued);
        }
        STACK_OF(X509) *wanted = NULL, *merged = NULL;
        bool changed;
        cr_assert(ca_set_wanted(&set, now, &wanted, &fault));
        cr_assert(bundle_merge(bundle, wanted, now, &merged, &changed, &fault));
        pem_chain_free(wanted);
        pem_chain_free(bundle);
        bundle = merged;
        if ((unsigned)sk_X509_num(bundle) > most) most = (unsigned)sk_X509_num(bundle);
        for (int i = 0; i < 3; i++)
            if (looked[i] == now) expect_accepted(&replicas[i], bundle, now);
        ca_set_release(&set);
    }
    cr_expect_eq(promoted, 4, "a CA each 40 days in 200 days, not %u", promoted);
    cr_expect_gt(issued, 3 * 45);
    cr_expect_lt(issued, 3 * 62, "and no more often than needed: %u", issued);
    cr_expect_eq(most, 2);
    for (int i = 0; i < 3; i++) {
        X509_free(replicas[i].leaf);
        X509_free(replicas[i].issuer);
        X509_free(replicas[i].trusted);
    }
    pem_chain_free(bundle);
    ca_content_release(&content);
}
