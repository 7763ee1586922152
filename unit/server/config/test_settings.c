// SPDX-License-Identifier: Apache-2.0
// Settings: who wins, what a strict file refuses and where, what a re-read may change.
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/config/bounds.h"
#include "server/config/settings.h"
#include "unit/lib/temp_files.h"

#define HEAD         "apiVersion: drawbridge.dev/v1alpha1\nkind: DrawbridgeConfiguration\n"
#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0] - 1)

static const char *folder;

static void set_up(void) {
    folder = test_folder_new();
    // The run of the tests has variables of its own.
    unsetenv("DRAWBRIDGE_PORT");
    unsetenv("DRAWBRIDGE_CONFIG");
}

static void tear_down(void) {
    test_folder_remove(folder);
}

TestSuite(settings, .init = set_up, .fini = tear_down, .timeout = 60);

// Loads with these flags; the file, when not NULL, is written and named by --config.
static bool load_with(const char *file, char **flags, int flag_count, struct serve_settings *ret_settings,
                      struct options *ret_options, struct fault *fault) {
    static char *argv[32];
    static char name[] = "serve", config[] = "--config", path[512];
    int argc = 0;
    argv[argc++] = name;
    if (file != NULL) {
        test_write_text(folder, "config.yaml", file);
        snprintf(path, sizeof path, "%s", test_path(folder, "config.yaml"));
        argv[argc++] = config;
        argv[argc++] = path;
    }
    for (int i = 0; i < flag_count; i++) argv[argc++] = flags[i];
    argv[argc] = NULL;
    struct options options;
    if (!options_read(&options, "serve", argc, argv, fault)) return false;
    bool loaded = settings_load(&options, ret_settings, fault);
    if (ret_options != NULL && loaded) *ret_options = options;
    if (ret_options == NULL || !loaded) options_release(&options);
    return loaded;
}

static struct serve_settings loaded(const char *file, char **flags, int flag_count) {
    struct serve_settings settings = {0};
    struct fault fault = {0};
    cr_assert(load_with(file, flags, flag_count, &settings, NULL, &fault), "%s", fault.text);
    return settings;
}

Test(settings, defaults_are_the_named_bounds) {
    struct serve_settings s = loaded(NULL, NULL, 0);
    cr_expect_eq(s.max_request_bytes, BOUND_REQUEST_BYTES);
    cr_expect_eq(s.max_in_flight_bytes, BOUND_IN_FLIGHT_BYTES);
    cr_expect_eq(s.small_review_bytes, BOUND_SMALL_REVIEW_BYTES);
    cr_expect_eq(s.max_connection_bytes, BOUND_CONNECTION_BYTES);
    cr_expect_eq(s.max_review_memory_bytes, BOUND_REVIEW_MEMORY_BYTES);
    cr_expect_eq(s.max_connections, BOUND_CONNECTIONS);
    cr_expect_eq(s.max_connections_per_ip, BOUND_CONNECTIONS_PER_IP);
    cr_expect_eq(s.tls_begin_deadline_ms, BOUND_TLS_BEGIN_MS);
    cr_expect_eq(s.header_deadline_ms, BOUND_HEADER_MS);
    cr_expect_eq(s.request_deadline_ms, BOUND_REQUEST_MS);
    cr_expect_eq(s.max_request_deadline_ms, BOUND_REQUEST_MOST_MS);
    cr_expect_eq(s.idle_connection_deadline_ms, BOUND_IDLE_CONNECTION_MS);
    cr_expect_eq(s.shutdown_delay_ms, BOUND_SHUTDOWN_DELAY_MS);
    cr_expect_eq(s.port, 9443);
    cr_expect_str_eq(s.tls_cert_file, "");
    cr_expect_eq(s.failure_policy, FAILURE_POLICY_FAIL);
    cr_expect_eq(s.numa_attributes.count, 4);
    for (unsigned i = 0; i < OPTION_COUNT; i++) cr_expect_eq(s.sources[i], SETTING_DEFAULT);
    settings_release(&s);
}

