// SPDX-License-Identifier: Apache-2.0
// The folder feed over real folders: what becomes an event, and what must not.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/feed/dirfeed.h"
#include "unit/lib/temp_files.h"

#define WAIT_MS    20000
#define QUIET_MS   400
#define TALE_BYTES 16384u

// Everything that the store was told: "+node/a@1 ~node/a@2 -node/a@3 ".
struct rig {
    const char *folder;
    struct store *store;
    struct feed_state state;
    struct dirfeed *feed;
    pthread_mutex_t mutex;
    char tale[TALE_BYTES];
    size_t len;
    char uid[64]; // of the last object
    const char *wanted;
};

static void hear(void *context, const struct ledger_event *event, struct text json,
                 enum ledger_outcome outcome) {
    struct rig *rig = context;
    static const char marks[] = {'+', '~', '-', '?'};
    const struct object_meta *metadata = object_metadata(event->object);
    pthread_mutex_lock(&rig->mutex);
    rig->len += (size_t)snprintf(rig->tale + rig->len, TALE_BYTES - rig->len, "%c%s/%.*s@%lld ",
                                 marks[event->type], feed_kind_of(event->object->kind)->resource,
                                 TEXT_ARG(metadata->name), (long long)event->resource_version);
    snprintf(rig->uid, sizeof rig->uid, "%.*s", TEXT_ARG(metadata->uid));
    pthread_mutex_unlock(&rig->mutex);
    cr_expect_neq(outcome, LEDGER_FAILED);
    cr_expect_neq(outcome, LEDGER_OLDER);
    cr_expect_not_null(memmem(json.ptr, json.len, "\"resourceVersion\":\"", 19));
}

static void begin(struct rig *rig, int64_t poll_ms) {
    const struct ledger_options options = {.minor = MINOR_36};
    struct fault fault;
    *rig = (struct rig){.folder = rig->folder == NULL ? test_folder_new() : rig->folder};
    pthread_mutex_init(&rig->mutex, NULL);
    feed_state_init(&rig->state);
    rig->store = store_new(&options, &fault);
    cr_assert_not_null(rig->store);
    store_observe(rig->store, hear, rig);
    const struct dirfeed_options feed = {.folder = rig->folder,
                                         .minor = MINOR_36,
                                         .poll_ms = poll_ms,
                                         .store = rig->store,
                                         .state = &rig->state};
    cr_assert(dirfeed_new(&feed, &rig->feed, &fault), "%s", fault.text);
}

static void end(struct rig *rig) {
    dirfeed_free(rig->feed);
    store_free(rig->store);
    feed_state_release(&rig->state);
    test_folder_remove(rig->folder);
}

static bool is_synced(void *context) {
    char why[FEED_WHY_BYTES];
    return feed_is_synced(&((struct rig *)context)->state, why, sizeof why);
}

static bool tells_wanted(void *context) {
    struct rig *rig = context;
    pthread_mutex_lock(&rig->mutex);
    bool same = strcmp(rig->tale, rig->wanted) == 0;
    pthread_mutex_unlock(&rig->mutex);
    return same;
}

static void expect_tale(struct rig *rig, const char *wanted) {
    rig->wanted = wanted;
    bool told = test_eventually(tells_wanted, rig, WAIT_MS);
    pthread_mutex_lock(&rig->mutex);
    cr_assert(told, "told was \"%s\", not \"%s\"", rig->tale, wanted);
    pthread_mutex_unlock(&rig->mutex);
}

static bool has_waiting(void *context) {
    return atomic_load(&((struct rig *)context)->state.waiting) > 0;
}

static void quiet(void) {
    const struct timespec pause = {.tv_nsec = QUIET_MS * 1000000L};
    nanosleep(&pause, NULL);
}

#define NODE(name, more) "apiVersion: v1\nkind: Node\nmetadata: {name: " name more "}\n"

