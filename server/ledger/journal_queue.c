// SPDX-License-Identifier: Apache-2.0
// A list behind a mutex that is held for a few instructions.
#include "server/ledger/journal_queue.h"

#include <errno.h>
#include <stdlib.h>

#define NANO_PER_MS    1000000
#define GAP_TEXT_BYTES 128
#define AUDIT_SHARE    8 // AUDIT rows take one part of the room in so many

static int64_t clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / NANO_PER_MS;
}

int64_t journal_wall_ms(void) {
    return clock_ms(CLOCK_REALTIME);
}

int64_t journal_mono_ms(void) {
    return clock_ms(CLOCK_MONOTONIC);
}

void journal_queue_init(struct journal_queue *queue, size_t limit_bytes) {
    *queue = (struct journal_queue){.limit_bytes = limit_bytes};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->more, &attributes);
    pthread_cond_init(&queue->written, &attributes);
    pthread_condattr_destroy(&attributes);
}

void journal_queue_release(struct journal_queue *queue) {
    while (queue->first != NULL) {
        struct journal_entry *entry = queue->first;
        queue->first = entry->next;
        free(entry);
    }
    pthread_cond_destroy(&queue->more);
    pthread_cond_destroy(&queue->written);
    pthread_mutex_destroy(&queue->mutex);
}

static char *put(char *at, struct text from, struct text *ret_copy) {
    if (from.len > 0) memcpy(at, from.ptr, from.len);
    *ret_copy = (struct text){at, from.len};
    return at + from.len;
}

static struct journal_entry *copy_of(const struct journal_row *row) {
    size_t bytes =
        sizeof(struct journal_entry) + row->namespace.len + row->name.len + row->uid.len + row->json.len;
    struct journal_entry *entry = malloc(bytes);
    if (entry == NULL) return NULL;
    *entry = (struct journal_entry){.bytes = bytes, .row = *row};
    char *at = put((char *)(entry + 1), row->namespace, &entry->row.namespace);
    at = put(at, row->name, &entry->row.name);
    at = put(at, row->uid, &entry->row.uid);
    put(at, row->json, &entry->row.json);
    if (row->at_ms == 0) entry->row.at_ms = journal_wall_ms();
    return entry;
}

static void link_entry(struct journal_queue *queue, struct journal_entry *entry) {
    if (queue->last == NULL) {
        queue->first = entry;
        queue->oldest_mono_ms = journal_mono_ms();
    } else {
        queue->last->next = entry;
    }
    queue->last = entry;
    queue->count++;
    queue->bytes += entry->bytes;
    if (entry->row.type == JOURNAL_AUDIT) queue->audit_bytes += entry->bytes;
    queue->pushed_count++;
}

// The row that stands for those that were dropped. It has room always.
static bool link_gap(struct journal_queue *queue) {
    char text[GAP_TEXT_BYTES];
    int64_t now_ms = journal_wall_ms();
    int len = snprintf(text, sizeof text, "{\"rows\":%llu,\"fromMs\":%lld,\"untilMs\":%lld}",
                       (unsigned long long)queue->gap_rows, (long long)queue->gap_from_ms, (long long)now_ms);
    const struct journal_row row = {.type = JOURNAL_GAP, .at_ms = now_ms, .json = {text, (size_t)len}};
    struct journal_entry *entry = copy_of(&row);
    if (entry == NULL) return false;
    link_entry(queue, entry);
    queue->gap_rows = 0;
    queue->gap_from_ms = 0;
    return true;
}

static void drop(struct journal_queue *queue, uint64_t rows) {
    if (queue->gap_rows == 0) queue->gap_from_ms = journal_wall_ms();
    queue->gap_rows += rows;
    queue->dropped_count += rows;
}

static void push_locked(struct journal_queue *queue, struct journal_entry *entry) {
    bool room = entry != NULL && queue->bytes + entry->bytes <= queue->limit_bytes && !queue->ended;
    if (!room || (queue->gap_rows > 0 && !link_gap(queue))) {
        drop(queue, 1);
        free(entry);
        return;
    }
    link_entry(queue, entry);
    pthread_cond_signal(&queue->more);
}

void journal_queue_push(struct journal_queue *queue, const struct journal_row *row) {
    struct journal_entry *entry = copy_of(row);
    pthread_mutex_lock(&queue->mutex);
    push_locked(queue, entry);
    pthread_mutex_unlock(&queue->mutex);
}

bool journal_queue_push_audit(struct journal_queue *queue, const struct journal_row *row) {
    struct journal_entry *entry = copy_of(row);
    pthread_mutex_lock(&queue->mutex);
    bool room = entry != NULL && !queue->ended && queue->bytes + entry->bytes <= queue->limit_bytes &&
                queue->audit_bytes + entry->bytes <= queue->limit_bytes / AUDIT_SHARE;
    if (room) push_locked(queue, entry);
    pthread_mutex_unlock(&queue->mutex);
    if (!room) free(entry);
    return room;
}

