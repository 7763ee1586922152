// SPDX-License-Identifier: Apache-2.0
// The rules come first, with the texts of `explain`; results follow as they come.
#include "server/cli/print_sarif.h"

#include "server/cli/print_string.h"
#include "validators/registry/registry.h"
#include "validators/registry/rule_texts.h"

#define UNREADABLE_ID "unreadable"

static bool wrote_result; // print forms run on one thread

static const char *level_of(enum severity severity) {
    if (severity == SEVERITY_DENY) return "error";
    return severity == SEVERITY_WARN ? "warning" : "note";
}

// The first line of a rule's text.
static struct text summary_of(struct text text) {
    return text_slice(text, 0, text_find(text, '\n', 0));
}

static void print_rule(FILE *out, const char *id, struct text text, enum severity action, bool first) {
    fputs(first ? "\n   {\"id\":" : ",\n   {\"id\":", out);
    print_json_string(out, text_of(id));
    fputs(",\"shortDescription\":{\"text\":", out);
    print_json_string(out, summary_of(text));
    fputs("},\"help\":{\"text\":", out);
    print_json_string(out, text);
    fprintf(out, "},\"defaultConfiguration\":{\"enabled\":%s,\"level\":\"%s\"}}",
            action == SEVERITY_OFF ? "false" : "true", level_of(action));
}

static struct text text_of_rule(const char *id) {
    const char *text = rule_text(id);
    return text == NULL ? text_of(id) : text_of(text);
}

static void begin(struct check_run *run) {
    FILE *out = run->out;
    size_t count;
    const struct rule *rules = registry_rules(&count);
    wrote_result = false;
    fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n"
          " \"tool\":{\"driver\":{\"name\":\"drawbridge\",\"version\":\"" DRAWBRIDGE_VERSION "\",\"rules\":[",
          out);
    print_rule(out, SCHEMA_RULE_ID, text_of_rule(SCHEMA_RULE_ID), SEVERITY_DENY, true);
    for (size_t i = 0; i < count; i++)
        print_rule(out, rules[i].id, text_of_rule(rules[i].id), rules[i].action, false);
    print_rule(out, UNREADABLE_ID, TEXT("A file or a document that cannot be read."), SEVERITY_DENY, false);
    fputs("]}},\n \"columnKind\":\"unicodeCodePoints\",\n \"results\":[", out);
}

// A path as a URI reference: what RFC 3986 does not let stand is written as %XX.
static void print_uri(FILE *out, struct text path) {
    putc('"', out);
    for (size_t i = 0; i < path.len; i++) {
        unsigned char byte = (unsigned char)path.ptr[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("/-._~", byte) != NULL);
        if (plain)
            putc(byte, out);
        else
            fprintf(out, "%%%02X", byte);
    }
    putc('"', out);
}

static void print_location(FILE *out, const char *file, uint32_t line, uint32_t column) {
    fputs(",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":", out);
    print_uri(out, strcmp(file, "-") == 0 ? TEXT("stdin") : text_of(file));
    putc('}', out);
    if (line > 0) fprintf(out, ",\"region\":{\"startLine\":%u,\"startColumn\":%u}", line, column);
    putc('}', out);
}

static void begin_result(FILE *out, const char *id, const char *level) {
    fputs(wrote_result ? ",\n  {\"ruleId\":" : "\n  {\"ruleId\":", out);
    wrote_result = true;
    print_json_string(out, text_of(id));
    fprintf(out, ",\"level\":\"%s\",\"message\":{\"text\":", level);
}

static struct text finding_message(struct arena *arena, const struct finding *finding) {
    struct text value = check_cut_value(finding->value);
    const char *value_begin = value.len > 0 ? "\"" : "";
    const char *value_end = value.len > 0 ? "\": " : "";
    const char *parting = finding->hint.len > 0 ? "; " : "";
    return text_format(arena, "%.*s: %s: %s%.*s%s%.*s%s%.*s", TEXT_ARG(finding->path),
                       finding_type_words(finding->type), value_begin, TEXT_ARG(value), value_end,
                       TEXT_ARG(finding->detail), parting, TEXT_ARG(finding->hint));
}

static void print_finding(FILE *out, const struct check_result *result, size_t index) {
    const struct finding *finding = &result->findings->items[index];
    const struct source_place *place = &result->places[index];
    begin_result(out, finding->rule, level_of(finding->severity));
    print_json_string(out, finding_message(result->arena, finding));
    putc('}', out);
    print_location(out, result->file, place->line, place->column);
    fputs(",\"logicalLocations\":[{\"fullyQualifiedName\":", out);
    print_json_string(out, finding->path);
    fputs("}]}],\"properties\":{\"kind\":", out);
    print_json_string(out, result->kind);
    fputs(",\"name\":", out);
    print_json_string(out, result->name);
    fprintf(out, ",\"document\":%zu}}", result->document);
}

static void result(struct check_run *run, const struct check_result *result) {
    FILE *out = run->out;
    if (result->error != NULL) {
        begin_result(out, UNREADABLE_ID, "error");
        print_json_string(out, text_of(result->error));
        putc('}', out);
        print_location(out, result->file, result->line, result->column);
        fputs("}]}", out);
    }
    for (size_t i = 0; result->findings != NULL && i < result->findings->count; i++)
        print_finding(out, result, i);
}

static void end(struct check_run *run) {
    FILE *out = run->out;
    char buffer[CHECK_NOTE_BYTES];
    const char *note;
    fprintf(out, "\n ],\n \"invocations\":[{\"executionSuccessful\":%s,\"toolExecutionNotifications\":[",
            run->totals.error_count == 0 ? "true" : "false");
    for (unsigned i = 0; (note = check_note(run, i, buffer)) != NULL; i++) {
        fputs(i > 0 ? ",{\"level\":\"note\",\"message\":{\"text\":"
                    : "{\"level\":\"note\",\"message\":{\"text\":",
              out);
        print_json_string(out, text_of(note));
        fputs("}}", out);
    }
    fprintf(out, "]}],\n \"properties\":{\"kubernetesVersion\":\"1.%d\"}}]}\n", run->minor);
}

const struct print_form print_form_sarif = {begin, result, end};
