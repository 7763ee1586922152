// SPDX-License-Identifier: Apache-2.0
// caBundles of webhook configurations: who is trusted, what is to be written.
#include <criterion/criterion.h>

#include <stdlib.h>

#include "certs/authority.h"
#include "certs/base64.h"
#include "certs/bundle.h"
#include "certs/pem.h"
#include "server/operate/serving_hooks.h"

#define NOW ((time_t)1800000000)

static struct authority *ours, *foreign;
static STACK_OF(X509) * wanted;

static struct authority *make(int64_t life_s) {
    struct authority *authority = NULL;
    struct fault fault = {0};
    cr_assert(authority_new(KEY_ECDSA_P256, NOW, life_s, &authority, &fault), "%s", fault.text);
    return authority;
}

static void begin(void) {
    ours = make(1000);
    foreign = make(1000);
    wanted = sk_X509_new_null();
    sk_X509_push(wanted, authority_certificate(ours));
}

static void end(void) {
    sk_X509_free(wanted);
    authority_free(ours);
    authority_free(foreign);
}

TestSuite(serving_hooks, .init = begin, .fini = end);

static json_t *webhook(const char *ca_bundle) {
    return json_pack("{s:s, s:{s:s*}}", "name", "a.drawbridge.dev", "clientConfig", "caBundle", ca_bundle);
}

static char *base64_of(struct authority *authority) {
    struct pem_pair pair = {0};
    struct secret_bytes text = {0};
    struct fault fault = {0};
    cr_assert(authority_export(authority, &pair, &fault));
    cr_assert(base64_encode((struct text){pair.certificate, pair.certificate_bytes}, &text, &fault));
    pem_pair_release(&pair);
    return text.ptr;
}

static struct hooks read_object(json_t *webhooks) {
    struct hooks hooks = {0};
    struct fault fault = {0};
    json_t *object = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", "12", "webhooks", webhooks);
    char *text = json_dumps(object, 0);
    struct text body = text_of(text);
    cr_assert(hooks_read(&hooks, &body, &fault), "%s", fault.text);
    json_decref(object);
    free(text);
    return hooks;
}

static json_t *patch_of(const struct hooks *hooks, size_t count) {
    json_t *patch = NULL;
    size_t changed = 0;
    struct fault fault = {0};
    cr_assert(hooks_patch(hooks, wanted, NOW, &patch, &changed, &fault), "%s", fault.text);
    cr_expect_eq(changed, count);
    cr_expect_eq(json_array_size(patch), count == 0 ? 0 : count + 1);
    return patch;
}

Test(serving_hooks, a_patch_names_the_version_and_only_what_differs) {
    char *right = base64_of(ours), *other = base64_of(foreign);
    struct hooks hooks = read_object(
        json_pack("[o,o,o,o]", webhook(NULL), webhook(right), webhook(other), webhook("bm90aGluZw==")));
    cr_expect_not(hooks_trust(&hooks, authority_certificate(ours)));
    json_t *patch = patch_of(&hooks, 3);
    const json_t *first = json_array_get(patch, 0);
    cr_expect_str_eq(json_string_value(json_object_get(first, "path")), "/metadata/resourceVersion");
    cr_expect_str_eq(json_string_value(json_object_get(first, "value")), "12");
    static const char *const paths[] = {"/webhooks/0/clientConfig/caBundle",
                                        "/webhooks/2/clientConfig/caBundle",
                                        "/webhooks/3/clientConfig/caBundle"};
    for (size_t i = 0; i < 3; i++)
        cr_expect_str_eq(json_string_value(json_object_get(json_array_get(patch, i + 1), "path")), paths[i]);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(patch, 1), "value")), right);
    json_decref(patch);
    hooks_release(&hooks);
    free(right);
    free(other);
}

Test(serving_hooks, when_all_is_right_nothing_is_written) {
    char *right = base64_of(ours);
    struct hooks hooks = read_object(json_pack("[o,o]", webhook(right), webhook(right)));
    cr_expect_null(patch_of(&hooks, 0));
    cr_expect(hooks_trust(&hooks, authority_certificate(ours)));
    cr_expect_not(hooks_trust(&hooks, authority_certificate(foreign)));
    hooks_release(&hooks);
    free(right);
}

Test(serving_hooks, what_was_not_read_trusts_nobody_and_what_does_not_exist_calls_nobody) {
    struct hooks hooks = {0};
    struct fault fault = {0};
    cr_expect_not(hooks_trust(&hooks, authority_certificate(ours)));
    cr_expect_not(hooks_accept(&hooks, authority_certificate(ours), NOW, &fault));
    cr_expect_str_eq(fault.text, "not read yet");
    cr_assert(hooks_read(&hooks, NULL, &fault));
    cr_expect(hooks_trust(&hooks, authority_certificate(ours)));
    cr_expect(hooks_accept(&hooks, authority_certificate(ours), NOW, &fault));
    cr_expect_null(patch_of(&hooks, 0));
    hooks_release(&hooks);
}

Test(serving_hooks, an_answer_that_cannot_be_read_leaves_what_was_known) {
    char *right = base64_of(ours);
    struct hooks hooks = read_object(json_pack("[o]", webhook(right)));
    static const char *const bodies[] = {"", "{", "[]", "{\"webhooks\":[]}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct text body = text_of(bodies[i]);
        struct fault fault = {0};
        cr_expect_not(hooks_read(&hooks, &body, &fault), "%s", bodies[i]);
    }
    cr_expect(hooks_trust(&hooks, authority_certificate(ours)));
    hooks_release(&hooks);
    free(right);
}

Test(serving_hooks, a_leaf_is_accepted_where_every_bundle_vouches_for_it) {
    char *right = base64_of(ours), *other = base64_of(foreign);
    struct pem_pair pair = {0};
    struct fault fault = {0};
    STACK_OF(X509) *chain = NULL;
    struct leaf_request request = {
        .algorithm = KEY_ECDSA_P256, .service = "a", .namespace = "b", .lifetime_s = 100};
    cr_assert(authority_issue(ours, &request, NOW, &pair, &fault));
    cr_assert(pem_parse_chain((struct text){pair.certificate, pair.certificate_bytes}, &chain, &fault));
    X509 *leaf = sk_X509_value(chain, 0);
    struct hooks good = read_object(json_pack("[o,o]", webhook(right), webhook(right)));
    struct hooks wrong = read_object(json_pack("[o,o]", webhook(right), webhook(other)));
    struct hooks empty = read_object(json_pack("[o]", webhook(NULL)));
    cr_expect(hooks_accept(&good, leaf, NOW, &fault), "%s", fault.text);
    cr_expect_not(hooks_accept(&good, leaf, NOW + 101, &fault));
    cr_expect_not(hooks_accept(&wrong, leaf, NOW, &fault));
    cr_expect_not_null(strstr(fault.text, "webhook 1: the caBundle does not vouch for our certificate"), "%s",
                       fault.text);
    cr_expect_not(hooks_accept(&empty, leaf, NOW, &fault));
    cr_expect_str_eq(fault.text, "webhook 0: the caBundle is empty");
    hooks_release(&good);
    hooks_release(&wrong);
    hooks_release(&empty);
    pem_chain_free(chain);
    pem_pair_release(&pair);
    free(right);
    free(other);
}
