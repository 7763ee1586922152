// SPDX-License-Identifier: Apache-2.0
#include "server/codec/documents.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "validators/core/arena.h"

// What was visited, one line each: "FILE#DOCUMENT[/ITEM] APIVERSION KIND LINE:COLUMN JSON" or
// "FILE#DOCUMENT LINE:COLUMN ! ERROR".
static char *seen;
static size_t seen_bytes;
static FILE *notes;
static char folder[] = "/tmp/drawbridge-documents-XXXXXX";

// Starts the notes anew.
static void forget(void) {
    if (notes != NULL) fclose(notes);
    free(seen);
    notes = open_memstream(&seen, &seen_bytes);
}

static void start(void) {
    forget();
    cr_assert_not_null(mkdtemp(folder));
}
static void stop(void) {
    char command[128];
    fclose(notes);
    free(seen);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect_eq(system(command), 0);
}
TestSuite(documents, .init = start, .fini = stop);

// Names below the temporary folder, without it.
static const char *local(const char *file) {
    size_t len = strlen(folder);
    return strncmp(file, folder, len) == 0 ? file + len : file;
}

static void note_document(void *state, const struct document *document) {
    struct arena arena;
    struct locator locator;
    (void)state;
    arena_init(&arena, 1 << 20);
    locator_init(&locator, document->json, &arena);
    struct source_place place = document_place(document, &locator, TEXT("metadata.name"), false);
    fprintf(notes, "%s#%zu", local(document->file), document->number);
    if (document->in_list) fprintf(notes, "/%zu", document->item);
    fprintf(notes, " %.*s %.*s %u:%u %.*s\n", TEXT_ARG(document->api_version), TEXT_ARG(document->kind),
            place.line, place.column, TEXT_ARG(document->json));
    arena_release(&arena);
}

static void note_error(void *state, const struct document_error *error) {
    (void)state;
    fprintf(notes, "%s#%zu %u:%u ! %s\n", local(error->file), error->document, error->line, error->column,
            error->text);
}

static const struct document_visitor visitor = {note_document, note_error, NULL};

static void expect_seen(const char *want) {
    fflush(notes);
    cr_expect_str_eq(seen, want, "%s", seen);
    forget();
}

static void visit_text(const char *text) {
    struct document_options options = {0};
    documents_visit_text("f", text_of(text), &options, &visitor);
}

static void visit_path(const char *name, bool recursive, size_t file_bytes) {
    char path[256];
    struct document_options options = {recursive, file_bytes};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    documents_visit(path, &options, &visitor);
}

static void write_file(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
}

static void make_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert_eq(mkdir(path, 0700), 0);
}

static void make_link(const char *target, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert_eq(symlink(target, path), 0);
}

Test(documents, many_in_one_file) {
    visit_text("# licence\n---\napiVersion: v1\nkind: A\nmetadata: {name: x}\n---\n\n---\nkind: B\n");
    expect_seen("f#1 v1 A 5:18 {\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"x\"}}\n"
                "f#2  B 9:1 {\"kind\":\"B\"}\n");
    visit_text("{\"kind\":\"A\"}\n {\"kind\":\"B\",\n\"metadata\":{\"name\":1}}");
    expect_seen("f#1  A 1:1 {\"kind\":\"A\"}\nf#2  B 3:20 {\"kind\":\"B\",\n\"metadata\":{\"name\":1}}\n");
    visit_text("{\"kind\":\"A\"}\n---\n{kind: B}\n---\n# end\n");
    expect_seen("f#1  A 1:1 {\"kind\":\"A\"}\nf#2  B 3:1 {\"kind\":\"B\"}\n");
    visit_text("\xef\xbb\xbf{\"k\\u0069nd\":\"\\u0041\"}");
    expect_seen("f#1  A 1:1 {\"k\\u0069nd\":\"\\u0041\"}\n");
}

Test(documents, nothing_is_no_document) {
    visit_text("");
    visit_text("\n\n");
    visit_text("---\n# only\n---\nnull\n---\n~\n");
    expect_seen("");
}

