// SPDX-License-Identifier: Apache-2.0
// How one kind is followed: list, watch, list again. A pure state machine: it is told of the time, of answers
// and of frames, and says what to ask next and what the store is to be told. kube.c does the talking.
//
// The first list comes as a stream (sendInitialEvents); where the server does not know that, in pages. What a
// list holds is taken at once, the old state answers until the list is whole, and what it does not hold is
// gone then. A list that is older than what was seen is not taken: an API server lags. After several of them,
// or when a watch brings what is older, the store itself is read; where that is older too, its state was put
// back (a restore of etcd), and the caller has to begin anew.
#ifndef DRAWBRIDGE_FEED_LISTWATCH_H
#define DRAWBRIDGE_FEED_LISTWATCH_H

#include "server/feed/frames.h"

#define LISTWATCH_PAGE_COUNT      500
#define LISTWATCH_SILENCE_MS      100000 // bookmarks come once a minute
#define LISTWATCH_LIST_SILENCE_MS 30000
#define LISTWATCH_LIST_MS         120000
#define LISTWATCH_WATCH_S         300  // at least; as much again at random
#define LISTWATCH_LIST_PACE_MS    5000 // at most one list in this time
#define LISTWATCH_BACKOFF_MS      1000 // doubled with each failure in a row
#define LISTWATCH_BACKOFF_MOST_MS 30000
#define LISTWATCH_CONNECT_MOST_MS 2500  // a server that is down is asked often: it costs nobody anything
#define LISTWATCH_RETRY_MOST_S    120   // longest Retry-After that is honoured
#define LISTWATCH_ABSENT_MS       60000 // until a kind that is not served is asked for again
#define LISTWATCH_HEALTHY_MS      10000 // a watch that lived so long starts the back-off anew
#define LISTWATCH_OLDER_COUNT     3u    // lists in a row that were older: then the store itself is read
#define LISTWATCH_RESTORED_COUNT  2u    // and was older so often: its state was put back
#define LISTWATCH_CONTINUE_BYTES  4096u
#define LISTWATCH_PATH_BYTES      (3u * LISTWATCH_CONTINUE_BYTES + 512u)

// Why a request ended. Also the label `reason` of drawbridge_watch_restarts_total.
enum watch_end {
    WATCH_END_EOF,          // the server ended the stream
    WATCH_END_CUT,          // … in the middle of a frame
    WATCH_END_GONE,         // 410: the version is too old
    WATCH_END_UNAUTHORIZED, // 401
    WATCH_END_FORBIDDEN,    // 403
    WATCH_END_NOT_SERVED,   // 404
    WATCH_END_REFUSED,      // another 4xx
    WATCH_END_THROTTLED,    // 429
    WATCH_END_SERVER_ERROR, // 5xx
    WATCH_END_CONNECTION,   // none, or broken
    WATCH_END_SILENT,       // nothing came for too long
    WATCH_END_DECODE,       // what came cannot be read
    WATCH_END_LIMIT,        // what came is too long
    WATCH_END_OLDER,        // a list older than what was seen
    WATCH_END_MEMORY,
    WATCH_END_COUNT
};
const char *watch_end_name(enum watch_end end);

enum listwatch_state { LISTWATCH_WAITING, LISTWATCH_STREAMING, LISTWATCH_LISTING, LISTWATCH_WATCHING };

struct listwatch {
    const struct feed_kind *row;
    enum listwatch_state state;
    bool use_pages; // the server does not stream lists
    bool older;     // it is served under older_prefix
    bool listing;   // the store was told of the beginning of a list
    bool synced;
    bool absent;          // not served
    bool any_version;     // the next list is read from the store itself, whatever version it has
    int64_t version;      // to watch from; 0: list first
    int64_t newest;       // the highest version seen
    int64_t next_ms;      // not before
    int64_t began_ms;     // the request that runs
    int64_t listed_ms;    // the last list that reached the server
    bool listed_once;     // listed_ms means something
    unsigned failures;    // in a row
    unsigned older_count; // lists in a row that were older than what was seen, or refused as that
    unsigned older_reads; // of the store itself
    uint64_t random;      // state of the jitter
    char next_page[LISTWATCH_CONTINUE_BYTES];
};

// seed: any number, so that replicas do not move in step.
void listwatch_init(struct listwatch *listwatch, const struct feed_kind *row, uint64_t seed);

struct listwatch_request {
    char path[LISTWATCH_PATH_BYTES]; // with the query
    bool is_stream;                  // lines of frames; else one body
    bool begins_list;                // tell the store that a list begins
    int64_t silence_ms;              // end it when nothing came for so long
    int64_t most_ms;                 // end it when it lasts longer; 0: no limit
};

// What it does: the request to make now. False when there is none yet (see next_ms) or one runs.
bool listwatch_next(struct listwatch *listwatch, int64_t now_ms, struct listwatch_request *ret_request);

// What the store is to be told, in this order.
struct listwatch_step {
    bool apply;     // the frame's event; a bookmark too
    bool ends_list; // the list is whole
    bool alive;     // the kind was heard of
    bool stop;      // end the request, as `end` says
    enum watch_end end;
    bool restored; // the store itself is older than what was seen, and stays so: its state was put back
};

// What it does: takes a frame of a stream.
struct listwatch_step listwatch_frame(struct listwatch *listwatch, const struct frame *frame, int64_t now_ms);

// What it does: takes a whole page, after its items were applied.
struct listwatch_step listwatch_page(struct listwatch *listwatch, const struct frame_list *list);

// What an answer other than 200 means. `status` is its body, as far as it could be read.
enum watch_end listwatch_refusal(int http_code, const struct frame_status *status);

// What it does: takes the end of a request. retry_after_s: what the server asked for, else 0. Returns true
// when the store is to be told that the list is given up.
bool listwatch_ended(struct listwatch *listwatch, enum watch_end end, int64_t retry_after_s, int64_t now_ms);

#endif
