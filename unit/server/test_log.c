// SPDX-License-Identifier: Apache-2.0
// Log lines: klog's keys, hostile texts, lines that are too long, the limit of lines a second.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

#include "server/log.h"
#include "unit/lib/parsed.h"

#define TIME_US INT64_C(1764463600123456)

static struct parsed *render(int verbosity, const char *error, const struct log_field *fields, size_t count) {
    char line[4000];
    size_t len = log_render(LOG_AS_JSON, TIME_US, verbosity, "review", "Denied", error, fields, count, line,
                            sizeof line);
    cr_assert_eq(line[len - 1], '\n');
    return parsed_new(line, len);
}

Test(log, json_has_the_keys_of_klog) {
    const struct log_field fields[] = {{.key = NULL},
                                       LOG_STRING("uid", "u-1"),
                                       LOG_NUMBER("code", 422),
                                       LOG_OBJECT("object", TEXT("team"), TEXT("job"))};
    struct parsed *json = render(0, NULL, fields, 4);
    cr_expect_float_eq(parsed_number(json, "ts"), 1764463600.123456, 1e-5);
    cr_expect_eq(parsed_int(json, "v"), 0);
    cr_expect_str_eq(parsed_text(json, "msg", NULL), "Denied");
    cr_expect_str_eq(parsed_text(json, "logger", NULL), "review");
    cr_expect_str_eq(parsed_text(json, "uid", NULL), "u-1");
    cr_expect_eq(parsed_int(json, "code"), 422);
    cr_expect_str_eq(parsed_text(json, "object/namespace", NULL), "team");
    cr_expect_str_eq(parsed_text(json, "object/name", NULL), "job");
    parsed_free(json);
}

Test(log, an_error_has_err_and_no_v) {
    struct parsed *json = render(-1, "it \"broke\"", NULL, 0);
    cr_expect_str_eq(parsed_text(json, "err", NULL), "it \"broke\"");
    cr_expect_not(parsed_has(json, "v"));
    parsed_free(json);
}

Test(log, hostile_texts_stay_in_their_place) {
    const struct log_field fields[] = {LOG_FIELD("uid", TEXT("a\n{\"msg\":\"forged\"}\x1b[31m\xff%n%s"))};
    struct parsed *json = render(0, NULL, fields, 1);
    cr_expect_str_eq(parsed_text(json, "msg", NULL), "Denied");
    cr_expect_not_null(strstr(parsed_text(json, "uid", NULL), "forged"));
    parsed_free(json);
    char line[500];
    size_t len = log_render(LOG_AS_TEXT, TIME_US, 0, "review", "Denied", NULL, fields, 1, line, sizeof line);
    cr_expect_eq(memchr(line, '\n', len), line + len - 1, "one line");
    cr_expect_null(memchr(line, '\x1b', len));
}

Test(log, a_line_that_is_too_long_is_still_whole) {
    static char text[3000];
    memset(text, 'x', sizeof text);
    struct log_field fields[10];
    for (size_t i = 0; i < 10; i++)
        fields[i] = (struct log_field)LOG_FIELD("long", ((struct text){text, sizeof text}));
    char line[4000];
    size_t len = log_render(LOG_AS_JSON, TIME_US, 0, "review", "Denied", NULL, fields, 10, line, sizeof line);
    cr_expect_leq(len, sizeof line);
    line[len - 1] = '\0';
    // Each field is cut, and those that find no room are left out.
    size_t fields_written = 0;
    for (const char *at = line; (at = strstr(at, "\"long\":\"")) != NULL; at += 8) fields_written++;
    cr_expect_eq(fields_written, 3, "%s", line);
    cr_expect_eq(line[len - 2], '}');
}

Test(log, text_looks_as_klog_writes_it) {
    const struct log_field fields[] = {LOG_STRING("uid", "u-1"),
                                       LOG_OBJECT("object", TEXT("team"), TEXT("job"))};
    char line[500];
    size_t len = log_render(LOG_AS_TEXT, TIME_US, 0, "review", "Denied", NULL, fields, 2, line, sizeof line);
    line[len] = '\0';
    cr_expect_eq(strncmp(line, "I1130 00:46:40.123456 ", 22), 0, "%s", line);
    cr_expect_not_null(strstr(line, " review] \"Denied\" uid=\"u-1\" object=\"team/job\"\n"), "%s", line);
}

Test(log, verbosity_is_asked_first) {
    log_setup(LOG_AS_TEXT, 2);
    cr_expect(log_wants(2));
    cr_expect_not(log_wants(3));
}

Test(log, lines_over_the_limit_are_dropped_and_counted) {
    int null_fd = open("/dev/null", O_WRONLY);
    cr_assert_geq(null_fd, 0);
    dup2(null_fd, STDERR_FILENO);
    for (int i = 0; i < 3000; i++) log_error("test", "Again and again", "no");
    cr_expect_geq(log_dropped_count(), 1000);
    cr_expect_lt(log_dropped_count(), 2500, "a burst gets through");
    close(null_fd);
}

Test(log, a_reader_that_does_not_read_holds_nobody) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    for (int i = 0; i < 900; i++)
        log_error(
            "test", "A line of some length, so that the pipe is full before the limit is reached", "no",
            LOG_STRING("filler", "0123456789012345678901234567890123456789012345678901234567890123456789"));
    cr_expect_gt(log_dropped_count(), 0);
}