Test(documents, one_bad_document_leaves_the_others) {
    visit_text("a: b: c\n---\nkind: A\n--- x\n---\n- 1\n---\n12\n---\n{\"a\":1,\n}\n---\n{\"a\":\n");
    expect_seen("f#1 1:5 ! mapping values are not allowed in this context\n"
                "f#2  A 3:1 {\"kind\":\"A\"}\n"
                "f#3 4:1 ! text follows the --- that parts documents; put it on a line of its own\n"
                "f#3 6:1 ! a document must be an object, with apiVersion and kind\n"
                "f#4 8:1 ! a document must be an object, with apiVersion and kind\n"
                "f#5   10:1 {\"a\":1}\n"
                "f#6 14:1 ! the JSON ends too early\n");
    visit_text("{\"a\":1}\n{\"b\":}\n{\"c\":1}");
    expect_seen("f#1   1:1 {\"a\":1}\nf#2 2:6 ! this is no JSON\n");
}

Test(documents, lists) {
    visit_text("apiVersion: v1\nkind: List\nitems:\n- kind: A\n  metadata:\n    name: m\n- 7\n- {kind: B}\n");
    expect_seen("f#1/0  A 6:11 {\"kind\":\"A\",\"metadata\":{\"name\":\"m\"}}\n"
                "f#1 7:3 ! an item of a List must be an object\n"
                "f#1/1  B 8:3 {\"kind\":\"B\"}\n");
    visit_text(
        "{\"kind\":\"ThingList\",\"apiVersion\":\"g/v1\",\"items\":[\n{},\n{\"metadata\":{\"name\":\"q\"}},\n"
        "{\"kind\":\"Thing\",\"metadata\":{\"name\":\"q\"}},{\"apiVersion\":\"h/v1\"}]}");
    expect_seen(
        "f#1/0 g/v1 Thing 2:1 {\"apiVersion\":\"g/v1\",\"kind\":\"Thing\"}\n"
        "f#1/1 g/v1 Thing 3:21 {\"apiVersion\":\"g/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"q\"}}\n"
        "f#1/2 g/v1 Thing 4:36 {\"apiVersion\":\"g/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"q\"}}\n"
        "f#1/3 h/v1 Thing 4:42 {\"kind\":\"Thing\",\"apiVersion\":\"h/v1\"}\n");
    visit_text("{\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"items\":[{\"kind\":\"A\"},{\"kind\":\"B\"}"
               "]},{\"kind\":\"C\"}]}");
    expect_seen(
        "f#1/0  A 1:49 {\"kind\":\"A\"}\nf#1/1  B 1:62 {\"kind\":\"B\"}\nf#1/2  C 1:77 {\"kind\":\"C\"}\n");
    visit_text("{\"kind\":\"List\",\"items\":[]}{\"kind\":\"FooList\"}{\"kind\":\"Foo\",\"items\":[]}");
    expect_seen("f#2  FooList 1:27 {\"kind\":\"FooList\"}\nf#3  Foo 1:45 {\"kind\":\"Foo\",\"items\":[]}\n");
    visit_text("{\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"items\":[{"
               "\"kind\":\"List\",\"items\":"
               "[{\"kind\":\"List\",\"items\":[]}]}]}]}]}");
    expect_seen("f#1 1:97 ! Lists are nested too deeply\n");
}

Test(documents, folders_in_byte_order) {
    make_folder("d");
    make_folder("d/a");
    make_folder("d/sub.yaml");
    write_file("d/b.yaml", "kind: B");
    write_file("d/B.yml", "kind: b");
    write_file("d/a.json", "{\"kind\":\"J\"}");
    write_file("d/a/z.yaml", "kind: Z");
    write_file("d/readme.txt", "kind: T");
    write_file("d/c.YAML", "kind: T");
    visit_path("d", false, 0);
    expect_seen("/d/B.yml#1  b 1:1 {\"kind\":\"b\"}\n/d/a.json#1  J 1:1 {\"kind\":\"J\"}\n/d/b.yaml#1  B 1:1 "
                "{\"kind\":\"B\"}\n");
    visit_path("d/", true, 0);
    expect_seen("/d/B.yml#1  b 1:1 {\"kind\":\"b\"}\n/d/a.json#1  J 1:1 {\"kind\":\"J\"}\n/d/a/z.yaml#1  Z "
                "1:1 {\"kind\":\"Z\"}\n"
                "/d/b.yaml#1  B 1:1 {\"kind\":\"B\"}\n");
    visit_path("d/a/z.yaml", false, 0);
    expect_seen("/d/a/z.yaml#1  Z 1:1 {\"kind\":\"Z\"}\n");
    visit_path("d/sub.yaml", false, 0);
    expect_seen(
        "/d/sub.yaml#0 0:0 ! no .yaml, .yml or .json file is in the folder; -R goes into folders of it\n");
}