bool journal_queue_push_if(struct journal_queue *queue, const struct journal_row *row,
                           uint64_t pushed_count) {
    struct journal_entry *entry = copy_of(row);
    pthread_mutex_lock(&queue->mutex);
    bool same = entry != NULL && queue->pushed_count + queue->dropped_count == pushed_count;
    if (same)
        push_locked(queue, entry);
    else
        free(entry);
    pthread_mutex_unlock(&queue->mutex);
    return same;
}

uint64_t journal_queue_pushed(struct journal_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    uint64_t count = queue->pushed_count + queue->dropped_count;
    pthread_mutex_unlock(&queue->mutex);
    return count;
}

uint64_t journal_queue_dropped(struct journal_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    uint64_t count = queue->dropped_count;
    pthread_mutex_unlock(&queue->mutex);
    return count;
}

void journal_queue_drop(struct journal_queue *queue, uint64_t rows) {
    pthread_mutex_lock(&queue->mutex);
    drop(queue, rows);
    pthread_mutex_unlock(&queue->mutex);
}

static struct timespec timespec_of(int64_t ms) {
    return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NANO_PER_MS};
}

// Since when the entries that are there may be taken. -1: not yet known.
static bool is_due(const struct journal_queue *queue, size_t most, int64_t batch_ms) {
    if (queue->first == NULL) return queue->ended;
    return queue->ended || queue->flush_count > 0 || queue->count >= most ||
           journal_mono_ms() >= queue->oldest_mono_ms + batch_ms;
}

static struct journal_entry *unlink_entries(struct journal_queue *queue, size_t most) {
    struct journal_entry *first = queue->first;
    struct journal_entry *last = NULL;
    for (size_t i = 0; i < most && queue->first != NULL; i++) {
        last = queue->first;
        queue->first = last->next;
        queue->count--;
        queue->bytes -= last->bytes;
        if (last->row.type == JOURNAL_AUDIT) queue->audit_bytes -= last->bytes;
    }
    if (last != NULL) last->next = NULL;
    if (queue->first == NULL) queue->last = NULL;
    return first;
}

struct journal_entry *journal_queue_take(struct journal_queue *queue, size_t most, int64_t batch_ms,
                                         int64_t wait_ms) {
    int64_t until_ms = journal_mono_ms() + wait_ms;
    pthread_mutex_lock(&queue->mutex);
    while (!is_due(queue, most, batch_ms)) {
        if (queue->first == NULL && queue->gap_rows > 0 && link_gap(queue)) continue;
        int64_t wake_ms = until_ms;
        if (queue->first != NULL && queue->oldest_mono_ms + batch_ms < wake_ms)
            wake_ms = queue->oldest_mono_ms + batch_ms;
        const struct timespec wake = timespec_of(wake_ms);
        if (pthread_cond_timedwait(&queue->more, &queue->mutex, &wake) == ETIMEDOUT && wake_ms == until_ms)
            break;
    }
    if (queue->ended && queue->gap_rows > 0 && queue->first == NULL && !link_gap(queue)) queue->gap_rows = 0;
    struct journal_entry *first = is_due(queue, most, batch_ms) ? unlink_entries(queue, most) : NULL;
    pthread_mutex_unlock(&queue->mutex);
    return first;
}

void journal_queue_done(struct journal_queue *queue, size_t count) {
    pthread_mutex_lock(&queue->mutex);
    queue->written_count += count;
    pthread_cond_broadcast(&queue->written);
    pthread_mutex_unlock(&queue->mutex);
}

bool journal_queue_flush(struct journal_queue *queue, int64_t wait_ms) {
    const struct timespec until = timespec_of(journal_mono_ms() + wait_ms);
    pthread_mutex_lock(&queue->mutex);
    uint64_t wanted = queue->pushed_count;
    queue->flush_count++;
    pthread_cond_signal(&queue->more);
    int error = 0;
    while (queue->written_count < wanted && error == 0)
        error = pthread_cond_timedwait(&queue->written, &queue->mutex, &until);
    bool done = queue->written_count >= wanted;
    queue->flush_count--;
    pthread_mutex_unlock(&queue->mutex);
    return done;
}

void journal_queue_end(struct journal_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->ended = true;
    pthread_cond_broadcast(&queue->more);
    pthread_mutex_unlock(&queue->mutex);
}

bool journal_queue_is_ended(struct journal_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool ended = queue->ended;
    pthread_mutex_unlock(&queue->mutex);
    return ended;
}
