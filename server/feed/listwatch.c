// SPDX-License-Identifier: Apache-2.0
// The states and what leads from one to another.
// Source: kubernetes v1.36.3 staging/src/k8s.io/client-go/tools/cache/reflector.go (ListAndWatchWithContext,
// watchList, list, relistResourceVersion), for what servers expect of clients.
#include "server/feed/listwatch.h"

#include <stdio.h>

#include "validators/core/banned.h"

const char *watch_end_name(enum watch_end end) {
    static const char *const names[WATCH_END_COUNT] = {
        [WATCH_END_EOF] = "eof",
        [WATCH_END_CUT] = "cut",
        [WATCH_END_GONE] = "gone",
        [WATCH_END_UNAUTHORIZED] = "unauthorized",
        [WATCH_END_FORBIDDEN] = "forbidden",
        [WATCH_END_NOT_SERVED] = "not_served",
        [WATCH_END_REFUSED] = "refused",
        [WATCH_END_THROTTLED] = "throttled",
        [WATCH_END_SERVER_ERROR] = "server_error",
        [WATCH_END_CONNECTION] = "connection",
        [WATCH_END_SILENT] = "silent",
        [WATCH_END_DECODE] = "decode",
        [WATCH_END_LIMIT] = "limit",
        [WATCH_END_OLDER] = "older",
        [WATCH_END_MEMORY] = "memory",
    };
    return names[end];
}

void listwatch_init(struct listwatch *listwatch, const struct feed_kind *row, uint64_t seed) {
    *listwatch = (struct listwatch){.row = row, .random = seed | 1};
}

// Source: G. Marsaglia, "Xorshift RNGs" (2003).
static uint64_t next_random(struct listwatch *listwatch, uint64_t below) {
    uint64_t x = listwatch->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    listwatch->random = x;
    return x % below;
}

// --- Requests ---

static bool is_unreserved(char byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
           byte == '-' || byte == '_' || byte == '.' || byte == '~';
}

static void escape(const char *text, char *out, size_t out_bytes) {
    size_t len = 0;
    for (; *text != '\0' && len + 4 < out_bytes; text++) {
        if (is_unreserved(*text))
            out[len++] = *text;
        else
            len += (size_t)snprintf(out + len, out_bytes - len, "%%%02X", (unsigned char)*text);
    }
    out[len] = '\0';
}

static size_t path_of(const struct listwatch *listwatch, char *path) {
    const struct feed_kind *row = listwatch->row;
    bool one = row->namespace[0] != '\0';
    int len = snprintf(path, LISTWATCH_PATH_BYTES, "%s%s%s/%s?%s%s",
                       listwatch->older ? row->older_prefix : row->prefix, one ? "/namespaces/" : "",
                       row->namespace, row->resource,
                       row->field_selector[0] == '\0' ? "" : "fieldSelector=", row->field_selector);
    return (size_t)len;
}

static void ask_watch(struct listwatch *listwatch, struct listwatch_request *request, size_t len) {
    bool initial = listwatch->version == 0;
    int64_t version = initial && !listwatch->any_version ? listwatch->newest : listwatch->version;
    char from[48] = "";
    if (version > 0) snprintf(from, sizeof from, "&resourceVersion=%lld", (long long)version);
    snprintf(request->path + len, sizeof request->path - len,
             "&watch=1&allowWatchBookmarks=true&timeoutSeconds=%llu%s%s",
             LISTWATCH_WATCH_S + (unsigned long long)next_random(listwatch, LISTWATCH_WATCH_S), from,
             initial ? "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" : "");
    request->is_stream = true;
    request->silence_ms = initial ? LISTWATCH_LIST_SILENCE_MS : LISTWATCH_SILENCE_MS;
    listwatch->state = initial ? LISTWATCH_STREAMING : LISTWATCH_WATCHING;
}

static void ask_page(struct listwatch *listwatch, struct listwatch_request *request, size_t len) {
    char *rest = request->path + len;
    size_t room = sizeof request->path - len;
    int written = snprintf(rest, room, "&limit=%d", LISTWATCH_PAGE_COUNT);
    rest += written;
    room -= (size_t)written;
    if (listwatch->next_page[0] != '\0') {
        written = snprintf(rest, room, "&continue=");
        escape(listwatch->next_page, rest + written, room - (size_t)written);
    } else if (listwatch->newest > 0 && !listwatch->any_version) {
        snprintf(rest, room, "&resourceVersion=%lld&resourceVersionMatch=NotOlderThan",
                 (long long)listwatch->newest);
    }
    request->silence_ms = LISTWATCH_LIST_SILENCE_MS;
    request->most_ms = LISTWATCH_LIST_MS;
    listwatch->state = LISTWATCH_LISTING;
}

