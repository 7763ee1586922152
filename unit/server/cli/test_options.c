// SPDX-License-Identifier: Apache-2.0
// The flag table: command lines are read as promised, and each row is sound.
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "server/cli/command.h"
#include "server/cli/options.h"

// Reads a command line of the words, parted by blanks.
static bool read_line(const char *command, const char *line, struct options *options, struct fault *fault) {
    static char words[1024];
    static char *argv[64];
    static char name[] = "drawbridge";
    int argc = 0;
    argv[argc++] = name;
    snprintf(words, sizeof words, "%s", line);
    for (char *at = words; *at != '\0';) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at == ' ') *at++ = '\0';
    }
    argv[argc] = NULL;
    return options_read(options, command, argc, argv, fault);
}

static struct options must_read(const char *command, const char *line) {
    struct options options = {0};
    struct fault fault = {0};
    cr_assert(read_line(command, line, &options, &fault), "%s", fault.text);
    return options;
}

Test(options, both_forms_of_a_value) {
    struct options o = must_read("serve", "--port=1 --feed dir:x -v=3 --logging-format json");
    cr_expect_eq(options_int(&o, OPTION_PORT), 1);
    cr_expect_str_eq(options_text(&o, OPTION_FEED), "dir:x");
    cr_expect_eq(options_int(&o, OPTION_V), 3);
    cr_expect_eq(options_choice(&o, OPTION_LOGGING_FORMAT), 1);
    cr_expect(options_given(&o, OPTION_PORT));
    cr_expect_not(options_given(&o, OPTION_CONFIG));
    cr_expect_str_eq(options_text(&o, OPTION_CONFIG), "");
    cr_expect_eq(options_int(&o, OPTION_MAX_REQUEST_BYTES), 8 << 20);
    options_release(&o);
    o = must_read("serve", "-v 4");
    cr_expect_eq(options_int(&o, OPTION_V), 4);
    options_release(&o);
}

Test(options, last_value_wins_and_lists_grow) {
    struct options o =
        must_read("serve", "--port=1 --port=2 --client-subject-names=a,b --client-subject-names c,,d,");
    size_t count = 0;
    const char *const *names = options_list(&o, OPTION_CLIENT_SUBJECT_NAMES, &count);
    cr_expect_eq(options_int(&o, OPTION_PORT), 2);
    cr_assert_eq(count, 4);
    for (size_t i = 0; i < 4; i++) cr_expect_eq(names[i][0], 'a' + (int)i);
    options_list(&o, OPTION_NUMA_ATTRIBUTES, &count);
    cr_expect_eq(count, 4, "the default of a list is a list");
    options_release(&o);
}

Test(options, files_are_never_split) {
    struct options o = must_read("check", "-f a,b.yaml --filename - x.yaml -R y.yaml");
    size_t count = 0;
    const char *const *files = options_list(&o, OPTION_FILENAME, &count);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(files[0], "a,b.yaml");
    cr_expect_str_eq(files[1], "-");
    cr_expect(options_switch(&o, OPTION_RECURSIVE));
    cr_assert_eq(o.word_count, 2);
    cr_expect_str_eq(o.words[0], "x.yaml");
    cr_expect_str_eq(o.words[1], "y.yaml");
    options_release(&o);
}

Test(options, switches_and_the_end_of_flags) {
    struct options o = must_read("check", "--recursive=false -- -f --nonsense");
    cr_expect_not(options_switch(&o, OPTION_RECURSIVE));
    cr_assert_eq(o.word_count, 2);
    cr_expect_str_eq(o.words[0], "-f");
    cr_expect_str_eq(o.words[1], "--nonsense");
    options_release(&o);
}

