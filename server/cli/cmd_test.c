// SPDX-License-Identifier: Apache-2.0
// `drawbridge test`: runs suites, which say what drawbridge answers in which state of a cluster.
#include <stdlib.h>

#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/print_string.h"
#include "server/cli/suite_run.h"

#define SUITE_MEMORY_BYTES ((size_t)256 * 1024 * 1024)
#define CASE_MEMORY_BYTES  ((size_t)512 * 1024 * 1024)

struct test_run {
    bool json;
    struct arena suite_arena;
    struct arena case_arena;
    const struct document *document; // that is being read
    struct locator locator;
    size_t passed_count;
    size_t failed_count;
    size_t error_count;
};

static struct source_place place_of(struct test_run *run, struct text path) {
    return document_place(run->document, &run->locator, path, false);
}

static void print_place(FILE *out, const char *file, const struct source_place *place) {
    print_plain_text(out, text_of(file));
    if (place->line > 0) fprintf(out, ":%u:%u", place->line, place->column);
    fputs(": ", out);
}

// --- What cannot be read ---

static void on_complaint(void *state, struct text path, const char *what) {
    struct test_run *run = state;
    struct source_place place = place_of(run, path);
    run->error_count++;
    print_place(stderr, run->document->file, &place);
    print_plain_text(stderr, path);
    fputs(path.len > 0 ? ": " : "", stderr);
    fprintf(stderr, "%s\n", what);
}

static void on_error(void *state, const struct document_error *error) {
    struct test_run *run = state;
    struct source_place place = {.line = error->line, .column = error->column};
    run->error_count++;
    print_place(stderr, error->file, &place);
    fprintf(stderr, "%s\n", error->text);
}

// --- Results ---

static void print_lines(struct text text) {
    for (size_t at = 0; at < text.len;) {
        size_t end = text_find(text, '\n', at);
        fputs("    ", stdout);
        print_plain_text(stdout, text_slice(text, at, end));
        putchar('\n');
        at = end + 1;
    }
}

static void print_case(struct test_run *run, const struct suite *suite, const struct suite_result *result) {
    struct source_place place = place_of(run, result->passed ? result->one->path : result->path);
    fputs(result->passed ? "ok    " : "FAIL  ", stdout);
    if (result->passed) {
        print_plain_text(stdout, text_of(suite->file));
        fputs(": ", stdout);
    } else {
        print_place(stdout, suite->file, &place);
    }
    print_plain_text(stdout, result->one->name);
    putchar('\n');
    if (!result->passed) print_lines(result->message);
}

static void print_case_json(struct test_run *run, const struct suite *suite,
                            const struct suite_result *result) {
    struct source_place place = place_of(run, result->passed ? result->one->path : result->path);
    fputs(run->passed_count + run->failed_count > 1 ? ",\n {\"suite\":" : "\n {\"suite\":", stdout);
    print_json_string(stdout, text_of(suite->file));
    fputs(",\"name\":", stdout);
    print_json_string(stdout, result->one->name);
    printf(",\"passed\":%s,\"message\":", result->passed ? "true" : "false");
    print_json_string(stdout, result->message);
    printf(",\"line\":%u}", place.line);
}

static void on_document(void *state, const struct document *document) {
    struct test_run *run = state;
    struct suite suite;
    run->document = document;
    arena_clear(&run->suite_arena);
    locator_init(&run->locator, document->json, &run->suite_arena);
    struct suite_reading reading = {.arena = &run->suite_arena, .complain = on_complaint, .state = run};
    if (!suite_read(&reading, document, &suite)) return;
    for (size_t i = 0; i < suite.cases.count; i++) {
        struct suite_result result;
        arena_clear(&run->case_arena);
        suite_run_case(&run->case_arena, &suite, &suite.cases.items[i], &result);
        result.passed ? run->passed_count++ : run->failed_count++;
        run->json ? print_case_json(run, &suite, &result) : print_case(run, &suite, &result);
    }
}

static void run_all(struct test_run *run, const struct options *options) {
    struct document_visitor visitor = {on_document, on_error, run};
    struct document_options how = {.recursive = false};
    arena_init(&run->suite_arena, SUITE_MEMORY_BYTES);
    arena_init(&run->case_arena, CASE_MEMORY_BYTES);
    if (run->json) fputs("{\"cases\":[", stdout);
    for (size_t i = 0; i < options->word_count; i++) documents_visit(options->words[i], &how, &visitor);
    if (run->json)
        fputs("\n]}\n", stdout);
    else
        printf("%zu passed, %zu failed\n", run->passed_count, run->failed_count);
    arena_release(&run->suite_arena);
    arena_release(&run->case_arena);
}

int cmd_test(int argc, char **argv) {
    struct options options;
    int code;
    if (!options_start(&options, "test", argc, argv, &code)) return code;
    struct test_run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        fprintf(stderr, "drawbridge test: out of memory\n");
        code = EXIT_UNREADABLE;
    } else if (options.word_count == 0) {
        fprintf(stderr, "drawbridge test: no suite to run; name one: drawbridge test SUITE.yaml\n");
        code = EXIT_USAGE;
    } else {
        run->json = options_choice(&options, OPTION_OUTPUT) == 1;
        run_all(run, &options);
        code = run->error_count > 0 ? EXIT_UNREADABLE : run->failed_count > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
    }
    free(run);
    options_release(&options);
    if (fflush(stdout) == 0) return code;
    fprintf(stderr, "drawbridge test: the result cannot be written\n");
    return EXIT_UNREADABLE;
}
