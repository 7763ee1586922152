// SPDX-License-Identifier: Apache-2.0
// A finding looks like this:
//
//   slices.yaml:14:33: deny: memory is counted in whole bytes [unit-bytes-fraction]
//      spec.devices[0].nodeAllocatableResourceMappings[memory].allocationMultiplier: Invalid value: "500m"
//      14 |         allocationMultiplier: 500m
//         |                               ^~~~
//      hint: did you mean 500Mi?
#include "server/cli/print_text.h"

#include "server/cli/print_string.h"

#define EXCERPT_CHARACTERS  100u // of the line that is shown
#define EXCERPT_BEFORE      40u  // characters in front of the caret, when the line is cut
#define LINE_NUMBER_COLUMNS 6

#define STYLE_BOLD  "1"
#define STYLE_DENY  "1;31"
#define STYLE_WARN  "1;33"
#define STYLE_AUDIT "1;34"
#define STYLE_CARET "1;32"
#define STYLE_HINT  "1;36"
#define STYLE_FAINT "2"

static void style(const struct check_run *run, const char *code) {
    if (run->colour) fprintf(run->out, "\033[%sm", code);
}

static void plain(const struct check_run *run) {
    if (run->colour) fputs("\033[0m", run->out);
}

static const char *severity_style(enum severity severity) {
    if (severity == SEVERITY_DENY) return STYLE_DENY;
    return severity == SEVERITY_WARN ? STYLE_WARN : STYLE_AUDIT;
}

// The offset of a character of a text; its length when there is none.
static size_t character_offset(struct text text, size_t index) {
    size_t at = 0;
    for (; at < text.len && index > 0; index--) do
            at++;
        while (at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80);
    return at;
}

static size_t print_characters(FILE *out, struct text text) {
    size_t columns = 0;
    for (size_t at = 0; at < text.len;) {
        size_t tab = text_find(text, '\t', at);
        columns += print_plain_text(out, text_slice(text, at, tab));
        at = tab;
        if (at == text.len) break;
        putc(' ', out);
        columns++;
        at++;
    }
    return columns;
}

static void print_blanks(FILE *out, size_t count) {
    for (size_t i = 0; i < count; i++) putc(' ', out);
}

// The line of the file, cut to a window around the column, and a caret below.
static void print_excerpt(const struct check_run *run, struct line_index *lines,
                          const struct source_place *place) {
    if (lines == NULL || place->line == 0) return;
    FILE *out = run->out;
    struct text line = line_index_line(lines, place->line);
    // A column in bytes is counted where a line is very long; the excerpt is then a little off, never wrong.
    size_t column = place->column > 0 ? place->column - 1 : 0;
    size_t first = 0;
    if (column + EXCERPT_BEFORE > EXCERPT_CHARACTERS)
        first = column > EXCERPT_BEFORE ? column - EXCERPT_BEFORE : 0;
    size_t begin = character_offset(line, first);
    struct text rest = text_slice(line, begin, line.len);
    struct text before = text_slice(rest, 0, character_offset(rest, column - first));
    struct text behind = text_slice(rest, before.len, character_offset(rest, EXCERPT_CHARACTERS));
    style(run, STYLE_FAINT);
    fprintf(out, "%*u |", LINE_NUMBER_COLUMNS, place->line);
    plain(run);
    fputs(first > 0 ? " …" : " ", out);
    size_t indent = print_characters(out, before) + (first > 0);
    size_t width = print_characters(out, behind);
    if (before.len + behind.len < rest.len) fputs("…", out);
    putc('\n', out);
    if (width > place->width) width = place->width;
    style(run, STYLE_FAINT);
    fprintf(out, "%*s |", LINE_NUMBER_COLUMNS, "");
    plain(run);
    print_blanks(out, indent + 1);
    style(run, STYLE_CARET);
    putc('^', out);
    for (size_t i = 1; i < width; i++) putc('~', out);
    plain(run);
    putc('\n', out);
}

static void print_where(const struct check_run *run, const struct check_result *result, uint32_t line,
                        uint32_t column) {
    FILE *out = run->out;
    style(run, STYLE_BOLD);
    if (strcmp(result->file, "-") == 0)
        fputs("<stdin>", out);
    else
        print_plain_text(out, text_of(result->file));
    if (line > 0) fprintf(out, ":%u:%u", line, column);
    fputs(": ", out);
    plain(run);
}

