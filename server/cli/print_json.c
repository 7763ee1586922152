// SPDX-License-Identifier: Apache-2.0
// The members and their order are a contract with other tools: members may be added, never renamed.
#include "server/cli/print_json.h"

#include "server/cli/print_string.h"

static void print_member(FILE *out, const char *name, struct text value) {
    fprintf(out, "\"%s\":", name);
    print_json_string(out, value);
}

static void print_place(FILE *out, uint32_t line, uint32_t column) {
    if (line > 0) fprintf(out, ",\"line\":%u,\"column\":%u", line, column);
}

static void print_finding(FILE *out, const struct finding *finding, const struct source_place *place) {
    fputs("\n   {", out);
    print_member(out, "rule", text_of(finding->rule));
    putc(',', out);
    print_member(out, "severity", text_of(severity_name(finding->severity)));
    putc(',', out);
    print_member(out, "reason", text_of(finding_type_reason(finding->type)));
    putc(',', out);
    print_member(out, "field", finding->path);
    putc(',', out);
    print_member(out, "value", check_cut_value(finding->value));
    putc(',', out);
    print_member(out, "message", finding->detail);
    putc(',', out);
    print_member(out, "hint", finding->hint);
    print_place(out, place->line, place->column);
    putc('}', out);
}

static void begin(struct check_run *run) {
    fprintf(run->out, "{\"kubernetesVersion\":\"1.%d\",\"results\":[", run->minor);
}

static bool is_first(const struct check_run *run) {
    const struct check_totals *totals = &run->totals;
    return totals->clean_count + totals->warned_count + totals->denied_count + totals->skipped_count +
               totals->error_count ==
           1;
}

static void result(struct check_run *run, const struct check_result *result) {
    FILE *out = run->out;
    fputs(is_first(run) ? "\n  {" : ",\n  {", out);
    print_member(out, "file", text_of(result->file));
    fprintf(out, ",\"document\":%zu", result->document);
    if (result->in_list) fprintf(out, ",\"item\":%zu", result->item);
    print_place(out, result->line, result->column);
    putc(',', out);
    print_member(out, "apiVersion", result->api_version);
    putc(',', out);
    print_member(out, "kind", result->kind);
    putc(',', out);
    print_member(out, "name", result->name);
    fprintf(out, ",\"allowed\":%s", result->allowed ? "true" : "false");
    if (result->skipped != NULL) {
        putc(',', out);
        print_member(out, "skipped", text_of(result->skipped));
    }
    if (result->error != NULL) {
        putc(',', out);
        print_member(out, "error", text_of(result->error));
    }
    fputs(",\"findings\":[", out);
    const struct finding_list *findings = result->findings;
    for (size_t i = 0; findings != NULL && i < findings->count; i++) {
        if (i > 0) putc(',', out);
        print_finding(out, &findings->items[i], &result->places[i]);
    }
    putc(']', out);
    if (findings != NULL && findings->dropped_count > 0)
        fprintf(out, ",\"omittedFindings\":%zu", findings->dropped_count);
    putc('}', out);
}

static void end(struct check_run *run) {
    FILE *out = run->out;
    const struct check_totals *totals = &run->totals;
    fputs("\n ],\"notes\":[", out);
    char buffer[CHECK_NOTE_BYTES];
    const char *note;
    for (unsigned i = 0; (note = check_note(run, i, buffer)) != NULL; i++) {
        if (i > 0) putc(',', out);
        print_json_string(out, text_of(note));
    }
    fprintf(out,
            "],\"summary\":{\"clean\":%zu,\"warned\":%zu,\"denied\":%zu,\"skipped\":%zu,\"errors\":%zu}}\n",
            totals->clean_count, totals->warned_count, totals->denied_count, totals->skipped_count,
            totals->error_count);
}

const struct print_form print_form_json = {begin, result, end};
