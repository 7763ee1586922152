// SPDX-License-Identifier: Apache-2.0
#include "server/cli/print_string.h"

#include <stdlib.h>

#include <criterion/criterion.h>

static char *written;
static size_t written_bytes;
static FILE *out;

static void start(void) {
    out = open_memstream(&written, &written_bytes);
}
static void stop(void) {
    fclose(out);
    free(written);
}
TestSuite(print_string, .init = start, .fini = stop);

static void expect_written(const char *want) {
    fflush(out);
    cr_expect_str_eq(written, want, "%s", written);
    fclose(out);
    free(written);
    out = open_memstream(&written, &written_bytes);
}

Test(print_string, json) {
    print_json_string(out, TEXT("a\"\\\n\t\r\x01\x7f\0z"));
    expect_written("\"a\\\"\\\\\\n\\t\\u000d\\u0001\\u007f\\u0000z\"");
    print_json_string(out, TEXT("\xc3\xa9\xff"
                                "a\xc3"));
    expect_written("\"\xc3\xa9\xef\xbf\xbd"
                   "a\xef\xbf\xbd\"");
    print_json_string(out, (struct text){0});
    expect_written("\"\"");
}

Test(print_string, xml) {
    print_xml_text(out, TEXT("<a b=\"&'\">\n\t\x01\xff\xef\xbf\xbe\xc3\xa9"));
    expect_written("&lt;a b=&quot;&amp;'&quot;&gt;\n\t\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
}

Test(print_string, a_terminal_is_not_moved) {
    // An escape, a newline, a bad byte, a direction mark, a control above ASCII.
    size_t columns = print_plain_text(out, TEXT("a\x1b[31m\n\xff\xe2\x80\xae\xc2\x9b\xc3\xa9"));
    expect_written("a\\x1b[31m\\x0a\\xff\\u202e\\u009b\xc3\xa9");
    cr_expect_eq(columns, 1 + 4 + 4 + 4 + 4 + 6 + 6 + 1);
}
