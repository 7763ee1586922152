// SPDX-License-Identifier: Apache-2.0
// Completions, man page and reference: bash runs the script that is printed for it.
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "server/cli/command.h"
#include "server/cli/completion.h"
#include "unit/lib/temp_files.h"

static const struct command rows[] = {{"check", cmd_completion, "judge"},
                                      {"serve", cmd_completion, "answer: it's [so]"},
                                      {"certs", cmd_completion, "make"},
                                      {"completion", cmd_completion, "print"}};

static void set_up(void) {
    command_table_use(rows, sizeof rows / sizeof rows[0]);
}

TestSuite(completion, .init = set_up, .timeout = 60);

static char *printed(void (*print)(FILE *out)) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    print(out);
    cr_assert_eq(fclose(out), 0);
    return text;
}

// What bash offers when the words stand before the cursor, the last one unfinished.
static void offers(const char *script, const char *words, const char *wanted) {
    const char *folder = test_folder_new();
    char command[1024], got[4096] = "";
    test_write_text(folder, "script", script);
    snprintf(command, sizeof command,
             "bash -c 'set -eu; source %s/script; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
             "_drawbridge; "
             "echo ${COMPREPLY[@]+\"${COMPREPLY[@]}\"}'",
             folder, words);
    FILE *bash = popen(command, "r");
    cr_assert_not_null(bash);
    size_t len = fread(got, 1, sizeof got - 1, bash);
    cr_expect_eq(pclose(bash), 0, "%s", words);
    got[len > 0 ? len - 1 : 0] = '\0';
    cr_expect_str_eq(got, wanted, "%s: offers %s", words, got);
    test_folder_remove(folder);
}

Test(completion, bash_offers_what_the_table_has) {
    char *script = printed(completion_bash);
    offers(script, "drawbridge \"\"", "check serve certs completion");
    offers(script, "drawbridge ce", "certs");
    offers(script, "drawbridge certs \"\"", "issue show verify");
    offers(script, "drawbridge certs is", "issue");
    offers(script, "drawbridge certs issue --al", "--algorithm");
    offers(script, "drawbridge certs issue --algorithm \"\"",
           "ecdsa-p256 ecdsa-p384 rsa-2048 rsa-3072 ed25519");
    offers(script, "drawbridge certs issue --algorithm = rsa", "rsa-2048 rsa-3072");
    offers(script, "drawbridge certs issue --algorithm =", "ecdsa-p256 ecdsa-p384 rsa-2048 rsa-3072 ed25519");
    offers(script, "drawbridge check -o j", "json junit");
    offers(script, "drawbridge check -f check -o s", "sarif");
    offers(script, "drawbridge serve --port \"\"", "");
    offers(script, "drawbridge serve --bind", "--bind-address");
    offers(script, "drawbridge completion f", "fish");
    free(script);
}

static void holds(const char *text, const char *part) {
    cr_expect(strstr(text, part) != NULL, "not there: %s", part);
}

Test(completion, zsh_and_fish_quote_what_they_print) {
    char *zsh = printed(completion_zsh), *fish = printed(completion_fish);
    holds(zsh, "#compdef drawbridge\n");
    holds(zsh, "'serve:answer\\: it'\\''s [so]'");
    holds(zsh, "'*--filename=[manifests to read");
    holds(zsh, "'--algorithm=[keys that are "
               "made]:ecdsa-p256|ecdsa-p384|rsa-2048|rsa-3072|ed25519:(ecdsa-p256 ecdsa-p384 "
               "rsa-2048 rsa-3072 ed25519)'");
    holds(fish, "-a serve -d 'answer: it'\\''s [so]'");
    holds(fish, "complete -c drawbridge -n '__drawbridge_at certs issue' -l dir -r -F -d '");
    holds(fish, "complete -c drawbridge -n '__drawbridge_ends certs' -a issue\n");
    cr_expect_null(strstr(zsh, "ledger show"), "a command that this program does not have");
    cr_expect_null(strstr(fish, "ledger show"));
    free(zsh);
    free(fish);
}

Test(completion, man_and_reference_hold_each_flag) {
    char *man = printed(reference_man), *markdown = printed(reference_markdown);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        uint64_t here =
            ON_CHECK | ON_SERVE | ON_CERTS_ISSUE | ON_CERTS_SHOW | ON_CERTS_VERIFY | ON_COMPLETION;
        if ((row->commands & here) == 0) continue;
        char flag[128], key[OPTION_NAME_BYTES];
        snprintf(flag, sizeof flag, "`--%s`", row->name);
        holds(markdown, flag);
        size_t at = (size_t)snprintf(flag, sizeof flag, "\\-\\-");
        for (const char *c = row->name; *c != '\0'; c++)
            at += (size_t)snprintf(flag + at, sizeof flag - at, "%s%c", *c == '-' ? "\\" : "", *c);
        holds(man, flag);
        if ((row->commands & ON_SETTING) == 0 || row->id == OPTION_CONFIG) continue;
        holds(markdown, option_key(row, key, sizeof key));
        holds(man, option_key(row, key, sizeof key));
    }
    // A line that begins with a dot or a quote is a request to roff: only those that we mean.
    for (const char *line = man; *line != '\0'; line += strcspn(line, "\n") + 1) {
        cr_expect_neq(line[0], '\'', "%.40s", line);
        bool known = strncmp(line, ".TH", 3) == 0 || strncmp(line, ".SH", 3) == 0 ||
                     strncmp(line, ".SS", 3) == 0 || strncmp(line, ".TP", 3) == 0 ||
                     strncmp(line, ".B ", 3) == 0 || strncmp(line, ".I ", 3) == 0;
        if (line[0] == '.') cr_expect(known, "%.40s", line);
    }
    free(man);
    free(markdown);
}

Test(completion, command_wants_one_known_form, .init = cr_redirect_stderr) {
    static char name[] = "completion", tcsh[] = "tcsh", bash[] = "bash";
    char *none[] = {name, NULL}, *unknown[] = {name, tcsh, NULL}, *two[] = {name, bash, bash, NULL};
    cr_expect_eq(cmd_completion(1, none), EXIT_USAGE);
    cr_expect_eq(cmd_completion(2, unknown), EXIT_USAGE);
    cr_expect_eq(cmd_completion(3, two), EXIT_USAGE);
}