static void print_finding(const struct check_run *run, const struct check_result *result, size_t index) {
    FILE *out = run->out;
    const struct finding *finding = &result->findings->items[index];
    const struct source_place *place = &result->places[index];
    print_where(run, result, place->line, place->column);
    style(run, severity_style(finding->severity));
    fputs(severity_name(finding->severity), out);
    plain(run);
    fputs(": ", out);
    print_plain_text(out, finding->detail);
    fprintf(out, " [%s]\n   ", finding->rule);
    if (finding->path.len > 0) {
        print_plain_text(out, finding->path);
        fputs(": ", out);
    }
    fputs(finding_type_words(finding->type), out);
    if (finding->value.len > 0) {
        struct text value = check_cut_value(finding->value);
        fputs(": \"", out);
        print_plain_text(out, value);
        fputs(value.len < finding->value.len ? "…\"" : "\"", out);
    }
    putc('\n', out);
    print_excerpt(run, result->lines, place);
    if (finding->hint.len == 0) return;
    fputs("   ", out);
    style(run, STYLE_HINT);
    fputs("hint:", out);
    plain(run);
    putc(' ', out);
    print_plain_text(out, finding->hint);
    putc('\n', out);
}

static void print_object(const struct check_run *run, const struct check_result *result) {
    FILE *out = run->out;
    style(run, STYLE_BOLD);
    print_plain_text(out, result->kind);
    if (result->name.len > 0) {
        putc(' ', out);
        print_plain_text(out, result->name);
    }
    plain(run);
    fputs(" (", out);
    if (strcmp(result->file, "-") == 0)
        fputs("<stdin>", out);
    else
        print_plain_text(out, text_of(result->file));
    fprintf(out, ", document %zu", result->document);
    if (result->in_list) fprintf(out, ", item %zu", result->item);
    fputs(result->allowed ? "): allowed, with findings\n" : "): denied\n", out);
}

static void print_error(const struct check_run *run, const struct check_result *result) {
    FILE *out = run->out;
    struct source_place place = {.line = result->line, .column = result->column};
    print_where(run, result, result->line, result->column);
    style(run, STYLE_DENY);
    fputs("unreadable", out);
    plain(run);
    fputs(": ", out);
    print_plain_text(out, text_of(result->error));
    putc('\n', out);
    print_excerpt(run, result->lines, &place);
    putc('\n', out);
}

static void result(struct check_run *run, const struct check_result *result) {
    if (result->error != NULL) print_error(run, result);
    const struct finding_list *findings = result->findings;
    if (findings == NULL || findings->count == 0) return;
    print_object(run, result);
    for (size_t i = 0; i < findings->count; i++) print_finding(run, result, i);
    if (findings->dropped_count > 0) fprintf(run->out, "   and %zu more findings\n", findings->dropped_count);
    putc('\n', run->out);
}

static void print_part(FILE *out, const char **parting, size_t count, const char *words) {
    if (count == 0) return;
    fprintf(out, "%s%zu %s", *parting, count, words);
    *parting = ", ";
}

static void end(struct check_run *run) {
    FILE *out = run->out;
    const struct check_totals *totals = &run->totals;
    size_t judged_count = totals->clean_count + totals->warned_count + totals->denied_count;
    const char *parting = ": ";
    char buffer[CHECK_NOTE_BYTES];
    const char *note;
    for (unsigned i = 0; (note = check_note(run, i, buffer)) != NULL; i++) fprintf(out, "note: %s\n", note);
    fprintf(out, "%zu object%s judged for Kubernetes 1.%d", judged_count, judged_count == 1 ? "" : "s",
            run->minor);
    print_part(out, &parting, totals->denied_count, "denied");
    print_part(out, &parting, totals->warned_count, "allowed with warnings");
    print_part(out, &parting, totals->clean_count, "clean");
    print_part(out, &parting, totals->skipped_count, "skipped (not judged by drawbridge)");
    print_part(out, &parting, totals->error_count, "unreadable");
    putc('\n', out);
}

const struct print_form print_form_text = {NULL, result, end};