Test(options, faults_are_clear) {
    static const char *const cases[][3] = {
        {"serve", "--prot=1", "unknown flag --prot; did you mean --port?"},
        {"serve", "--por=1", "unknown flag --por; did you mean --port?"},
        {"serve", "--filename=a", "unknown flag --filename"},
        {"serve", "--zzzzzzzzzz", "unknown flag --zzzzzzzzzz"},
        {"serve", "-z", "unknown flag -z"},
        {"serve", "--", NULL},
        {"serve", "--port", "--port needs a value: PORT"},
        {"check", "-f", "--filename needs a value: FILE|FOLDER|-"},
        {"serve", "--port=", "--port: \"\" is not a whole number"},
        {"serve", "--port=12x", "--port: \"12x\" is not a whole number"},
        {"serve", "--port=-1", "--port: \"-1\" is out of range; from 0 to 65535 is allowed"},
        {"serve", "--port=99999999999999999999", "--port: \"99999999999999999999\" is not a whole number"},
        {"serve", "--enable-client-verification=yes",
         "--enable-client-verification: \"yes\" is neither true nor false"},
        {"serve", "--logging-format=xml", "--logging-format: \"xml\" is not one of text|json"},
        {"serve", "--logging-format=text|json", "--logging-format: \"text|json\" is not one of text|json"},
        {"serve", "--header-deadline=10",
         "--header-deadline: \"10\" is not a duration; write 500ms, 10s, 1m30s or 2h"},
        {"serve", "--header-deadline=2m",
         "--header-deadline: \"2m\" is out of range; from 100ms to 60s is allowed"},
        {"serve", "--max-request-bytes=1kB",
         "--max-request-bytes: \"1kB\" is not a size; write 4096, 64Ki or 8Mi"},
        {"serve", "stray", "\"stray\" is not a flag and serve takes nothing else"},
        {"check", "--output=yaml", "--output: \"yaml\" is not one of text|json|junit|sarif"},
        {"nothing", "", "\"nothing\" is no command with flags"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o = {0};
        struct fault fault = {0};
        bool read = read_line(cases[i][0], cases[i][1], &o, &fault);
        cr_expect_eq(read, cases[i][2] == NULL, "%s %s", cases[i][0], cases[i][1]);
        if (cases[i][2] != NULL) cr_expect_str_eq(fault.text, cases[i][2]);
        if (!read) cr_expect_eq(fault.code, FAULT_USAGE);
        options_release(&o);
    }
}

Test(options, help_beats_everything_else) {
    struct options o = must_read("serve", "--nonsense --port=x -h");
    cr_expect(options_given(&o, OPTION_HELP));
    options_release(&o);
    o = must_read("certs issue", "--help");
    cr_expect(options_given(&o, OPTION_HELP));
    options_release(&o);
}

Test(options, start_prints_help_or_the_fault, .init = cr_redirect_stderr) {
    static char name[] = "serve", bad[] = "--nonsense";
    char *argv[] = {name, bad, NULL};
    struct options o;
    int code = -1;
    cr_expect_not(options_start(&o, "serve", 2, argv, &code));
    cr_expect_eq(code, EXIT_USAGE);
    fflush(stderr);
    cr_expect_stderr_eq_str("drawbridge serve: unknown flag --nonsense\nTry 'drawbridge serve --help'.\n");
}

Test(options, numbers_with_units) {
    struct option_row bytes = {.kind = OPTION_IS_BYTES}, duration = {.kind = OPTION_IS_DURATION};
    static const struct {
        const char *text;
        int64_t value; // -1: refused
        bool is_duration;
    } cases[] = {
        {"0", 0, false},
        {"4096", 4096, false},
        {"64Ki", 65536, false},
        {"8Mi", 8388608, false},
        {"2Gi", 2147483648, false},
        {"1Ti", INT64_C(1) << 40, false},
        {"3k", 3000, false},
        {"3M", 3000000, false},
        {"3G", 3000000000, false},
        {"", -1, false},
        {"Ki", -1, false},
        {"1K", -1, false},
        {"1 Ki", -1, false},
        {"1.5Mi", -1, false},
        {"-1", -1, false},
        {"1KiB", -1, false},
        {"9223372036854775807", INT64_MAX, false},
        {"9223372036854775808", -1, false},
        {"9007199254740992Ki", -1, false},
        {"0", 0, true},
        {"500ms", 500, true},
        {"10s", 10000, true},
        {"1m30s", 90000, true},
        {"2h", 7200000, true},
        {"7d", 604800000, true},
        {"1h0m1ms", 3600001, true},
        {"10", -1, true},
        {"s", -1, true},
        {"", -1, true},
        {"1.5s", -1, true},
        {"1s ", -1, true},
        {"1us", -1, true},
        {"106751991168d", -1, true},
        {"-1s", -1, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = -1;
        struct fault fault = {0};
        bool read =
            option_parse_number(cases[i].is_duration ? &duration : &bytes, cases[i].text, &value, &fault);
        cr_expect_eq(read, cases[i].value >= 0, "\"%s\"", cases[i].text);
        cr_expect_eq(value, cases[i].value, "\"%s\" is %lld", cases[i].text, (long long)value);
    }
}

Test(options, printed_numbers_are_read_back) {
    static const int64_t values[] = {0, 1, 999, 1000, 1023, 1024, 65536, 8388608, 90000, 3600000, INT64_MAX};
    struct option_row bytes = {.kind = OPTION_IS_BYTES}, duration = {.kind = OPTION_IS_DURATION};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[64];
        int64_t value = -1;
        option_print_bytes(values[i], text, sizeof text);
        cr_expect(option_parse_number(&bytes, text, &value, NULL) && value == values[i], "%s", text);
        option_print_duration(values[i], text, sizeof text);
        cr_expect(option_parse_number(&duration, text, &value, NULL) && value == values[i], "%s", text);
    }
}

// Each row of the table: a default that is a legal value, one name and one letter per command, a help line.
Test(options, table_is_sound) {
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        cr_expect_eq(row->id, i);
        cr_expect_neq(row->commands, 0);
        cr_expect(row->help[0] != '\0' && row->help[strlen(row->help) - 1] != '.', "--%s", row->name);
        cr_expect_eq(row->argument[0] == '\0', row->kind == OPTION_IS_SWITCH, "--%s", row->name);
        bool many = row->kind == OPTION_IS_LIST || row->kind == OPTION_IS_FILES;
        bool plain = row->kind == OPTION_IS_TEXT || row->kind == OPTION_IS_FILE;
        struct fault fault = {0};
        int64_t number;
        unsigned index;
        bool yes, fine = many || plain || row->default_text[0] == '\0';
        if (!fine && row->kind == OPTION_IS_SWITCH)
            fine = option_parse_switch(row->default_text, &yes, &fault);
        else if (!fine && row->kind == OPTION_IS_CHOICE)
            fine = option_parse_choice(row, row->default_text, &index, &fault);
        else if (!fine)
            fine = option_parse_number(row, row->default_text, &number, &fault);
        cr_expect(fine, "--%s: default: %s", row->name, fault.text);
        cr_expect((row->commands & ON_SETTING) == 0 || (row->commands & ON_SERVE) != 0, "--%s", row->name);
        for (unsigned k = 0; k < i; k++) {
            const struct option_row *other = &option_rows[k];
            if ((row->commands & other->commands & ON_EACH) == 0) continue;
            cr_expect_str_neq(row->name, other->name);
            cr_expect(row->letter == 0 || row->letter != other->letter, "-%c of --%s and --%s", row->letter,
                      row->name, other->name);
        }
    }
}

