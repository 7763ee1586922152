// SPDX-License-Identifier: Apache-2.0
// One ledger, three sources: the live one, the replay of its journal, the replay of its export. They are
// equal after recordings of real clusters and after random events, relists, restarts and cuts.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/cli/export_memory.h"
#include "server/cli/ledger_compare.h"
#include "server/cli/print_ledger.h"
#include "server/feed/kinds.h"
#include "server/feed/stamp.h"
#include "server/ledger/journal_read.h"
#include "server/ledger/replay.h"
#include "unit/lib/corpus.h"
#include "unit/lib/ledger_rig.h"

#define WAIT_MS     20000
#define FILE_LIMIT  400000
#define ARENA_BYTES ((size_t)256 << 20)

// ---- the three sources, as JSON

static json_t *parse(const char *bytes, size_t len) {
    json_error_t wrong;
    json_t *value = json_loadb(bytes, len, 0, &wrong);
    cr_assert_not_null(value, "%s", wrong.text);
    return value;
}

struct printing {
    int minor;
    char *bytes;
    size_t len;
};

static void print(struct ledger *ledger, void *context) {
    struct printing *printing = context;
    struct ledger_print_totals totals;
    struct fault fault;
    FILE *out = open_memstream(&printing->bytes, &printing->len);
    cr_assert(print_ledger_json(out, ledger, printing->minor, true, &totals, &fault), "%s", fault.text);
    cr_assert_eq(fclose(out), 0);
}

static json_t *live(struct ledger_rig *rig) {
    struct printing printing = {.minor = rig->minor};
    store_with_ledger(rig->store, print, &printing);
    json_t *value = parse(printing.bytes, printing.len);
    free(printing.bytes);
    return value;
}

static struct ledger *new_ledger(int minor, uint64_t seed) {
    const struct ledger_options options = {.minor = minor, .seed = {seed, seed + 1}};
    struct fault fault;
    struct ledger *ledger = ledger_new(&options, &fault);
    cr_assert_not_null(ledger);
    return ledger;
}

static struct printing from_journal(struct ledger_rig *rig, uint64_t seed) {
    struct printing printing = {.minor = rig->minor};
    struct journal_reading reading;
    struct fault fault;
    int minor;
    cr_assert(journal_flush(rig->journal, WAIT_MS));
    cr_assert(journal_minor(rig->folder.path, &minor, &fault), "%s", fault.text);
    cr_assert_eq(minor, rig->minor);
    struct ledger *ledger = new_ledger(minor, seed);
    cr_assert(journal_replay(rig->folder.path, minor, ledger, &reading, &fault), "%s", fault.text);
    cr_assert_not(reading.incomplete);
    print(ledger, &printing);
    ledger_free(ledger);
    return printing;
}

static bool write_object(void *context, enum object_kind kind, struct text name, struct text line,
                         struct fault *fault) {
    (void)name;
    (void)fault;
    if (kind == KIND_NODE_LEDGER) return true;
    fwrite(line.ptr, 1, line.len, context);
    putc('\n', context);
    return true;
}

struct memory {
    struct ledger_rig *rig;
    FILE *out;
};

static void write_memory(struct ledger *ledger, void *context) {
    struct memory *memory = context;
    struct arena arena;
    struct text_list names;
    arena_init(&arena, ARENA_BYTES);
    cr_assert(ledger_nodes(ledger, &arena, &names));
    for (size_t i = 0; i < names.count; i++) {
        struct node_ledger object;
        if (!ledger_node_memory(ledger, names.items[i], &arena, &object)) continue;
        char *line = export_memory_line(&object, memory->rig->minor, &arena);
        cr_assert_not_null(line);
        fprintf(memory->out, "%s\n", line);
        free(line);
    }
    arena_release(&arena);
}

static json_t *from_export(struct ledger_rig *rig) {
    struct printing printing = {.minor = rig->minor};
    struct journal_reading reading;
    struct fault fault;
    char *lines = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&lines, &len);
    struct memory memory = {rig, out};
    store_with_ledger(rig->store, write_memory, &memory);
    cr_assert(journal_export(rig->folder.path, write_object, out, &reading, &fault), "%s", fault.text);
    cr_assert_eq(fclose(out), 0);
    struct ledger *ledger = new_ledger(rig->minor, 77);
    struct replay replay;
    replay_init(&replay, ledger, rig->minor);
    cr_assert(replay_lines(&replay, (struct text){lines, len}, &fault), "%s", fault.text);
    replay_end(&replay);
    replay_release(&replay);
    print(ledger, &printing);
    ledger_free(ledger);
    free(lines);
    json_t *value = parse(printing.bytes, printing.len);
    free(printing.bytes);
    return value;
}