bool listwatch_next(struct listwatch *listwatch, int64_t now_ms, struct listwatch_request *ret_request) {
    if (listwatch->state != LISTWATCH_WAITING || now_ms < listwatch->next_ms) return false;
    *ret_request = (struct listwatch_request){.is_stream = false};
    size_t len = path_of(listwatch, ret_request->path);
    bool lists = listwatch->version == 0;
    if (lists && listwatch->use_pages)
        ask_page(listwatch, ret_request, len);
    else
        ask_watch(listwatch, ret_request, len);
    ret_request->begins_list = lists && !listwatch->listing;
    if (lists) listwatch->listing = true;
    listwatch->began_ms = now_ms;
    return true;
}

// --- What comes ---

static struct listwatch_step stop(enum watch_end end) {
    return (struct listwatch_step){.stop = true, .end = end};
}

// A list that was read from the store itself and is older is not behind: the store is.
static struct listwatch_step older(struct listwatch *listwatch) {
    struct listwatch_step step = stop(WATCH_END_OLDER);
    if (listwatch->any_version && ++listwatch->older_reads >= LISTWATCH_RESTORED_COUNT) step.restored = true;
    return step;
}

static void list_is_whole(struct listwatch *listwatch, int64_t version) {
    listwatch->version = version;
    listwatch->newest = version;
    listwatch->listing = false;
    listwatch->any_version = false;
    listwatch->synced = true;
    listwatch->absent = false;
    listwatch->failures = 0;
    listwatch->older_count = 0;
    listwatch->older_reads = 0;
    listwatch->listed_ms = listwatch->began_ms;
    listwatch->listed_once = true;
    listwatch->next_page[0] = '\0';
}

static struct listwatch_step take_bookmark(struct listwatch *listwatch, const struct frame *frame) {
    struct listwatch_step step = {.apply = true, .alive = true};
    if (listwatch->state == LISTWATCH_STREAMING) {
        // Not the whole list yet: its version would be one from which to miss the rest.
        if (!frame->initial_end) return (struct listwatch_step){.alive = true};
        if (frame->resource_version < listwatch->newest) return older(listwatch);
        list_is_whole(listwatch, frame->resource_version);
        listwatch->state = LISTWATCH_WATCHING;
        step.ends_list = true;
    }
    if (frame->resource_version > listwatch->version) listwatch->version = frame->resource_version;
    if (frame->resource_version > listwatch->newest) listwatch->newest = frame->resource_version;
    return step;
}

struct listwatch_step listwatch_frame(struct listwatch *listwatch, const struct frame *frame,
                                      int64_t now_ms) {
    // What is heard again is not yet to be trusted as what holds.
    if (now_ms - listwatch->began_ms >= LISTWATCH_HEALTHY_MS)
        listwatch->failures = 0;
    else if (listwatch->state == LISTWATCH_WATCHING && listwatch->failures > 1)
        listwatch->failures = 1;
    // A watch brings what is newer than where it began; what is older comes of a store that was put back.
    bool is_behind = listwatch->state == LISTWATCH_WATCHING && frame->resource_version > 0 &&
                     frame->resource_version < listwatch->newest;
    if (is_behind && frame->type != FRAME_ERROR && frame->type != FRAME_UNKNOWN) {
        listwatch->any_version = true;
        return stop(WATCH_END_OLDER);
    }
    switch (frame->type) {
    case FRAME_BOOKMARK: return take_bookmark(listwatch, frame);
    case FRAME_ERROR: return stop(listwatch_refusal((int)frame->status.code, &frame->status));
    case FRAME_UNKNOWN: return stop(WATCH_END_DECODE);
    default: break;
    }
    if (listwatch->state == LISTWATCH_WATCHING) {
        if (frame->resource_version > listwatch->version) listwatch->version = frame->resource_version;
        if (frame->resource_version > listwatch->newest) listwatch->newest = frame->resource_version;
    }
    return (struct listwatch_step){.apply = true, .alive = true};
}

struct listwatch_step listwatch_page(struct listwatch *listwatch, const struct frame_list *list) {
    listwatch->state = LISTWATCH_WAITING;
    if (list->resource_version < listwatch->newest) return older(listwatch);
    if (list->next.len >= LISTWATCH_CONTINUE_BYTES) return stop(WATCH_END_LIMIT);
    struct listwatch_step step = {.alive = true};
    if (list->next.len > 0) {
        memcpy(listwatch->next_page, list->next.ptr, list->next.len);
        listwatch->next_page[list->next.len] = '\0';
        return step;
    }
    list_is_whole(listwatch, list->resource_version);
    step.ends_list = true;
    return step;
}