Test(settings, flag_beats_variable_beats_file_beats_default) {
    static char flag[] = "--port=4";
    char *flags[] = {flag, NULL};
    struct serve_settings s = loaded(NULL, NULL, 0);
    cr_expect_eq(s.port, 9443);
    settings_release(&s);
    s = loaded(HEAD "port: 2\n", NULL, 0);
    cr_expect_eq(s.port, 2);
    cr_expect_eq(s.sources[OPTION_PORT], SETTING_FILE);
    settings_release(&s);
    setenv("DRAWBRIDGE_PORT", "3", 1);
    s = loaded(HEAD "port: 2\n", NULL, 0);
    cr_expect_eq(s.port, 3);
    cr_expect_eq(s.sources[OPTION_PORT], SETTING_VARIABLE);
    settings_release(&s);
    s = loaded(HEAD "port: 2\n", flags, COUNT(flags));
    cr_expect_eq(s.port, 4);
    cr_expect_eq(s.sources[OPTION_PORT], SETTING_FLAG);
    cr_expect_eq(s.sources[OPTION_V], SETTING_DEFAULT);
    settings_release(&s);
}

// Each setting, by each door, reaches the struct: checked by what print says afterwards.
Test(settings, each_setting_by_each_door) {
    static const char *const values[][3] = {
        // key, as flag and variable, as in the file
        {"bindAddress", "::1", "\"::1\""},
        {"port", "1", "1"},
        {"statusBindAddress", "0", "\"0\""},
        {"addressFile", "h", "\"h\""},
        {"tlsCertFile", "a", "\"a\""},
        {"tlsPrivateKeyFile", "b", "\"b\""},
        {"dynamicServingCaSecretName", "i", "\"i\""},
        {"dynamicServingCaSecretNamespace", "j", "\"j\""},
        {"dynamicServingDnsNames", "k,l", "[\"k\", \"l\"]"},
        {"dynamicServingLeafDuration", "3600s", "3600s"},
        {"dynamicServingCaDuration", "7200s", "7200s"},
        {"validatingWebhookConfigurations", "m", "[\"m\"]"},
        {"mutatingWebhookConfigurations", "o,p", "[\"o\", \"p\"]"},
        {"enableClientVerification", "true", "true"},
        {"clientCaPath", "c", "\"c\""},
        {"clientSubjectNames", "x,y", "[\"x\", \"y\"]"},
        {"feed", "dir:d", "\"dir:d\""},
        {"kubeconfig", "e", "\"e\""},
        {"context", "f", "\"f\""},
        {"kubernetesVersion", "1.36", "\"1.36\""},
        {"featureGates", "A=true,B=false", "[\"A=true\", \"B=false\"]"},
        {"failurePolicy", "Ignore", "\"Ignore\""},
        {"ledgerDir", "g", "\"g\""},
        {"nodeMetrics", "false", "false"},
        {"numaAttributes", "n", "[\"n\"]"},
        {"shutdownDelay", "90s", "90s"},
        {"v", "3", "3"},
        {"loggingFormat", "json", "\"json\""},
        {"maxRequestBytes", "4Mi", "4Mi"},
        {"maxInFlightBytes", "1Gi", "1Gi"},
        {"smallReviewBytes", "1000", "1000"},
        {"maxConnectionBytes", "32Ki", "32Ki"},
        {"maxReviewMemoryBytes", "32Mi", "32Mi"},
        {"maxConnections", "7", "7"},
        {"maxConnectionsPerIp", "6", "6"},
        {"maxConcurrentReviews", "5", "5"},
        {"tlsBeginDeadline", "1500ms", "1500ms"},
        {"headerDeadline", "9s", "9s"},
        {"requestDeadline", "8s", "8s"},
        {"maxRequestDeadline", "20s", "20s"},
        {"idleConnectionDeadline", "120s", "120s"},
    };
    size_t settings_count = 0;
    for (unsigned i = 0; i < OPTION_COUNT; i++) settings_count += (option_rows[i].commands & ON_SETTING) != 0;
    cr_expect_eq(settings_count, sizeof values / sizeof values[0] + 1,
                 "all but --config are in the table above");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const struct option_row *row = NULL;
        char key[OPTION_NAME_BYTES], variable[OPTION_NAME_BYTES], flag[256], file[512], line[256];
        for (unsigned k = 0; k < OPTION_COUNT; k++)
            if (strcmp(option_key(&option_rows[k], key, sizeof key), values[i][0]) == 0)
                row = &option_rows[k];
        cr_assert_not_null(row, "%s", values[i][0]);
        snprintf(flag, sizeof flag, "--%s=%s", row->name, values[i][1]);
        snprintf(file, sizeof file, HEAD "%s: %s\n", values[i][0], values[i][2]);
        for (enum setting_source door = SETTING_FILE; door <= SETTING_FLAG; door++) {
            static const char *const doors[] = {"default", "file", "variable", "flag"};
            char *flags[] = {flag};
            if (door == SETTING_VARIABLE)
                setenv(option_variable(row, variable, sizeof variable), values[i][1], 1);
            struct serve_settings s =
                loaded(door == SETTING_FILE ? file : NULL, flags, door == SETTING_FLAG ? 1 : 0);
            unsetenv(option_variable(row, variable, sizeof variable));
            char *printed = NULL;
            size_t printed_len = 0;
            FILE *out = open_memstream(&printed, &printed_len);
            cr_assert(settings_print(&s, out));
            fclose(out);
            snprintf(line, sizeof line, "\n%s: %s # %s\n", values[i][0], values[i][2], doors[door]);
            cr_expect(strstr(printed, line) != NULL, "not printed: %s", line);
            free(printed);
            settings_release(&s);
        }
    }
}

