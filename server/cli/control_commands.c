// SPDX-License-Identifier: Apache-2.0
// The commands of the control socket.
#include "server/cli/control_commands.h"

#include <stdlib.h>

#include "server/cli/export_memory.h"
#include "server/cli/print_ledger.h"
#include "server/cli/print_string.h"
#include "server/cli/serve_ledger.h"
#include "server/ledger/journal_read.h"
#include "server/out.h"

#define ARENA_BYTES ((size_t)1 << 30)
#define FLUSH_MS    5000
#define LINE_BYTES  1024

bool control_copy_names(const struct ledger *ledger, struct arena *arena, struct text_list *ret_names) {
    struct text_list names;
    if (!ledger_nodes(ledger, arena, &names)) return false;
    for (size_t i = 0; i < names.count; i++) names.items[i] = text_copy(arena, names.items[i]);
    *ret_names = names;
    return !arena->poisoned;
}

// One look at the ledger: what is asked, and what came of it, as text in memory.
struct look {
    struct text node; // empty: the names, or the rest
    bool json;
    bool all;
    int minor;
    struct arena *arena;
    struct text_list names;
    FILE *out; // into `bytes`
    char *bytes;
    size_t len;
    char *line; // of export_memory_line
    bool found;
    bool fine;
};

static void look_at_names(struct ledger *ledger, void *context) {
    struct look *look = context;
    look->minor = ledger_minor(ledger);
    look->fine = control_copy_names(ledger, look->arena, &look->names);
}

static void look_at_node(struct ledger *ledger, void *context) {
    struct look *look = context;
    struct node_report report;
    arena_clear(look->arena);
    look->found = ledger_node_report(ledger, look->node, look->all, look->arena, &report);
    if (look->found && look->json)
        print_ledger_node_json(look->out, &report, look->arena);
    else if (look->found)
        print_ledger_node_text(look->out, &report, look->arena);
    look->fine = !look->arena->poisoned;
}

static void look_at_memory(struct ledger *ledger, void *context) {
    struct look *look = context;
    struct node_ledger memory;
    arena_clear(look->arena);
    look->found = ledger_node_memory(ledger, look->node, look->arena, &memory);
    if (look->found) look->line = export_memory_line(&memory, look->minor, look->arena);
    look->fine = !look->arena->poisoned && (!look->found || look->line != NULL);
}

static void look_at_rest(struct ledger *ledger, void *context) {
    struct look *look = context;
    size_t ignored;
    arena_clear(look->arena);
    look->fine = look->json ? print_ledger_rest_json(look->out, ledger, look->arena, &ignored)
                            : print_ledger_rest_text(look->out, ledger, look->arena, &ignored);
}

static bool no_memory(struct fault *fault) {
    return fault_set(fault, FAULT_MEMORY, "no memory to print the ledger");
}

// Line ends stand between the tokens of what is printed, never in a string.
static void join_lines(char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (bytes[i] == '\n') bytes[i] = ' ';
}

// What a look printed, as one line: {"HEAD":BYTES} of JSON, {"text":"…"} of text.
static bool send_printed(struct control_answer *answer, const struct look *look, const char *head) {
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    if (out == NULL) return false;
    if (look->json) {
        join_lines(look->bytes, look->len);
        fputs(head, out);
        fwrite(look->bytes, 1, look->len, out);
        putc('}', out);
    } else {
        fputs("{\"text\":", out);
        print_json_string(out, (struct text){look->bytes, look->len});
        putc('}', out);
    }
    bool sent = fclose(out) == 0 && control_line(answer, (struct text){bytes, len});
    free(bytes);
    return sent;
}

// Runs one look with a place to print to, and sends it.
static bool look_and_send(struct store *store, struct look *look, void (*run)(struct ledger *, void *),
                          struct control_answer *answer, const char *head, struct fault *fault) {
    look->bytes = NULL;
    look->out = open_memstream(&look->bytes, &look->len);
    if (look->out == NULL) return no_memory(fault);
    look->found = true;
    store_with_ledger(store, run, look);
    bool fine = fclose(look->out) == 0 && look->fine ? true : no_memory(fault);
    if (fine && look->found) fine = send_printed(answer, look, head);
    free(look->bytes);
    return fine;
}

static bool show_nodes(struct store *store, struct look *look, const struct text_list *names,
                       struct control_answer *answer, struct fault *fault) {
    for (size_t i = 0; i < names->count; i++) {
        look->node = names->items[i];
        if (!look_and_send(store, look, look_at_node, answer, "{\"node\":", fault)) return false;
    }
    return true;
}

static bool show_head(struct control_answer *answer, const struct look *look) {
    char line[LINE_BYTES];
    int len = snprintf(line, sizeof line,
                       look->json ? "{\"kubernetesVersion\":\"1.%d\"}" : "{\"text\":\"Kubernetes 1.%d\\n\"}",
                       look->minor);
    return control_line(answer, (struct text){line, (size_t)len});
}

static bool show_all(struct store *store, struct look *look, const struct text_list *names,
                     struct control_answer *answer, struct fault *fault) {
    return show_head(answer, look) && show_nodes(store, look, names, answer, fault) &&
           look_and_send(store, look, look_at_rest, answer, "{\"rest\":{", fault);
}

static bool show_one(struct store *store, struct look *look, struct text name, struct control_answer *answer,
                     struct fault *fault) {
    look->node = name;
    if (!show_head(answer, look) || !look_and_send(store, look, look_at_node, answer, "{\"node\":", fault))
        return false;
    return look->found || fault_set(fault, FAULT_STATE, "there is no node \"%.*s\"", TEXT_ARG(name));
}