enum watch_end listwatch_refusal(int http_code, const struct frame_status *status) {
    if (http_code == 410 || text_equal(status->reason, TEXT("Expired")) ||
        text_equal(status->reason, TEXT("Gone")))
        return WATCH_END_GONE;
    // Another API server of the cluster, whose cache has not come so far yet.
    if (status->too_large) return WATCH_END_OLDER;
    if (http_code == 401) return WATCH_END_UNAUTHORIZED;
    if (http_code == 403) return WATCH_END_FORBIDDEN;
    if (http_code == 404) return WATCH_END_NOT_SERVED;
    if (http_code == 429) return WATCH_END_THROTTLED;
    if (http_code >= 400 && http_code < 500) return WATCH_END_REFUSED;
    return http_code >= 500 && http_code < 600 ? WATCH_END_SERVER_ERROR : WATCH_END_DECODE;
}

// --- Ends ---

static int64_t backoff_ms(struct listwatch *listwatch, int64_t most_ms) {
    unsigned doublings = listwatch->failures < 16 ? listwatch->failures : 16;
    int64_t wait_ms = (int64_t)LISTWATCH_BACKOFF_MS << (doublings == 0 ? 0 : doublings - 1);
    if (wait_ms > most_ms) wait_ms = most_ms;
    return wait_ms / 2 + (int64_t)next_random(listwatch, (uint64_t)wait_ms / 2 + 1);
}

// What an end says about where to go on.
static void choose(struct listwatch *listwatch, enum watch_end end) {
    bool was_streaming = listwatch->state == LISTWATCH_STREAMING;
    switch (end) {
    case WATCH_END_GONE:
        // Read from the store itself: what was seen last may be newer than what any cache can give.
        listwatch->version = 0;
        listwatch->any_version = true;
        break;
    case WATCH_END_SILENT:
        // A server that does not know of streamed lists sends them and never says that they are whole.
        if (was_streaming) listwatch->use_pages = true;
        listwatch->version = 0;
        break;
    case WATCH_END_REFUSED:
        if (was_streaming) listwatch->use_pages = true;
        break;
    case WATCH_END_NOT_SERVED:
        if (listwatch->row->older_prefix != NULL) listwatch->older = !listwatch->older;
        listwatch->version = 0;
        break;
    case WATCH_END_OLDER:
        if (++listwatch->older_count >= LISTWATCH_OLDER_COUNT) listwatch->any_version = true;
        listwatch->version = 0;
        break;
    case WATCH_END_DECODE:
    case WATCH_END_LIMIT:
    case WATCH_END_MEMORY: listwatch->version = 0; break;
    default: break;
    }
}

// When to go on.
static int64_t wait_of(struct listwatch *listwatch, enum watch_end end, int64_t retry_after_s, bool fell_back,
                       int64_t lived_ms) {
    if (fell_back) return 0;
    if (end == WATCH_END_NOT_SERVED && listwatch->row->optional)
        return listwatch->older ? 0 : LISTWATCH_ABSENT_MS;
    if (end == WATCH_END_EOF && lived_ms >= LISTWATCH_HEALTHY_MS) {
        listwatch->failures = 0;
        return (int64_t)next_random(listwatch, LISTWATCH_BACKOFF_MS / 4);
    }
    if (listwatch->failures < UINT8_MAX) listwatch->failures++;
    int64_t wait_ms = backoff_ms(listwatch, end == WATCH_END_CONNECTION ? LISTWATCH_CONNECT_MOST_MS
                                                                        : LISTWATCH_BACKOFF_MOST_MS);
    if (retry_after_s > LISTWATCH_RETRY_MOST_S) retry_after_s = LISTWATCH_RETRY_MOST_S;
    return wait_ms > retry_after_s * 1000 ? wait_ms : retry_after_s * 1000 + wait_ms / 2;
}

bool listwatch_ended(struct listwatch *listwatch, enum watch_end end, int64_t retry_after_s, int64_t now_ms) {
    bool used_pages = listwatch->use_pages;
    bool was_list = listwatch->version == 0;
    bool cancel = listwatch->listing;
    choose(listwatch, end);
    bool fell_back = listwatch->use_pages && !used_pages;
    if (end == WATCH_END_NOT_SERVED && listwatch->row->optional && !listwatch->older)
        listwatch->absent = true;
    int64_t wait_ms = wait_of(listwatch, end, retry_after_s, fell_back, now_ms - listwatch->began_ms);
    if (was_list && end != WATCH_END_CONNECTION && !fell_back) {
        listwatch->listed_ms = listwatch->began_ms;
        listwatch->listed_once = true;
    }
    listwatch->next_ms = now_ms + wait_ms;
    int64_t paced_ms = listwatch->listed_ms + LISTWATCH_LIST_PACE_MS +
                       (int64_t)next_random(listwatch, LISTWATCH_LIST_PACE_MS / 4);
    if (listwatch->version == 0 && listwatch->listed_once && listwatch->next_ms < paced_ms &&
        !listwatch->older)
        listwatch->next_ms = paced_ms;
    listwatch->state = LISTWATCH_WAITING;
    listwatch->listing = false;
    listwatch->next_page[0] = '\0';
    return cancel;
}
