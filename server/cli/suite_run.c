// SPDX-License-Identifier: Apache-2.0
// The steps of a case, one after the other, until one fails.
#include "server/cli/suite_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/print_ledger.h"
#include "server/ledger/clock.h"

#define EVENTS_FILE_BYTES ((size_t)64 * 1024 * 1024)

static bool fail(struct suite_result *result, struct text path, struct text message) {
    result->passed = false;
    result->path = path;
    result->message = message;
    return false;
}

static bool run_events(struct suite_world *world, const struct suite_event_list *events,
                       struct suite_result *result) {
    struct fault fault = {0};
    for (size_t i = 0; i < events->count; i++)
        if (!suite_world_apply(world, &events->items[i], &fault))
            return fail(result, events->items[i].path, text_copy(world->arena, text_of(fault.text)));
    return true;
}

// --- Files of events ---

// The file's path: beside the suite, unless it is absolute.
static struct text path_of(struct suite_world *world, struct text name) {
    const char *slash = strrchr(world->suite->file, '/');
    if (slash == NULL || (name.len > 0 && name.ptr[0] == '/')) return text_copy(world->arena, name);
    return text_format(world->arena, "%.*s%.*s", (int)(slash - world->suite->file) + 1, world->suite->file,
                       TEXT_ARG(name));
}

static bool read_file(struct arena *arena, const char *path, struct text *ret_text) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat state;
    if (fd < 0) return false;
    bool fine =
        fstat(fd, &state) == 0 && S_ISREG(state.st_mode) && (size_t)state.st_size <= EVENTS_FILE_BYTES;
    char *bytes = fine ? arena_alloc(arena, (size_t)state.st_size + 1) : NULL;
    size_t len = 0;
    ssize_t got = 1;
    while (bytes != NULL && got > 0 && len < (size_t)state.st_size) {
        got = read(fd, bytes + len, (size_t)state.st_size - len);
        if (got > 0) len += (size_t)got;
    }
    close(fd);
    if (bytes == NULL || got < 0) return false;
    *ret_text = (struct text){bytes, len};
    return true;
}

enum { LINE_TYPE, LINE_TIME, LINE_OBJECT };
static const struct json_name line_names[] = {JSON_NAME("type"), JSON_NAME("time"), JSON_NAME("object")};
static const struct json_fields line_fields = JSON_FIELDS(line_names);

struct event_line {
    struct text type;
    struct text time;
    struct text object;
};

static bool read_line(struct arena *arena, struct text line, struct event_line *ret_line) {
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    struct fault fault;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, line, arena, &findings, JSON_WIRE);
    while (json_field(reader, &line_fields, &seen, &field)) switch (field) {
        case LINE_TYPE: json_text(reader, &ret_line->type); break;
        case LINE_TIME: json_text(reader, &ret_line->time); break;
        case LINE_OBJECT: json_raw(reader, &ret_line->object); break;
        }
    return json_finish(reader, &fault) && findings.count == 0;
}

static void ignore_complaint(void *state, struct text path, const char *what) {
    struct text *first = state;
    (void)path;
    if (first->len == 0) *first = text_of(what);
}

static bool run_line(struct suite_world *world, struct text line, struct text *ret_why) {
    struct event_line read = {.type = {NULL, 0}};
    struct suite_event event = {.path = {NULL, 0}};
    struct fault fault = {0};
    struct text complaint = {NULL, 0};
    struct suite_reading reading = {.arena = world->arena, .complain = ignore_complaint, .state = &complaint};
    int64_t now_ms;
    *ret_why = TEXT("not an event: {\"type\", \"object\"} and perhaps \"time\"");
    if (!read_line(world->arena, line, &read) || !suite_event_type(read.type, &event.type)) return false;
    if (read.time.len > 0 && !time_read_ms(read.time, &now_ms)) return false;
    if (read.time.len > 0 && now_ms > world->now_ms) suite_world_advance(world, now_ms - world->now_ms);
    if (!suite_object_look(&reading, read.object, (struct text){NULL, 0}, &event.object)) {
        *ret_why = complaint;
        return false;
    }
    if (suite_world_apply(world, &event, &fault)) return true;
    *ret_why = text_copy(world->arena, text_of(fault.text));
    return false;
}

static bool run_file(struct suite_world *world, const struct suite_step *step, struct suite_result *result) {
    struct text path = path_of(world, step->events_file);
    struct text text;
    errno = 0;
    if (path.ptr == NULL || !read_file(world->arena, path.ptr, &text))
        return fail(result, step->path,
                    text_format(world->arena, "the events file \"%.*s\" cannot be read: %s", TEXT_ARG(path),
                                errno != 0 ? strerror(errno) : "not a file, or too long"));
    size_t number = 1;
    for (size_t at = 0; at < text.len; number++) {
        size_t end = text_find(text, '\n', at);
        struct text line = text_slice(text, at, end);
        struct text why;
        at = end + 1;
        if (line.len > 0 && !run_line(world, line, &why))
            return fail(result, step->path,
                        text_format(world->arena, "%.*s:%zu: %.*s", TEXT_ARG(path), number, TEXT_ARG(why)));
    }
    return true;
}

// --- All steps ---

static bool run_ledger(struct suite_world *world, const struct suite_step *step,
                       struct suite_result *result) {
    struct fault fault = {0};
    struct ledger_print_totals totals = {0};
    struct text place;
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    bool fine =
        out != NULL && print_ledger_json(out, world->ledger, world->suite->minor, false, &totals, &fault);
    if (out != NULL) fclose(out);
    struct text have = fine ? text_copy(world->arena, (struct text){bytes, len}) : (struct text){NULL, 0};
    free(bytes);
    while (have.len > 0 && have.ptr[have.len - 1] == '\n') have.len--;
    if (have.len == 0) return fail(result, step->path, TEXT("out of memory"));
    if (suite_json_holds(world->arena, step->ledger, have, (struct text){NULL, 0}, &place)) return true;
    return fail(result, step->path,
                text_format(world->arena, "the ledger is not as wanted at \"%.*s\"; it is\n%.*s",
                            TEXT_ARG(place), TEXT_ARG(have)));
}

static bool run_step(struct suite_world *world, const struct suite_step *step, struct suite_result *result) {
    struct text why;
    switch (step->kind) {
    case STEP_EVENTS: return run_events(world, &step->events, result);
    case STEP_EVENTS_FILE: return run_file(world, step, result);
    case STEP_ADVANCE: suite_world_advance(world, step->advance_ms); return true;
    case STEP_REVIEW:
        return suite_run_review(world, &step->review, &step->want, &why) || fail(result, step->path, why);
    case STEP_LEDGER: return run_ledger(world, step, result);
    }
    return false;
}

void suite_run_case(struct arena *arena, const struct suite *suite, const struct suite_case *one,
                    struct suite_result *ret_result) {
    struct suite_world world;
    struct suite_result result = {.one = one, .passed = true};
    struct text path = one->path;
    struct fault fault = {0};
    if (!suite_world_start(&world, arena, suite, one, &path, &fault))
        fail(&result, path, text_copy(arena, text_of(fault.text)));
    for (size_t i = 0; result.passed && i < one->steps.count; i++)
        run_step(&world, &one->steps.items[i], &result);
    suite_world_release(&world);
    if (arena->poisoned) fail(&result, one->path, TEXT("the case needs more memory than one may take"));
    *ret_result = result;
}