static void expect_equal(const char *what, const json_t *a, const json_t *b) {
    json_t *differences = ledger_compare(a, b);
    cr_assert_not_null(differences);
    char *text = json_dumps(differences, JSON_INDENT(1));
    cr_expect_eq(json_array_size(differences), 0, "%s: %.3000s", what, text);
    free(text);
    json_decref(differences);
}

static void expect_agreement(struct ledger_rig *rig, bool export_too) {
    struct printing once = from_journal(rig, 5);
    struct printing twice = from_journal(rig, 1000);
    cr_expect(once.len == twice.len && memcmp(once.bytes, twice.bytes, once.len) == 0,
              "a replay is the same each time");
    json_t *now = live(rig);
    json_t *journal = parse(once.bytes, once.len);
    expect_equal("live and journal", now, journal);
    if (export_too) {
        json_t *exported = from_export(rig);
        expect_equal("live and export", now, exported);
        json_decref(exported);
    }
    json_decref(journal);
    json_decref(now);
    free(once.bytes);
    free(twice.bytes);
}

// ---- recordings

struct event {
    enum event_type type;
    struct text json; // a copy in the arena of the events
    enum object_kind kind;
};
struct event_list {
    struct event *items;
    size_t count;
};

static enum event_type type_of(const char *name) {
    if (strcmp(name, "DELETED") == 0) return EVENT_DELETED;
    if (strcmp(name, "MODIFIED") == 0) return EVENT_MODIFIED;
    return strcmp(name, "BOOKMARK") == 0 ? EVENT_BOOKMARK : EVENT_ADDED;
}

static struct event_list read_recording(struct arena *arena, const char *name) {
    struct event_list events = {0};
    char path[256];
    snprintf(path, sizeof path, "unit/testdata/recordings/%s", name);
    struct text file = test_file_read(test_source_path(path));
    cr_assert_not_null(file.ptr, "%s", path);
    size_t at = 0;
    struct text line;
    while (test_next_line(file, &at, &line)) {
        json_t *value = parse(line.ptr, line.len);
        char *object = json_dumps(json_object_get(value, "object"), JSON_COMPACT);
        struct event *event = LIST_APPEND(arena, &events);
        event->type = type_of(json_string_value(json_object_get(value, "type")));
        event->json = text_copy(arena, text_of(object));
        const json_t *head = json_object_get(value, "object");
        event->kind = ledger_rig_kind(json_string_value(json_object_get(head, "apiVersion")),
                                      json_string_value(json_object_get(head, "kind")));
        free(object);
        json_decref(value);
    }
    test_file_free(file);
    cr_assert_gt(events.count, 50);
    return events;
}

static void replay_recording(const char *name, int minor) {
    struct ledger_rig rig = {.folder = temp_folder_new()};
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct event_list events = read_recording(&arena, name);
    ledger_rig_open(&rig, minor, FILE_LIMIT);
    for (size_t i = 0; i < events.count; i++)
        if (events.items[i].type != EVENT_BOOKMARK)
            ledger_rig_tell(&rig, events.items[i].type, events.items[i].json);
    expect_agreement(&rig, true);
    json_t *now = live(&rig);
    const json_t *nodes = json_object_get(now, "nodes");
    cr_expect_geq(json_array_size(nodes), 2);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        cr_expect_eq(json_array_size(json_object_get(json_array_get(nodes, i), "divergence")), 0);
    json_decref(now);
    ledger_rig_close(&rig);
    temp_folder_remove(&rig.folder);
    arena_release(&arena);
}

Test(ledger_sources, recordings_of_1_36) {
    replay_recording("mixed-136.jsonl", MINOR_36);
}

Test(ledger_sources, recordings_of_1_37) {
    replay_recording("mixed-137.jsonl", MINOR_37);
}

// ---- random events

// The objects of a recording, each with all that it ever was.
struct thing {
    enum object_kind kind;
    struct text namespace;
    struct text name;
    struct event_list forms;
    struct text json; // as it was told last
    int64_t version;
    unsigned births;
    bool live;
};
struct thing_list {
    struct thing *items;
    size_t count;
};

static struct text member(struct arena *arena, const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(json_object_get(object, "metadata"), name));
    return text_copy(arena, value == NULL ? TEXT("") : text_of(value));
}

static struct thing_list sort_things(struct arena *arena, const struct event_list *events) {
    struct thing_list things = {0};
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->items[i];
        if (event->type == EVENT_BOOKMARK || feed_kind_of(event->kind) == NULL) continue;
        json_t *object = parse(event->json.ptr, event->json.len);
        struct text namespace = member(arena, object, "namespace"), name = member(arena, object, "name");
        json_decref(object);
        struct thing *thing = NULL;
        for (size_t k = 0; k < things.count && thing == NULL; k++)
            if (things.items[k].kind == event->kind && text_equal(things.items[k].name, name) &&
                text_equal(things.items[k].namespace, namespace))
                thing = &things.items[k];
        if (thing == NULL) {
            thing = LIST_APPEND(arena, &things);
            thing->kind = event->kind;
            thing->namespace = namespace;
            thing->name = name;
        }
        *(struct event *)LIST_APPEND(arena, &thing->forms) = *event;
    }
    return things;
}