Test(options, names_of_variables_and_keys) {
    char name[OPTION_NAME_BYTES];
    cr_expect_str_eq(option_variable(&option_rows[OPTION_STATUS_BIND_ADDRESS], name, sizeof name),
                     "DRAWBRIDGE_STATUS_BIND_ADDRESS");
    cr_expect_str_eq(option_key(&option_rows[OPTION_STATUS_BIND_ADDRESS], name, sizeof name),
                     "statusBindAddress");
    cr_expect_str_eq(option_key(&option_rows[OPTION_V], name, sizeof name), "v");
}

Test(options, help_lists_each_flag_of_a_command) {
    for (unsigned command = 0; command < OPTION_COMMAND_COUNT; command++) {
        char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        options_help(out, (enum option_command)command);
        fclose(out);
        cr_expect(strstr(text, option_command_name((enum option_command)command)) != NULL);
        for (unsigned i = 0; i < OPTION_COUNT; i++) {
            char flag[OPTION_NAME_BYTES];
            snprintf(flag, sizeof flag, "--%s", option_rows[i].name);
            if ((option_rows[i].commands >> command & 1) != 0)
                cr_expect(strstr(text, flag) != NULL, "%s", flag);
        }
        for (const char *line = text; *line != '\0';) {
            size_t bytes = strcspn(line, "\n");
            cr_expect_leq(bytes, 120, "%.*s", (int)bytes, line);
            line += bytes + 1;
        }
        free(text);
    }
}