Test(settings, print_can_be_fed_back) {
    static char a[] = "--tls-cert-file=/a \"b\"\n\x01: #c", b[] = "--client-subject-names=x y,\xc3\xa4",
                c[] = "--v=2", d[] = "--idle-connection-deadline=1m30s", e[] = "--failure-policy=Ignore";
    char *flags[] = {a, b, c, d, e, NULL};
    struct serve_settings one = loaded(NULL, flags, COUNT(flags));
    char *printed = NULL, *again = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&printed, &len);
    cr_assert(settings_print(&one, out));
    fclose(out);
    struct serve_settings two = loaded(printed, NULL, 0);
    cr_expect_str_eq(two.tls_cert_file, "/a \"b\"\n\x01: #c");
    cr_assert_eq(two.client_subject_names.count, 2);
    cr_expect_str_eq(two.client_subject_names.items[1], "\xc3\xa4");
    cr_expect_eq(two.idle_connection_deadline_ms, 90000);
    cr_expect_eq(two.failure_policy, FAILURE_POLICY_IGNORE);
    // Everything but the sources is the same.
    memcpy(two.sources, one.sources, sizeof one.sources);
    free(two.config);
    two.config = calloc(1, 1);
    out = open_memstream(&again, &len);
    cr_assert(settings_print(&two, out));
    fclose(out);
    cr_expect_str_eq(again, printed);
    free(printed);
    free(again);
    settings_release(&one);
    settings_release(&two);
}

struct refusal {
    const char *file;
    const char *says; // FILE name apart
};

