// SPDX-License-Identifier: Apache-2.0
// A suite says how many cases it has before it holds them, so the cases of one file are kept until the file
// ends.
#include "server/cli/print_junit.h"

#include <stdlib.h>

#include "server/cli/print_string.h"

// The suite of the file that is being read; print forms run on one thread.
static struct {
    char *file; // NULL: none
    char *cases;
    size_t cases_bytes;
    FILE *out; // writes cases
    size_t case_count, failure_count, error_count, skipped_count;
} suite;

static void end_suite(struct check_run *run) {
    if (suite.file == NULL) return;
    FILE *out = run->out;
    if (suite.out != NULL) fclose(suite.out);
    fputs(" <testsuite name=\"", out);
    print_xml_text(out, text_of(suite.file));
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", suite.case_count,
            suite.failure_count, suite.error_count, suite.skipped_count);
    if (suite.cases != NULL) fwrite(suite.cases, 1, suite.cases_bytes, out);
    fputs(" </testsuite>\n", out);
    free(suite.cases);
    free(suite.file);
    suite.file = NULL;
    suite.cases = NULL;
    suite.case_count = suite.failure_count = suite.error_count = suite.skipped_count = 0;
}

static void begin_suite(const char *file) {
    size_t bytes = strlen(file) + 1;
    suite.file = malloc(bytes);
    if (suite.file != NULL) memcpy(suite.file, file, bytes);
    suite.out = open_memstream(&suite.cases, &suite.cases_bytes);
    if (suite.file != NULL && suite.out != NULL) return;
    fprintf(stderr, "drawbridge check: out of memory\n");
    exit(3);
}

// Who the object is: its name, else where it stands.
static void print_case_name(FILE *out, const struct check_result *result) {
    if (result->kind.len > 0) {
        print_xml_text(out, result->kind);
        putc(' ', out);
    }
    if (result->name.len > 0)
        print_xml_text(out, result->name);
    else
        fprintf(out, "document %zu", result->document);
    if (result->in_list) fprintf(out, " (item %zu)", result->item);
}

static void print_finding(FILE *out, const struct finding *finding, const struct source_place *place) {
    print_xml_text(out, finding->path);
    fputs(": ", out);
    print_xml_text(out, text_of(finding_type_words(finding->type)));
    if (finding->value.len > 0) {
        fputs(": &quot;", out);
        print_xml_text(out, check_cut_value(finding->value));
        fputs("&quot;", out);
    }
    fputs(": ", out);
    print_xml_text(out, finding->detail);
    if (finding->hint.len > 0) {
        fputs("; ", out);
        print_xml_text(out, finding->hint);
    }
    fprintf(out, " [%s]", finding->rule);
    if (place->line > 0) fprintf(out, " (line %u)", place->line);
    putc('\n', out);
}

static size_t print_findings(FILE *out, const struct check_result *result, bool denying) {
    size_t count = 0;
    for (size_t i = 0; result->findings != NULL && i < result->findings->count; i++) {
        const struct finding *finding = &result->findings->items[i];
        if ((finding->severity == SEVERITY_DENY) != denying) continue;
        if (out != NULL) print_finding(out, finding, &result->places[i]);
        count++;
    }
    return count;
}

static void print_outcome(FILE *out, const struct check_result *result) {
    if (result->skipped != NULL) {
        suite.skipped_count++;
        fputs("   <skipped message=\"", out);
        print_xml_text(out, text_of(result->skipped));
        fputs("\"/>\n", out);
    }
    if (result->error != NULL) {
        suite.error_count++;
        fputs("   <error type=\"unreadable\" message=\"", out);
        if (result->line > 0) fprintf(out, "line %u, column %u: ", result->line, result->column);
        print_xml_text(out, text_of(result->error));
        fputs("\"/>\n", out);
    }
    size_t denials = print_findings(NULL, result, true);
    if (denials > 0) {
        suite.failure_count++;
        fprintf(out, "   <failure type=\"denied\" message=\"%zu finding%s\">", denials,
                denials == 1 ? "" : "s");
        print_findings(out, result, true);
        fputs("</failure>\n", out);
    }
    if (print_findings(NULL, result, false) == 0) return;
    fputs("   <system-out>", out);
    print_findings(out, result, false);
    fputs("</system-out>\n", out);
}

static void begin(struct check_run *run) {
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"drawbridge check\">\n", run->out);
}

static void result(struct check_run *run, const struct check_result *result) {
    if (suite.file == NULL || strcmp(suite.file, result->file) != 0) {
        end_suite(run);
        begin_suite(result->file);
    }
    FILE *out = suite.out;
    suite.case_count++;
    fputs("  <testcase name=\"", out);
    print_case_name(out, result);
    fputs("\" classname=\"", out);
    print_xml_text(out, text_of(result->file));
    fputs("\"", out);
    if (result->line > 0) fprintf(out, " line=\"%u\"", result->line);
    fputs(">\n", out);
    print_outcome(out, result);
    fputs("  </testcase>\n", out);
}

static void end(struct check_run *run) {
    end_suite(run);
    fputs("</testsuites>\n", run->out);
}

const struct print_form print_form_junit = {begin, result, end};
