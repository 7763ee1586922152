// SPDX-License-Identifier: Apache-2.0
// Kubeconfig files: what is read, what is refused and with which words, tokens that rotate.
#include <criterion/criterion.h>
#include <unistd.h>

#include "server/feed/kubeconfig.h"
#include "unit/lib/temp_files.h"
#include "validators/core/text.h"

#define CONFIG(cluster, user)                                                                                \
    "apiVersion: v1\nkind: Config\ncurrent-context: c\n"                                                     \
    "contexts: [{name: c, context: {cluster: k, user: u}}, {name: other, context: {cluster: k2}},"           \
    " {name: lost, context: {cluster: none}}]\n"                                                             \
    "clusters: [{name: k, cluster: {" cluster "}}, {name: k2, cluster: {server: 'https://b:1/x/'}}]\n"       \
    "users: [{name: u, user: {" user "}}]\n"

#define SERVER "server: 'https://10.0.0.1:6443', certificate-authority: ca.pem"

static bool load(const char *folder, const char *yaml, const char *context, struct kubeconfig *config,
                 struct fault *fault) {
    test_write_text(folder, "config", yaml);
    return kubeconfig_load(test_path(folder, "config"), context, config, fault);
}

static void expect_text(const char *got, const char *want) {
    if (want == NULL)
        cr_expect_null(got);
    else
        cr_expect(got != NULL && strcmp(got, want) == 0, "%s is not %s", got == NULL ? "nothing" : got, want);
}

Test(kubeconfig, taken) {
    const char *folder = test_folder_new();
    struct kubeconfig config;
    struct fault fault;
    cr_assert(load(folder, CONFIG(SERVER ", tls-server-name: kube", "token: abc"), NULL, &config, &fault),
              "%s", fault.text);
    expect_text(config.server, "https://10.0.0.1:6443");
    expect_text(config.server_name, "kube");
    expect_text(config.token, "abc");
    expect_text(config.ca_file, test_path(folder, "ca.pem"));
    kubeconfig_release(&config);
    cr_assert(
        load(folder,
             CONFIG("server: 'https://a', certificate-authority-data: Y2E=",
                    "client-certificate-data: Y2VydA==, client-key: /k/key.pem, tokenFile: t, exec: null"),
             "c", &config, &fault),
        "%s", fault.text);
    cr_expect(text_equal((struct text){config.ca_data.ptr, config.ca_data.len}, TEXT("ca")));
    cr_expect(text_equal((struct text){config.cert_data.ptr, config.cert_data.len}, TEXT("cert")));
    expect_text(config.ca_file, NULL);
    expect_text(config.key_file, "/k/key.pem");
    expect_text(config.token_file, test_path(folder, "t"));
    kubeconfig_release(&config);
    cr_assert(load(folder, CONFIG(SERVER, ""), "other", &config, &fault), "%s", fault.text);
    expect_text(config.server, "https://b:1/x");
    kubeconfig_release(&config);
    cr_assert(load(folder, CONFIG("server: 'http://127.0.0.1:8001'", ""), NULL, &config, &fault), "%s",
              fault.text);
    kubeconfig_release(&config);
    test_folder_remove(folder);
}