struct chaos {
    struct ledger_rig *rig;
    struct thing_list things;
    struct arena *arena;
    unsigned seed;
    int64_t version;
};

static unsigned pick(struct chaos *chaos, size_t count) {
    return (unsigned)rand_r(&chaos->seed) % (unsigned)count;
}

// The object in one of its forms, with the identity of this life.
static struct text form_of(struct chaos *chaos, struct thing *thing, size_t form) {
    char uid[64];
    snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%06u%06zu", thing->births,
             (size_t)(thing - chaos->things.items));
    // References by UID are to the first life; a later one has a UID of its own, as in a cluster.
    struct text first = TEXT("");
    json_t *object = parse(thing->forms.items[form].json.ptr, thing->forms.items[form].json.len);
    first = member(chaos->arena, object, "uid");
    json_decref(object);
    const struct stamp stamp = {.uid = thing->births <= 1 ? first : text_copy(chaos->arena, text_of(uid)),
                                .namespace = thing->namespace,
                                .resource_version = thing->version};
    struct text json = stamp_object(chaos->arena, thing->forms.items[form].json, &stamp);
    cr_assert_gt(json.len, 0);
    return json;
}

static void change(struct chaos *chaos) {
    struct thing *thing = &chaos->things.items[pick(chaos, chaos->things.count)];
    if (thing->live && pick(chaos, 6) == 0) {
        thing->version = ++chaos->version;
        thing->live = false;
        ledger_rig_tell(chaos->rig, EVENT_DELETED, thing->json);
        return;
    }
    if (!thing->live) thing->births++;
    thing->version = ++chaos->version;
    thing->json = form_of(chaos, thing, pick(chaos, thing->forms.count));
    ledger_rig_tell(chaos->rig, thing->live ? EVENT_MODIFIED : EVENT_ADDED, thing->json);
    thing->live = true;
    if (pick(chaos, 10) == 0) ledger_rig_tell(chaos->rig, EVENT_MODIFIED, thing->json);
}

// A list of one kind; some objects went away unseen, some changed.
static void relist(struct chaos *chaos, enum object_kind kind, bool lossy) {
    store_list_begin(chaos->rig->store, kind);
    for (size_t i = 0; i < chaos->things.count; i++) {
        struct thing *thing = &chaos->things.items[i];
        if (thing->kind != kind || !thing->live) continue;
        if (lossy && pick(chaos, 8) == 0) {
            thing->live = false;
            continue;
        }
        ledger_rig_tell(chaos->rig, EVENT_ADDED, thing->json);
    }
    if (lossy && pick(chaos, 8) == 0) {
        // It broke off: all that was not in it lives on.
        store_list_cancel(chaos->rig->store, kind);
        relist(chaos, kind, false);
        return;
    }
    store_list_end(chaos->rig->store, kind);
}

static void restart(struct chaos *chaos) {
    struct ledger_rig *rig = chaos->rig;
    ledger_rig_close(rig);
    ledger_rig_open(rig, rig->minor, FILE_LIMIT);
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) relist(chaos, feed_kinds[i].kind, false);
}

static void run_chaos(const char *name, int minor, unsigned seed, size_t steps) {
    struct ledger_rig rig = {.folder = temp_folder_new()};
    struct arena arena;
    arena_init(&arena, (size_t)2 << 30);
    struct event_list events = read_recording(&arena, name);
    struct chaos chaos = {.rig = &rig, .arena = &arena, .seed = seed, .version = 1000000};
    chaos.things = sort_things(&arena, &events);
    ledger_rig_open(&rig, minor, FILE_LIMIT);
    for (size_t i = 0; i < steps; i++) {
        change(&chaos);
        if (pick(&chaos, 60) == 0) relist(&chaos, feed_kinds[pick(&chaos, FEED_KIND_COUNT)].kind, true);
        if (pick(&chaos, 400) == 0) restart(&chaos);
        if (i % 500 == 499) expect_agreement(&rig, true);
    }
    expect_agreement(&rig, true);
    cr_expect_eq(temp_count(&rig.folder, "corrupt-"), 0);
    ledger_rig_close(&rig);
    temp_folder_remove(&rig.folder);
    arena_release(&arena);
}

Test(ledger_sources, random_events_of_1_36, .timeout = 200) {
    for (unsigned seed = 1; seed <= 3; seed++) run_chaos("mixed-136.jsonl", MINOR_36, seed, 2000);
}

Test(ledger_sources, random_events_of_1_37, .timeout = 200) {
    for (unsigned seed = 4; seed <= 6; seed++) run_chaos("mixed-137.jsonl", MINOR_37, seed, 2000);
}