Test(settings, strict_file_says_where) {
    static const struct refusal refusals[] = {
        {HEAD "\n# a comment\nporrt: 1\n", ":5: there is no setting \"porrt\"; did you mean \"port\"?"},
        {HEAD "max-connections: 1\n",
         ":3: there is no setting \"max-connections\"; did you mean \"maxConnections\"?"},
        {HEAD "somethingElse: 1\n", ":3: there is no setting \"somethingElse\""},
        {HEAD "\"a\\u0000b\": 1\n", ":3: there is no setting"},
        {HEAD "port: 1\nv: 1\nport: 2\n", ":5: duplicate key"},
        {HEAD "port: \"1\"\n", ":3: \"port\" must be a whole number"},
        {HEAD "port: 1.5\n", ":3: \"port\": \"1.5\" is not a whole number"},
        {HEAD "port: 65536\n", ":3: \"port\": \"65536\" is out of range; from 0 to 65535 is allowed"},
        {HEAD "port: [1]\n", ":3: \"port\" must be"},
        {HEAD "port:\n", ":3: \"port\" has no value"},
        {HEAD "kubernetesVersion: 1.36\n", ":3: \"kubernetesVersion\" must be a text; write it in quotes"},
        {HEAD "enableClientVerification: \"true\"\n",
         ":3: \"enableClientVerification\" must be true or false"},
        {HEAD "clientSubjectNames: a\n", ":3: \"clientSubjectNames\" must be a list of texts"},
        {HEAD "clientSubjectNames:\n- a\n- 1\n", ":3: \"clientSubjectNames\" must be a list of texts"},
        {HEAD "shutdownDelay: 10\n", ":3: \"shutdownDelay\" must be a duration such as 10s"},
        {HEAD "shutdownDelay: 10 s\n", ":3: \"shutdownDelay\": \"10 s\" is not a duration"},
        {HEAD "maxRequestBytes: 8MB\n", ":3: \"maxRequestBytes\": \"8MB\" is not a size"},
        {HEAD "failurePolicy: fail\n", ":3: \"failurePolicy\": \"fail\" is not one of Fail|Ignore"},
        {HEAD "config: a\n", ":3: a configuration file cannot name another one"},
        {HEAD "feed: \"a\\u0000b\"\n", ":3: \"feed\" must be a value without control bytes"},
        {"apiVersion: drawbridge.dev/v1\nkind: DrawbridgeConfiguration\n",
         ":1: \"apiVersion\" must be drawbridge.dev/v1alpha1"},
        {"apiVersion: drawbridge.dev/v1alpha1\nkind: Config\n",
         ":2: \"kind\" must be DrawbridgeConfiguration"},
        {"port: 1\n", ":1: the file needs apiVersion"},
        {"", ":1: the file must be a map"},
        {"- a\n", ":1: the file must be a map"},
        {"apiVersion: [\n", ":"},
        {HEAD "---\nport: 1\n", ":"},
        {HEAD "port: !!binary MQ==\n", ":3: "},
        {HEAD "a: &a [*a]\n", ":3: "},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct serve_settings s = {0};
        struct fault fault = {0};
        char wanted[512];
        cr_expect_not(load_with(refusals[i].file, NULL, 0, &s, NULL, &fault), "%s", refusals[i].file);
        snprintf(wanted, sizeof wanted, "config.yaml%s", refusals[i].says);
        cr_expect(strstr(fault.text, wanted) != NULL, "wanted %s\n   got %s", wanted, fault.text);
        cr_expect_eq(fault.code, FAULT_USAGE, "%s", fault.text);
        cr_expect_null(s.feed);
    }
}

Test(settings, bad_flags_and_variables_are_named) {
    struct serve_settings s = {0};
    struct fault fault = {0};
    setenv("DRAWBRIDGE_PORT", "many", 1);
    cr_expect_not(load_with(NULL, NULL, 0, &s, NULL, &fault));
    cr_expect_str_eq(fault.text, "DRAWBRIDGE_PORT: \"many\" is not a whole number");
    unsetenv("DRAWBRIDGE_PORT");
    static char flag[] = "--max-connections=0";
    char *flags[] = {flag};
    cr_expect_not(load_with(NULL, flags, 1, &s, NULL, &fault));
    cr_expect_str_eq(fault.text, "--max-connections: \"0\" is out of range; from 1 to 65536 is allowed");
}

// For a Service named drawbridge the kubelet sets this in each Pod of the namespace.
Test(settings, variables_of_the_kubelet_are_not_ours) {
    setenv("DRAWBRIDGE_PORT", "tcp://10.96.0.17:443", 1);
    setenv("DRAWBRIDGE_SERVICE_HOST", "10.96.0.17", 1);
    setenv("DRAWBRIDGE_V", "", 1);
    struct serve_settings s = loaded(NULL, NULL, 0);
    cr_expect_eq(s.port, 9443);
    cr_expect_eq(s.sources[OPTION_V], SETTING_DEFAULT, "an empty variable is none");
    settings_release(&s);
}

Test(settings, secure_port_is_port) {
    static char secure[] = "--secure-port=7", port[] = "--port=8";
    char *flags[] = {secure, port};
    struct serve_settings s = loaded(NULL, flags, 1);
    struct fault fault = {0};
    cr_expect_eq(s.port, 7);
    settings_release(&s);
    cr_expect_not(load_with(NULL, flags, 2, &s, NULL, &fault));
}