Test(documents, what_could_hang_is_refused, .timeout = 10) {
    char path[256];
    make_folder("d");
    make_folder("d/in");
    make_link("..", "d/in/up");
    make_link("self.yaml", "d/self.yaml");
    make_link("gone", "d/gone.yaml");
    make_link("/dev/zero", "d/zero.yaml");
    snprintf(path, sizeof path, "%s/d/pipe.yaml", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    visit_path("d", true, 0);
    expect_seen("/d/gone.yaml#0 0:0 ! cannot be opened: No such file or directory\n"
                "/d/in/up#0 0:0 ! the folder contains itself through a link\n"
                "/d/pipe.yaml#0 0:0 ! a pipe with a name is not read, because it may never end; use -f - and "
                "a plain pipe\n"
                "/d/self.yaml#0 0:0 ! cannot be opened: Too many levels of symbolic links\n"
                "/d/zero.yaml#0 0:0 ! a device is not read\n");
    visit_path("d/pipe.yaml", true, 0);
    expect_seen("/d/pipe.yaml#0 0:0 ! a pipe with a name is not read, because it may never end; use -f - and "
                "a plain pipe\n");
}

Test(documents, bounds) {
    char name[DOCUMENTS_FOLDER_DEPTH * 2 + 8] = "d";
    make_folder(name);
    for (unsigned i = 0; i < DOCUMENTS_FOLDER_DEPTH; i++) {
        size_t len = strlen(name);
        snprintf(name + len, sizeof name - len, "/x");
        make_folder(name);
    }
    visit_path("d", true, 0);
    fflush(notes);
    cr_expect(strstr(seen, "! folders are nested too deeply\n") != NULL, "%s", seen);
    forget();
    write_file("long.yaml", "kind: ABCDEFG\n");
    visit_path("long.yaml", false, 13);
    expect_seen("/long.yaml#0 0:0 ! longer than 13 bytes; --max-file-bytes raises the bound\n");
    visit_path("long.yaml", false, 14);
    expect_seen("/long.yaml#1  ABCDEFG 1:1 {\"kind\":\"ABCDEFG\"}\n");
    visit_path("none", false, 0);
    expect_seen("/none#0 0:0 ! cannot be opened: No such file or directory\n");
}

Test(documents, standard_input) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "kind: A\n", 8), 8);
    close(ends[1]);
    cr_assert_geq(dup2(ends[0], STDIN_FILENO), 0);
    struct document_options options = {0};
    documents_visit("-", &options, &visitor);
    expect_seen("-#1  A 1:1 {\"kind\":\"A\"}\n");
}

Test(documents, what_is_there_twice_is_told) {
    visit_text("kind: List\nitems: []\nitems:\n- kind: A\n");
    visit_text("{\"kind\":\"List\",\"kind\":\"Foo\",\"items\":[]}");
    expect_seen("f#1 1:1 ! the List has apiVersion, kind or items twice\n"
                "f#1 1:1 ! the List has apiVersion, kind or items twice\n");
    visit_text("{\"kind\":\"List\",\"items\":null}\n{\"kind\":\"List\",\"items\":7}");
    expect_seen(
        "f#1  List 1:1 {\"kind\":\"List\",\"items\":null}\nf#2  List 2:1 {\"kind\":\"List\",\"items\":7}\n");
}

Test(documents, json_that_stops_anywhere) {
    static const char whole[] = "{ \"kind\" : \"List\" , \"items\" : [ { \"kind\" : \"A\" } , { } ] }";
    for (size_t len = 1; len < sizeof whole - 1; len++) {
        struct document_options options = {0};
        documents_visit_text("f", (struct text){whole, len}, &options, &visitor);
        fflush(notes);
        cr_expect(strstr(seen, " ! ") != NULL && strstr(seen, "{") == NULL, "%zu: %s", len, seen);
        forget();
    }
    visit_text(whole);
    expect_seen("f#1/0  A 1:33 { \"kind\" : \"A\" }\nf#1/1   1:52 { }\n");
}
