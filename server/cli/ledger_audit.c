// SPDX-License-Identifier: Apache-2.0
// `drawbridge ledger audit`: the audit records of a journal, also while a server writes it.
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/cli/command.h"
#include "server/cli/ledger_commands.h"
#include "server/ledger/clock.h"
#include "server/ledger/journal_read.h"

struct printing {
    bool json;
    size_t count;
    json_t *standing; // operators' records that were told: a server that starts tells them again
};

static const char *member(const json_t *record, const char *name) {
    const char *text = json_string_value(json_object_get(record, name));
    return text == NULL ? "" : text;
}

static bool is_told(struct printing *printing, json_t *record) {
    size_t index;
    json_t *told;
    bool start = strcmp(member(record, "observed"), "start") == 0;
    if (start) json_object_del(record, "observed");
    json_array_foreach(printing->standing, index, told) if (json_equal(told, record)) return start;
    json_array_append(printing->standing, record);
    return false;
}

// ---- text

// Users name themselves: what they put into a name must not move a terminal's cursor or look like a record.
static void clean(json_t *record) {
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(record, next, name, value) {
        if (!json_is_string(value)) continue;
        size_t len = json_string_length(value);
        char *copy = malloc(len + 1);
        if (copy == NULL) continue;
        memcpy(copy, json_string_value(value), len + 1);
        bool lines = strcmp(name, "reason") == 0;
        for (size_t i = 0; i < len; i++)
            if (((unsigned char)copy[i] < ' ' && !(lines && copy[i] == '\n')) || copy[i] == 0x7f)
                copy[i] = '?';
        json_object_set_new(record, name, json_stringn(copy, len));
        free(copy);
    }
}

static void print_review(const json_t *record) {
    const char *subresource = member(record, "subresource");
    const char *namespace = member(record, "namespace");
    const char *claim = member(record, "claimUID");
    printf("%s %s %s%s%s %s%s%s", member(record, "decision"), member(record, "operation"),
           member(record, "resource"), subresource[0] == '\0' ? "" : "/", subresource, namespace,
           namespace[0] == '\0' ? "" : "/", member(record, "name"));
    if (claim[0] != '\0') printf(" (claim %s)", claim);
    printf(" by %s\n", member(record, "by"));
    for (const char *line = member(record, "reason"); *line != '\0';) {
        size_t len = strcspn(line, "\n");
        printf("    %.*s\n", (int)len, line);
        line += line[len] == '\n' ? len + 1 : len;
    }
}

static void print_gap(const json_t *record) {
    if (json_object_get(record, "rows") != NULL) {
        printf("gap: %lld rows of the journal are missing\n",
               (long long)json_integer_value(json_object_get(record, "rows")));
        return;
    }
    printf("gap: %lld more records of \"%s\" in namespace \"%s\" (%s) from %s until %s\n",
           (long long)json_integer_value(json_object_get(record, "records")), member(record, "by"),
           member(record, "namespace"), member(record, "decision"), member(record, "from"),
           member(record, "until"));
}

static void print_divergence(const json_t *record) {
    printf("%s: Pod %s/%s on node %s, claim %s (%s): %s\n", member(record, "action"),
           member(record, "namespace"), member(record, "pod"), member(record, "node"),
           member(record, "claim"), member(record, "claimUID"), member(record, "class"));
}

static void print_part(const char *before, const char *text) {
    if (text[0] != '\0') printf("%s%s", before, text);
}

static void print_operator(const json_t *record) {
    size_t index;
    json_t *claim;
    printf("%s", member(record, "action"));
    print_part(" ", member(record, "what"));
    print_part(" ", member(record, "scope"));
    print_part(" ", member(record, "rule"));
    print_part(" to ", member(record, "to"));
    if (json_object_get(record, "fromVersion") != NULL)
        printf(" from version %lld", (long long)json_integer_value(json_object_get(record, "fromVersion")));
    json_array_foreach(json_object_get(record, "accept"), index, claim)
        printf("%s%s", index == 0 ? " accepting " : ", ", json_string_value(claim));
    print_part(" by ", member(record, "by"));
    print_part(" until ", member(record, "expires"));
    print_part(": ", member(record, "reason"));
    print_part("; ", member(record, "message"));
    putchar('\n');
}

static void print_text(json_t *record, const char *time) {
    clean(record);
    const char *action = member(record, "action");
    printf("%s ", time);
    if (strcmp(action, "review") == 0)
        print_review(record);
    else if (strcmp(action, "gap") == 0)
        print_gap(record);
    else if (json_object_get(record, "class") != NULL)
        print_divergence(record);
    else
        print_operator(record);
}

// ---- the records

static bool print_json(json_t *record, const char *time, bool first) {
    json_t *line = json_pack("{s:s}", "time", time);
    bool fine = line != NULL && json_object_update_missing(line, record) == 0;
    if (fine) fputs(first ? "\n  " : ",\n  ", stdout);
    fine = fine && json_dumpf(line, stdout, JSON_COMPACT) == 0;
    json_decref(line);
    return fine;
}

static bool print_record(void *context, int64_t at_ms, struct text json, struct fault *fault) {
    struct printing *printing = context;
    char time[TIME_TEXT_BYTES];
    json_t *record = json_loadb(json.ptr, json.len, JSON_ALLOW_NUL, NULL);
    bool fine = json_is_object(record) || fault_set(fault, FAULT_INPUT, "an audit record cannot be read");
    bool is_operators =
        strcmp(member(record, "action"), "review") != 0 && strcmp(member(record, "action"), "gap") != 0;
    if (fine && !(is_operators && is_told(printing, record))) {
        time_print(at_ms, time);
        if (!printing->json)
            print_text(record, time);
        else
            fine = print_json(record, time, printing->count == 0) ||
                   fault_set(fault, FAULT_IO, "the result cannot be written");
        printing->count++;
    }
    json_decref(record);
    return fine;
}

static int64_t since_ms(const struct options *options) {
    struct timespec now;
    if (!options_given(options, OPTION_SINCE)) return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - options_int(options, OPTION_SINCE);
}

static bool run(const struct options *options, struct fault *fault) {
    const char *folder;
    struct printing printing = {.json = options_choice(options, OPTION_OUTPUT) == 1,
                                .standing = json_array()};
    bool fine = (options->word_count == 0 ||
                 fault_set(fault, FAULT_USAGE, "unexpected word \"%s\"", options->words[0])) &&
                ledger_folder(options, &folder, fault);
    if (fine) {
        if (printing.json) fputs("{\"records\":[", stdout);
        fine = journal_audits(folder, since_ms(options), print_record, &printing, fault);
        if (printing.json && fine) fputs(printing.count == 0 ? "]}\n" : "\n]}\n", stdout);
        if (!printing.json && fine && printing.count == 0) puts("no records");
    }
    json_decref(printing.standing);
    if (!fine || (fflush(stdout) == 0 && ferror(stdout) == 0)) return fine;
    return fault_set(fault, FAULT_IO, "the result cannot be written: %s", strerror(errno));
}

int ledger_audit(int argc, char **argv) {
    struct options options;
    struct fault fault = {0};
    int code;
    if (!options_start(&options, "ledger audit", argc, argv, &code)) return code;
    code = run(&options, &fault) ? EXIT_CLEAN : ledger_fail("audit", &fault);
    options_release(&options);
    return code;
}