Test(settings, unreadable_files) {
    static char config[] = "--config", missing[] = "/nonexistent/config.yaml", device[] = "/dev/zero";
    struct serve_settings s = {0};
    struct fault fault = {0};
    char *flags[] = {config, missing};
    cr_expect_not(load_with(NULL, flags, 2, &s, NULL, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    cr_expect(strstr(fault.text, "/nonexistent/config.yaml") != NULL);
    flags[1] = device;
    cr_expect_not(load_with(NULL, flags, 2, &s, NULL, &fault));
    cr_expect(strstr(fault.text, "not a regular file") != NULL, "%s", fault.text);
    char *big = malloc(BOUND_CONFIG_BYTES + 2);
    memset(big, '#', BOUND_CONFIG_BYTES + 1);
    big[BOUND_CONFIG_BYTES + 1] = '\0';
    cr_expect_not(load_with(big, NULL, 0, &s, NULL, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT, "%s", fault.text);
    free(big);
}

static bool checked(char *flag, struct fault *fault) {
    static char cert[] = "--tls-cert-file=a", key[] = "--tls-private-key-file=b";
    char *flags[] = {cert, key, flag};
    struct serve_settings s = loaded(NULL, flags, flag == NULL ? 2 : 3);
    bool fine = settings_check(&s, fault);
    settings_release(&s);
    return fine;
}

Test(settings, check_says_what_does_not_fit) {
    struct fault fault = {0};
    struct serve_settings s = loaded(NULL, NULL, 0);
    cr_expect_not(settings_check(&s, &fault));
    cr_expect(strstr(fault.text, "--tls-cert-file") != NULL, "%s", fault.text);
    settings_release(&s);
    cr_expect(checked(NULL, &fault), "%s", fault.text);
    static const char *const good[] = {"--bind-address=::",
                                       "--status-bind-address=0",
                                       "--status-bind-address=:1",
                                       "--status-bind-address=[::1]:9402",
                                       "--feed=dir:x",
                                       "--feed=kube",
                                       "--kubernetes-version=v1.36.3",
                                       "--kubernetes-version=1.99",
                                       "--feature-gates=A=true,B=false"};
    static const char *const bad[] = {"--bind-address=localhost",
                                      "--status-bind-address=9402",
                                      "--status-bind-address=::1:9402",
                                      "--status-bind-address=127.0.0.1:70000",
                                      "--status-bind-address=[127.0.0.1]:1",
                                      "--status-bind-address=host:1",
                                      "--feed=cube",
                                      "--feed=dir:",
                                      "--kubernetes-version=1.35",
                                      "--kubernetes-version=2.36",
                                      "--kubernetes-version=1.36.x",
                                      "--kubernetes-version=1.",
                                      "--feature-gates=A",
                                      "--feature-gates==true",
                                      "--feature-gates=A=yes",
                                      "--enable-client-verification",
                                      "--max-in-flight-bytes=1Mi",
                                      "--tls-begin-deadline=11s",
                                      "--request-deadline=31s"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char *flag = strndup(good[i], strlen(good[i]));
        cr_expect(checked(flag, &fault), "%s: %s", flag, fault.text);
        free(flag);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *flag = strndup(bad[i], strlen(bad[i]));
        fault = (struct fault){0};
        cr_expect_not(checked(flag, &fault), "%s", flag);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(flag, "="), flag);
        cr_expect(strstr(fault.text, name) != NULL, "%s: %s", flag, fault.text);
        free(flag);
    }
}

// The flags of a server that issues its own certificates, with one replaced or added (NULL: none).
static bool checked_dynamic(const char *more, struct fault *fault) {
    static const char *const given[] = {"--feed=kube", "--dynamic-serving-ca-secret-name=ca",
                                        "--dynamic-serving-dns-names=a.b.svc",
                                        "--mutating-webhook-configurations=c", NULL};
    char *flags[COUNT(given) + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; given[i] != NULL; i++) flags[count++] = strndup(given[i], strlen(given[i]));
    if (more != NULL) flags[count++] = strndup(more, strlen(more));
    struct serve_settings s = loaded(NULL, flags, (int)count);
    bool fine = settings_check(&s, fault);
    settings_release(&s);
    for (size_t i = 0; i < count; i++) free(flags[i]);
    return fine;
}

Test(settings, check_says_what_does_not_fit_certificates_of_our_own) {
    static const struct {
        const char *flag, *word;
    } bad[] = {{"--tls-cert-file=a", "exclude each other"},
               {"--feed=none", "needs --feed kube"},
               {"--dynamic-serving-ca-secret-name=a/b", "is no name of an object"},
               {"--dynamic-serving-ca-secret-namespace=../x", "is no name of an object"},
               {"--validating-webhook-configurations=a/b", "--validating-webhook-configurations"},
               {"--mutating-webhook-configurations=B", "--mutating-webhook-configurations"},
               {"--dynamic-serving-ca-duration=1h", "must not be above"},
               {NULL, NULL}};
    struct fault fault = {0};
    cr_expect(checked_dynamic(NULL, &fault), "%s", fault.text);
    cr_expect(checked_dynamic("--validating-webhook-configurations=a.b,c-d", &fault), "%s", fault.text);
    for (size_t i = 0; bad[i].flag != NULL; i++) {
        fault = (struct fault){0};
        cr_expect_not(checked_dynamic(bad[i].flag, &fault), "%s", bad[i].flag);
        cr_expect(strstr(fault.text, bad[i].word) != NULL, "%s: %s", bad[i].flag, fault.text);
    }
}

#define LIVE HEAD "tlsCertFile: a\ntlsPrivateKeyFile: b\n"

Test(settings, reload_changes_what_may_change) {
    struct serve_settings one = {0}, two = {0};
    struct options options;
    struct settings_change change;
    struct fault fault = {0};
    char names[256];
    cr_assert(load_with(LIVE "v: 1\nport: 1\nclientSubjectNames: [a]\n", NULL, 0, &one, &options, &fault),
              "%s", fault.text);
    test_write_text(folder, "config.yaml",
                    LIVE "v: 2\nport: 2\nfailurePolicy: Ignore\nclientSubjectNames: [b]\n"
                         "numaAttributes: [x]\n");
    cr_assert(settings_reload(&options, &one, &two, &change, &fault), "%s", fault.text);
    cr_expect_eq(two.v, 2);
    cr_expect_eq(two.failure_policy, FAILURE_POLICY_IGNORE);
    cr_expect_str_eq(two.client_subject_names.items[0], "b");
    cr_expect_eq(two.port, 1, "stays until a restart");
    cr_expect_eq(two.numa_attributes.count, 4);
    cr_expect_eq(one.v, 1);
    cr_expect(settings_change_has(change.applied, OPTION_V));
    cr_expect_str_eq(settings_change_names(change.applied, names, sizeof names),
                     "client-subject-names,failure-policy,v");
    cr_expect_str_eq(settings_change_names(change.needs_restart, names, sizeof names),
                     "port,numa-attributes");
    cr_expect(setting_is_live(OPTION_V) && !setting_is_live(OPTION_PORT) && !setting_is_live(OPTION_HELP));
    settings_release(&two);
    settings_release(&one);
    options_release(&options);
}

Test(settings, reload_of_a_bad_file_keeps_the_old) {
    struct serve_settings one = {0}, two = {0};
    struct options options;
    struct settings_change change;
    struct fault fault = {0};
    cr_assert(load_with(LIVE "v: 1\n", NULL, 0, &one, &options, &fault), "%s", fault.text);
    const char *bad[] = {LIVE "w: 2\n", LIVE "v: 2\nfeed: kubernetes\n", LIVE "v: 2\nrequestDeadline: 60s\n",
                         "", HEAD};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_write_text(folder, "config.yaml", bad[i]);
        cr_expect_not(settings_reload(&options, &one, &two, &change, &fault), "%zu", i);
        cr_expect_null(two.feed);
        cr_expect_eq(one.v, 1);
    }
    test_write_text(folder, "config.yaml", LIVE "v: 3\n");
    cr_expect(settings_reload(&options, &one, &two, &change, &fault), "%s", fault.text);
    cr_expect_eq(two.v, 3);
    settings_release(&two);
    settings_release(&one);
    settings_release(NULL);
    options_release(&options);
}