Test(dirfeed, change_and_deletion) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    test_write_text(rig.folder, "b.json",
                    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}");
    test_write_text(rig.folder, ".hidden.yaml", NODE("hidden", ""));
    test_write_text(rig.folder, "notes.txt", NODE("notes", ""));
    begin(&rig, 0);
    cr_assert(test_eventually(is_synced, &rig, WAIT_MS));
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ");
    test_write_text(rig.folder, "a.yaml", NODE("a", ", labels: {x: z}"));
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ~nodes/a@3 ");
    cr_assert_eq(unlink(test_path(rig.folder, "b.json")), 0);
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ~nodes/a@3 -nodes/b@4 ");
    cr_expect_eq(atomic_load(&rig.state.kinds[feed_kind_index(feed_kind_of(KIND_NODE))].objects), 1);
    test_write_text(rig.folder, "b.json",
                    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}");
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ~nodes/a@3 -nodes/b@4 +nodes/b@5 ");
    end(&rig);
}

Test(dirfeed, repeats_are_silent) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    begin(&rig, 100);
    expect_tale(&rig, "+nodes/a@1 ");
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    test_write_text(rig.folder, "a.yaml", "# said again\n" NODE("a", ""));
    // The object moves to another file.
    test_write_text(rig.folder, "b.yaml", NODE("a", ""));
    cr_assert_eq(unlink(test_path(rig.folder, "a.yaml")), 0);
    quiet();
    test_write_text(rig.folder, "c.yaml", NODE("c", ""));
    expect_tale(&rig, "+nodes/a@1 +nodes/c@2 ");
    end(&rig);
}

Test(dirfeed, all_is_told_again_when_somebody_asks) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    begin(&rig, 100);
    expect_tale(&rig, "+nodes/a@1 ");
    dirfeed_list_again(rig.feed);
    expect_tale(&rig, "+nodes/a@1 +nodes/a@1 ");
    quiet();
    expect_tale(&rig, "+nodes/a@1 +nodes/a@1 ");
    cr_expect(is_synced(&rig));
    end(&rig);
}

Test(dirfeed, half_written_files_wait) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    begin(&rig, 0);
    expect_tale(&rig, "+nodes/a@1 ");
    int fd = open(test_path(rig.folder, "a.yaml"), O_WRONLY | O_TRUNC);
    cr_assert_geq(fd, 0);
    const char first[] = "apiVersion: v1\nkind: Node\nmetadata: {name: other}\n";
    cr_assert_eq(write(fd, first, sizeof first - 1), (ssize_t)sizeof first - 1);
    quiet();
    expect_tale(&rig, "+nodes/a@1 "); // readable, but its writer is not done
    const char rest[] = "---\n" NODE("a", ", labels: {x: z}");
    cr_assert_eq(write(fd, rest, sizeof rest - 1), (ssize_t)sizeof rest - 1);
    close(fd);
    expect_tale(&rig, "+nodes/a@1 ~nodes/a@2 +nodes/other@3 ");
    end(&rig);
}

Test(dirfeed, unreadable_files_wait) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    begin(&rig, 100);
    expect_tale(&rig, "+nodes/a@1 ");
    test_write_text(rig.folder, "a.yaml", "kind: [Node\n");
    cr_assert(test_eventually(has_waiting, &rig, WAIT_MS));
    test_write_text(rig.folder, "b.yaml", NODE("b", ""));
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ");
    cr_expect_eq(atomic_load(&rig.state.errors[FEED_ERROR_DECODE]), 1, "told once, not at each look");
    cr_expect(is_synced(&rig), "what was synced stays so");
    test_write_text(rig.folder, "a.yaml", NODE("a", ", labels: {x: z}"));
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ~nodes/a@3 ");
    cr_expect_not(has_waiting(&rig));
    end(&rig);
}

Test(dirfeed, not_synced_until_every_file_was_read) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    test_write_text(rig.folder, "b.yaml", "kind: [Node\n");
    begin(&rig, 100);
    expect_tale(&rig, "+nodes/a@1 ");
    char why[FEED_WHY_BYTES] = "";
    cr_expect_not(feed_is_synced(&rig.state, why, sizeof why));
    cr_expect_not_null(strstr(why, "b.yaml:"), "%s", why);
    test_write_text(rig.folder, "b.yaml", NODE("b", ""));
    cr_assert(test_eventually(is_synced, &rig, WAIT_MS));
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ");
    end(&rig);
}

Test(dirfeed, empty_folder_is_synced) {
    struct rig rig = {.folder = NULL};
    begin(&rig, 0);
    cr_assert(test_eventually(is_synced, &rig, WAIT_MS));
    end(&rig);
}