static bool show(void *context, const json_t *request, struct control_answer *answer, struct fault *fault) {
    struct serve_ledger *serve = context;
    const char *output = json_string_value(json_object_get(request, "output"));
    const char *node = json_string_value(json_object_get(request, "node"));
    struct arena names, nodes;
    arena_init(&names, ARENA_BYTES);
    arena_init(&nodes, ARENA_BYTES);
    struct look look = {.json = output != NULL && strcmp(output, "json") == 0,
                        .all = json_is_true(json_object_get(request, "all")),
                        .arena = &names};
    store_with_ledger(serve->store, look_at_names, &look);
    struct text_list list = look.names;
    look.arena = &nodes;
    bool fine = look.fine || no_memory(fault);
    if (fine)
        fine = node == NULL ? show_all(serve->store, &look, &list, answer, fault)
                            : show_one(serve->store, &look, text_of(node), answer, fault);
    arena_release(&names);
    arena_release(&nodes);
    return fine;
}

// ---- export

static bool send_object(void *context, enum object_kind kind, struct text name, struct text line,
                        struct fault *fault) {
    (void)name;
    (void)fault;
    // What the ledger remembers now stands in for what NodeLedgers said last.
    return kind == KIND_NODE_LEDGER || control_line(context, line);
}

static bool export_memory(struct serve_ledger *serve, struct control_answer *answer, struct fault *fault) {
    struct arena names, nodes;
    arena_init(&names, ARENA_BYTES);
    arena_init(&nodes, ARENA_BYTES);
    struct look look = {.arena = &names};
    store_with_ledger(serve->store, look_at_names, &look);
    struct text_list list = look.names;
    look.arena = &nodes;
    bool fine = look.fine || no_memory(fault);
    for (size_t i = 0; fine && i < list.count; i++) {
        look.node = list.items[i];
        look.line = NULL;
        store_with_ledger(serve->store, look_at_memory, &look);
        fine = look.fine || no_memory(fault);
        if (fine && look.found) fine = control_line(answer, text_of(look.line));
        free(look.line);
    }
    arena_release(&names);
    arena_release(&nodes);
    return fine;
}

static bool export_ledger(void *context, const json_t *request, struct control_answer *answer,
                          struct fault *fault) {
    struct serve_ledger *serve = context;
    struct journal_reading reading;
    (void)request;
    if (!journal_flush(serve->journal, FLUSH_MS))
        return fault_set(fault, FAULT_STATE, "the journal is behind; try again");
    if (!export_memory(serve, answer, fault) ||
        !journal_export(serve->folder, send_object, answer, &reading, fault))
        return false;
    return !reading.incomplete ||
           fault_set(fault, FAULT_STATE, "rows are missing in the journal until everything is listed again");
}

// ---- state

static bool state(void *context, const json_t *request, struct control_answer *answer, struct fault *fault) {
    struct serve_ledger *serve = context;
    struct journal_counts counts;
    struct arena names;
    (void)request;
    arena_init(&names, ARENA_BYTES);
    struct look look = {.arena = &names};
    store_with_ledger(serve->store, look_at_names, &look);
    size_t nodes = look.names.count;
    arena_release(&names);
    if (!look.fine) return no_memory(fault);
    journal_counts(serve->journal, &counts);
    char line[LINE_BYTES];
    int len = snprintf(
        line, sizeof line,
        "{\"version\":\"%s\",\"kubernetesVersion\":\"1.%d\",\"nodes\":%zu,\"journal\":{\"rows\":%llu,"
        "\"batches\":%llu,\"gaps\":%llu,\"droppedRows\":%llu,\"setAside\":%llu,\"errors\":%llu,"
        "\"bytes\":%lld,\"queueBytes\":%zu,\"failing\":%s}}",
        DRAWBRIDGE_VERSION, look.minor, nodes, (unsigned long long)counts.rows,
        (unsigned long long)counts.batches, (unsigned long long)counts.gaps,
        (unsigned long long)counts.dropped_rows, (unsigned long long)counts.set_aside,
        (unsigned long long)counts.errors, (long long)counts.file_bytes, counts.queue_bytes,
        counts.failing ? "true" : "false");
    return control_line(answer, (struct text){line, (size_t)len});
}

// ---- metrics

// Each line of the exposition as {"text":"…"}.
static bool metrics(void *context, const json_t *request, struct control_answer *answer,
                    struct fault *fault) {
    struct serve_ledger *serve = context;
    struct exposition exposition;
    char line[LINE_BYTES];
    (void)request;
    collectors_collect(serve->collectors, &exposition);
    struct text all = {exposition.ptr, exposition.len};
    bool fine = !exposition.failed;
    if (!fine) no_memory(fault);
    for (size_t at = 0; fine && at < all.len;) {
        size_t end = text_find(all, '\n', at);
        struct out out = out_of(line, sizeof line);
        OUT_LITERAL(&out, "{\"text\":");
        out_json_string(&out, text_slice(all, at, end), 0);
        OUT_LITERAL(&out, "}");
        at = end + 1;
        if (!out.full) fine = control_line(answer, (struct text){out.ptr, out.len});
    }
    exposition_release(&exposition);
    return fine;
}

const struct control_command control_commands[] = {
    {"show", show}, {"export", export_ledger}, {"state", state}, {"metrics", metrics}};
const size_t control_command_count = sizeof control_commands / sizeof control_commands[0];