Test(kubeconfig, refused) {
    static const struct {
        const char *yaml, *context, *words;
    } cases[] = {
        {CONFIG(SERVER, "exec: {command: aws}"), NULL,
         "user \"u\": exec: a program that hands out credentials"},
        {CONFIG(SERVER, "auth-provider: {name: gcp}"), NULL, "auth-provider"},
        {CONFIG(SERVER, "username: a, password: b"), NULL, "username and password"},
        {CONFIG(SERVER, "as: admin"), NULL, "impersonation"},
        {CONFIG(SERVER, "client-certificate: a"), NULL, "belong together"},
        {CONFIG(SERVER, "client-key-data: '####', client-certificate: a"), NULL,
         "client-key-data is no base64"},
        {CONFIG(SERVER ", insecure-skip-tls-verify: true", ""), NULL, "insecure-skip-tls-verify"},
        {CONFIG(SERVER ", proxy-url: 'http://p'", ""), NULL, "proxy-url"},
        {CONFIG("certificate-authority: a", ""), NULL, "server is missing"},
        {CONFIG("server: 'ftp://a'", ""), NULL, "https://HOST:PORT"},
        {CONFIG("server: 'http://10.0.0.1'", ""), NULL, "loopback"},
        {CONFIG("server: 'http://127.0.0.1'", "token: a"), NULL, "credentials are not sent over http"},
        {CONFIG("server: 'https://user:pw@a'", ""), NULL, "only scheme, host, port and path"},
        {CONFIG("server: 'https://'", ""), NULL, "server"},
        {CONFIG("server: 3", ""), NULL, "server"},
        {CONFIG(SERVER, ""), "nobody", "there is no context \"nobody\""},
        {CONFIG(SERVER, ""), "lost", "there is no cluster \"none\""},
        {"kind: Config\n", NULL, "current-context"},
        {"", NULL, "empty"},
        {"a: [", NULL, "config"},
    };
    const char *folder = test_folder_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kubeconfig config;
        struct fault fault = {.text = ""};
        cr_expect_not(load(folder, cases[i].yaml, cases[i].context, &config, &fault), "case %zu was taken",
                      i);
        cr_expect_eq(fault.code, FAULT_USAGE, "case %zu", i);
        cr_expect_not_null(strstr(fault.text, cases[i].words), "case %zu: \"%s\" does not say \"%s\"", i,
                           fault.text, cases[i].words);
    }
    struct kubeconfig config;
    struct fault fault;
    cr_expect_not(kubeconfig_load(test_path(folder, "nowhere"), NULL, &config, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    test_folder_remove(folder);
}

Test(kubeconfig, in_a_pod) {
    struct kubeconfig config;
    struct fault fault;
    cr_assert(kubeconfig_in_cluster("10.0.0.1", "443", "/sa", &config, &fault));
    expect_text(config.server, "https://10.0.0.1:443");
    expect_text(config.ca_file, "/sa/ca.crt");
    expect_text(config.token_file, "/sa/token");
    kubeconfig_release(&config);
    cr_assert(kubeconfig_in_cluster("fd00::1", "443", "/sa", &config, &fault));
    expect_text(config.server, "https://[fd00::1]:443");
    kubeconfig_release(&config);
    cr_expect_not(kubeconfig_in_cluster(NULL, NULL, "/sa", &config, &fault));
    cr_expect_not_null(strstr(fault.text, "--kubeconfig"));
}

Test(kubeconfig, tokens_rotate) {
    const char *folder = test_folder_new();
    struct kubeconfig config;
    struct fault fault;
    cr_assert(load(folder, CONFIG(SERVER, "tokenFile: token"), NULL, &config, &fault), "%s", fault.text);
    cr_expect_not(kubeconfig_renew_token(&config, &fault));
    cr_expect_eq(fault.code, FAULT_IO, "there is no file yet");
    test_write_text(folder, "token", "one\n");
    cr_expect(kubeconfig_renew_token(&config, &fault));
    expect_text(config.token, "one");
    cr_expect_not(kubeconfig_renew_token(&config, &fault));
    cr_expect_eq(fault.code, FAULT_NONE);
    test_write_text(folder, "token", "");
    cr_expect_not(kubeconfig_renew_token(&config, &fault));
    cr_expect_eq(fault.code, FAULT_INPUT);
    expect_text(config.token, "one");
    char *long_token = malloc(1 << 20);
    memset(long_token, 'a', 1 << 20);
    test_write(folder, "token", long_token, 1 << 20);
    cr_expect_not(kubeconfig_renew_token(&config, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    test_write_text(folder, "token", "two\r\nHost: elsewhere\n");
    cr_expect_not(kubeconfig_renew_token(&config, &fault), "a token that would add a header");
    expect_text(config.token, "one");
    test_write_text(folder, "token", "two");
    cr_expect(kubeconfig_renew_token(&config, &fault));
    expect_text(config.token, "two");
    free(long_token);
    kubeconfig_release(&config);
    test_folder_remove(folder);
}
