// SPDX-License-Identifier: Apache-2.0
// `drawbridge certs`: what it writes, what it prints, how it ends.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <jansson.h>

#include "certs/pem.h"
#include "server/cli/command.h"
#include "unit/lib/temp_files.h"

static const char *folder;

static void set_up(void) {
    cr_redirect_stdout();
    cr_redirect_stderr();
    folder = test_folder_new();
}

static void tear_down(void) {
    test_folder_remove(folder);
}

TestSuite(cmd_certs, .init = set_up, .fini = tear_down, .timeout = 60);

// Runs `certs` with the words, parted by blanks; @ at the beginning of a word is the test's folder.
static int run(const char *line) {
    static char words[32][512];
    char *argv[32];
    int argc = 0;
    snprintf(words[argc++], sizeof words[0], "certs");
    while (*line != '\0') {
        size_t len = strcspn(line, " ");
        bool here = line[0] == '@';
        snprintf(words[argc++], sizeof words[0], "%s%.*s", here ? folder : "", (int)(here ? len - 1 : len),
                 here ? line + 1 : line);
        line += len;
        line += *line == ' ' ? 1 : 0;
    }
    for (int i = 0; i < argc; i++) argv[i] = words[i];
    argv[argc] = NULL;
    int code = cmd_certs(argc, argv);
    fflush(stdout);
    fflush(stderr);
    return code;
}

static mode_t mode_of(const char *name) {
    struct stat status;
    cr_assert_eq(stat(test_path(folder, name), &status), 0, "%s is missing", name);
    return status.st_mode & 0777;
}

static struct text read_file(const char *name) {
    struct text bytes = {0};
    struct fault fault = {0};
    cr_assert(pem_read_file(test_path(folder, name), PEM_CHAIN_BYTES_LIMIT, &bytes, &fault), "%s",
              fault.text);
    return bytes;
}

Test(cmd_certs, issue_then_verify) {
    cr_expect_eq(run("issue --dir @/new --service gate --namespace ns"), EXIT_CLEAN);
    cr_expect_eq(mode_of("new/ca.key"), 0600);
    cr_expect_eq(mode_of("new/tls.key"), 0600);
    cr_expect_eq(mode_of("new/tls.crt"), 0644);
    cr_expect_eq(run("verify --ca-file @/new/ca.crt --cert-file @/new/tls.crt --key-file @/new/tls.key "
                     "--host gate.ns.svc"),
                 EXIT_CLEAN);
    cr_expect_eq(run("verify --ca-file @/new/ca.crt --cert-file @/new/tls.crt --host other.ns.svc"),
                 EXIT_FINDINGS);
    cr_expect_eq(run("verify --ca-file @/new/ca.crt --cert-file @/new/tls.crt --key-file @/new/ca.key"),
                 EXIT_FINDINGS);
    cr_expect_eq(run("issue --dir @/other --host localhost"), EXIT_CLEAN);
    cr_expect_eq(run("verify --ca-file @/other/ca.crt --cert-file @/new/tls.crt"), EXIT_FINDINGS,
                 "another CA");
}

Test(cmd_certs, a_second_issue_keeps_the_ca) {
    cr_assert_eq(run("issue --dir @/d --host localhost --algorithm ecdsa-p384"), EXIT_CLEAN);
    struct text ca = read_file("d/ca.crt"), leaf = read_file("d/tls.crt");
    cr_assert_eq(run("issue --dir @/d --host 127.0.0.1,gate.example.com --host ::1"), EXIT_CLEAN);
    struct text ca_after = read_file("d/ca.crt"), leaf_after = read_file("d/tls.crt");
    cr_expect(text_equal(ca, ca_after));
    cr_expect_not(text_equal(leaf, leaf_after));
    static const char *const hosts[] = {"127.0.0.1", "::1", "gate.example.com"};
    for (size_t i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof line, "verify --ca-file @/d/ca.crt --cert-file @/d/tls.crt --host %s",
                 hosts[i]);
        cr_expect_eq(run(line), EXIT_CLEAN, "%s", hosts[i]);
    }
    pem_bytes_release(ca);
    pem_bytes_release(leaf);
    pem_bytes_release(ca_after);
    pem_bytes_release(leaf_after);
}