// As the kubelet mounts a ConfigMap: file -> ..data/file, ..data -> a folder, and the link is swapped.
Test(dirfeed, swapped_links) {
    struct rig rig = {.folder = test_folder_new()};
    cr_assert_eq(mkdir(test_path(rig.folder, "..one"), 0700), 0);
    cr_assert_eq(mkdir(test_path(rig.folder, "..two"), 0700), 0);
    test_write_text(test_path(rig.folder, "..one"), "a.yaml", NODE("a", ""));
    test_write_text(test_path(rig.folder, "..two"), "a.yaml", NODE("a", ", labels: {x: z}"));
    cr_assert_eq(symlink("..one", test_path(rig.folder, "..data")), 0);
    cr_assert_eq(symlink("..data/a.yaml", test_path(rig.folder, "a.yaml")), 0);
    begin(&rig, 60000);
    expect_tale(&rig, "+nodes/a@1 ");
    cr_assert_eq(symlink("..two", test_path(rig.folder, "..new")), 0);
    cr_assert_eq(rename(test_path(rig.folder, "..new"), test_path(rig.folder, "..data")), 0);
    expect_tale(&rig, "+nodes/a@1 ~nodes/a@2 ");
    end(&rig);
}

Test(dirfeed, replaced_by_rename) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    begin(&rig, 60000);
    expect_tale(&rig, "+nodes/a@1 ");
    char first_uid[64];
    snprintf(first_uid, sizeof first_uid, "%s", rig.uid);
    test_write_text(rig.folder, "a.tmp", NODE("a", ", labels: {x: z}"));
    cr_assert_eq(rename(test_path(rig.folder, "a.tmp"), test_path(rig.folder, "a.yaml")), 0);
    expect_tale(&rig, "+nodes/a@1 ~nodes/a@2 ");
    cr_expect_str_eq(rig.uid, first_uid);
    end(&rig);
}

Test(dirfeed, another_uid_is_another_object) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ", uid: one"));
    begin(&rig, 0);
    expect_tale(&rig, "+nodes/a@1 ");
    test_write_text(rig.folder, "a.yaml", NODE("a", ", uid: two"));
    expect_tale(&rig, "+nodes/a@1 -nodes/a@2 +nodes/a@3 ");
    end(&rig);
}

Test(dirfeed, the_first_of_two_counts) {
    struct rig rig = {.folder = test_folder_new()};
    test_write_text(rig.folder, "a.yaml", NODE("a", ", labels: {from: a}"));
    test_write_text(rig.folder, "b.yaml",
                    NODE("a", ", labels: {from: b}") "---\n" NODE("b", ", resourceVersion: '40'"));
    begin(&rig, 0);
    expect_tale(&rig, "+nodes/a@41 +nodes/b@42 ");
    cr_expect_eq(atomic_load(&rig.state.errors[FEED_ERROR_DUPLICATE]), 1);
    cr_assert_eq(unlink(test_path(rig.folder, "a.yaml")), 0);
    expect_tale(&rig, "+nodes/a@41 +nodes/b@42 ~nodes/a@43 ");
    end(&rig);
}

Test(dirfeed, a_folder_that_goes_away_changes_nothing) {
    struct rig rig = {.folder = test_folder_new()};
    char away[600];
    snprintf(away, sizeof away, "%s-away", rig.folder);
    test_write_text(rig.folder, "a.yaml", NODE("a", ""));
    begin(&rig, 100);
    expect_tale(&rig, "+nodes/a@1 ");
    cr_assert_eq(rename(rig.folder, away), 0);
    quiet();
    cr_expect_gt(atomic_load(&rig.state.errors[FEED_ERROR_UNREADABLE]), 0);
    test_write_text(away, "b.yaml", NODE("b", ""));
    cr_assert_eq(rename(away, rig.folder), 0);
    expect_tale(&rig, "+nodes/a@1 +nodes/b@2 ");
    end(&rig);
}

Test(dirfeed, no_folder) {
    struct dirfeed *feed;
    struct fault fault;
    const struct dirfeed_options options = {.folder = "/nowhere/at/all"};
    cr_assert_not(dirfeed_new(&options, &feed, &fault));
    cr_expect_eq(fault.code, FAULT_USAGE);
    cr_expect_not_null(strstr(fault.text, "/nowhere/at/all"));
    dirfeed_free(NULL);
}