// A folder with half a CA, with something that is no CA, or that cannot be written, is never made worse.
Test(cmd_certs, issue_refuses_and_leaves_things_alone) {
    cr_assert_eq(run("issue --dir @/d --host localhost"), EXIT_CLEAN);
    struct text leaf = read_file("d/tls.crt");
    cr_assert_eq(rename(test_path(folder, "d/ca.key"), test_path(folder, "d/kept")), 0);
    cr_expect_eq(run("issue --dir @/d --host localhost"), EXIT_UNREADABLE);
    test_write_text(folder, "d/ca.key", "garbage");
    cr_expect_eq(run("issue --dir @/d --host localhost"), EXIT_UNREADABLE);
    cr_assert_eq(rename(test_path(folder, "d/kept"), test_path(folder, "d/ca.key")), 0);
    cr_expect_eq(run("issue --dir @/d --host a..b"), EXIT_USAGE);
    cr_expect_eq(run("issue --dir @/no/such/folder --host localhost"), EXIT_UNREADABLE);
    cr_expect_eq(run("issue --dir @/d/ca.crt --host localhost"), EXIT_UNREADABLE);
    struct text after = read_file("d/tls.crt");
    cr_expect(text_equal(leaf, after));
    pem_bytes_release(leaf);
    pem_bytes_release(after);
}

Test(cmd_certs, usage) {
    static const char *const wrong[] = {"",
                                        "nonsense",
                                        "issue",
                                        "issue --host a",
                                        "issue --dir @/d",
                                        "issue --dir @/d --service a",
                                        "issue --dir @/d --namespace a --host b",
                                        "issue --dir @/d --host a --days 0",
                                        "issue --dir @/d --host a --days 3651",
                                        "issue --dir @/d --host a --algorithm dsa",
                                        "issue --dir @/d --host a extra",
                                        "show",
                                        "verify",
                                        "verify --ca-file a",
                                        "verify --nonsense"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_expect_eq(run(wrong[i]), EXIT_USAGE, "certs %s", wrong[i]);
    cr_expect_neq(access(test_path(folder, "d"), F_OK), 0, "nothing was written");
    static const char *const fine[] = {"--help", "-h", "issue --help", "show -h", "verify --help"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        cr_expect_eq(run(fine[i]), EXIT_CLEAN, "certs %s", fine[i]);
}

Test(cmd_certs, unreadable_input) {
    test_write_text(folder, "bad.crt", "garbage");
    cr_expect_eq(run("show -f @/bad.crt"), EXIT_UNREADABLE);
    cr_expect_eq(run("show @/none"), EXIT_UNREADABLE);
    cr_expect_eq(run("verify --ca-file @/bad.crt --cert-file @/bad.crt"), EXIT_UNREADABLE);
    cr_expect_eq(run("verify --ca-file @/none --cert-file @/none"), EXIT_UNREADABLE);
}

// A file that cannot be read does not hide the others.
Test(cmd_certs, show_as_json) {
    cr_assert_eq(run("issue --dir @ --service gate --namespace ns --days 10"), EXIT_CLEAN);
    FILE *out = cr_get_redirected_stdout();
    char skipped[4096];
    cr_assert_gt(fread(skipped, 1, sizeof skipped, out), 0);
    cr_expect_eq(run("show -o json -f @/none -f @/ca.crt @/tls.crt"), EXIT_UNREADABLE);
    json_error_t error;
    json_t *all = json_loadf(out, JSON_DISABLE_EOF_CHECK, &error);
    cr_assert_not_null(all, "%s", error.text);
    json_t *list = json_object_get(all, "certificates");
    cr_assert_eq(json_array_size(list), 2);
    json_t *ca = json_array_get(list, 0), *leaf = json_array_get(list, 1);
    cr_expect(json_is_true(json_object_get(ca, "isCA")));
    cr_expect(json_is_false(json_object_get(leaf, "isCA")));
    cr_expect(json_is_true(json_object_get(leaf, "valid")));
    cr_expect_geq(json_integer_value(json_object_get(leaf, "daysLeft")), 9);
    cr_expect_leq(json_integer_value(json_object_get(leaf, "daysLeft")), 10);
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(leaf, "names"), 2)), "dns:gate.ns.svc");
    cr_expect_str_eq(json_string_value(json_object_get(leaf, "algorithm")), "ECDSA P-256");
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(leaf, "usages"), 0)), "serverAuth");
    json_decref(all);
}
