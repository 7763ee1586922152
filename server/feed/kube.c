// SPDX-License-Identifier: Apache-2.0
// The thread that follows an API server.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "server/feed/kube_state.h"
#include "server/log.h"

#define POLL_MOST_MS     1000
#define PAGE_ARENA_BYTES ((size_t)16 * 1024 * 1024)
#define CONNECTIONS      32L

static struct feed_kind_state *state_of(const struct follower *follower) {
    return &follower->kube->state->kinds[feed_kind_index(follower->listwatch.row)];
}

// --- To the store ---

static void tell_count(struct follower *follower) {
    atomic_store_explicit(&state_of(follower)->objects, (int64_t)follower->present.count,
                          memory_order_relaxed);
}

static void begin_list(struct follower *follower) {
    store_list_begin(follower->kube->store, follower->listwatch.row->kind);
    present_list_begin(&follower->present);
}

static void end_list(struct follower *follower) {
    store_list_end(follower->kube->store, follower->listwatch.row->kind);
    store_set_synced(follower->kube->store, follower->listwatch.row->kind, true);
    present_list_end(&follower->present);
    tell_count(follower);
}

static bool apply(struct follower *follower, const struct frame *frame, struct fault *fault) {
    static const enum event_type types[] = {[FRAME_ADDED] = EVENT_ADDED,
                                            [FRAME_MODIFIED] = EVENT_MODIFIED,
                                            [FRAME_DELETED] = EVENT_DELETED,
                                            [FRAME_BOOKMARK] = EVENT_BOOKMARK};
    const struct ledger_event event = {
        .type = types[frame->type], .object = frame->object, .resource_version = frame->resource_version};
    struct text json = frame->type == FRAME_BOOKMARK ? (struct text){NULL, 0} : frame->json;
    atomic_fetch_add_explicit(&state_of(follower)->events, 1, memory_order_relaxed);
    if (store_apply(follower->kube->store, &event, json, fault) == LEDGER_FAILED) return false;
    if (frame->type == FRAME_DELETED)
        present_remove(&follower->present, object_metadata(frame->object)->uid);
    else if (frame->type != FRAME_BOOKMARK)
        present_add(&follower->present, object_metadata(frame->object)->uid);
    tell_count(follower);
    return true;
}

static void tell_alive(struct follower *follower) {
    store_watch_alive(follower->kube->store, follower->listwatch.row->kind);
    atomic_store_explicit(&state_of(follower)->alive_ms, feed_now_ms(), memory_order_relaxed);
}

static void list_is_whole(struct follower *follower) {
    struct feed_kind_state *state = state_of(follower);
    end_list(follower);
    atomic_store_explicit(&state->absent, false, memory_order_relaxed);
    if (!atomic_exchange_explicit(&state->synced, true, memory_order_relaxed))
        log_info(1, "feed", "Listed", LOG_STRING("resource", follower->listwatch.row->resource));
}

// A kind that is not served has no objects, and that is all there is to know.
static void is_absent(struct follower *follower) {
    struct feed_kind_state *state = state_of(follower);
    begin_list(follower);
    end_list(follower);
    tell_alive(follower);
    atomic_store_explicit(&state->synced, false, memory_order_relaxed);
    if (!atomic_exchange_explicit(&state->absent, true, memory_order_relaxed))
        log_info(0, "feed", "Not served by this cluster, passed over",
                 LOG_STRING("resource", follower->listwatch.row->resource));
}

// --- What is amiss ---

static void tell_trouble(struct kube *kube) {
    const struct follower *worst = NULL;
    int64_t waiting = 0;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        if (kube->followers[i].why[0] == '\0') continue;
        if (worst == NULL) worst = &kube->followers[i];
        waiting++;
    }
    atomic_store_explicit(&kube->state->waiting, waiting, memory_order_relaxed);
    feed_set_why(kube->state, worst == NULL ? "" : worst->why);
}

static void is_well(struct follower *follower) {
    if (follower->why[0] != '\0') {
        follower->why[0] = '\0';
        tell_trouble(follower->kube);
    }
    if (follower->troubled)
        log_info(0, "feed", "Followed again", LOG_STRING("resource", follower->listwatch.row->resource));
    follower->troubled = false;
}

static void is_amiss(struct follower *follower, enum watch_end end, const struct fault *fault) {
    const char *resource = follower->listwatch.row->resource;
    snprintf(follower->why, sizeof follower->why, "%s: %s", resource, fault->text);
    tell_trouble(follower->kube);
    if (!follower->troubled)
        log_error("feed", "Not followed at the moment, tried again", fault->text,
                  LOG_STRING("resource", resource), LOG_STRING("reason", watch_end_name(end)));
    follower->troubled = true;
}

static void count_fault(struct kube *kube, enum watch_end end) {
    if (end == WATCH_END_DECODE) feed_count_error(kube->state, FEED_ERROR_DECODE);
    if (end == WATCH_END_LIMIT) feed_count_error(kube->state, FEED_ERROR_LIMIT);
    if (end == WATCH_END_MEMORY) feed_count_error(kube->state, FEED_ERROR_MEMORY);
}

// --- What comes ---

static bool stop_call(struct follower *follower, enum watch_end end) {
    follower->call.stopped = true;
    follower->call.end = end;
    return false;
}

static enum watch_end end_of(const struct fault *fault) {
    if (fault->code == FAULT_MEMORY) return WATCH_END_MEMORY;
    return fault->code == FAULT_LIMIT ? WATCH_END_LIMIT : WATCH_END_DECODE;
}

static void say_why(const struct frame *frame, enum watch_end end, struct fault *fault) {
    if (frame->type == FRAME_ERROR)
        fault_set(fault, FAULT_UNREACHABLE, "the watch ends with %lld: %.*s", (long long)frame->status.code,
                  TEXT_ARG(text_slice(frame->status.message, 0, 160)));
    else if (end == WATCH_END_OLDER)
        fault_set(fault, FAULT_STATE, "what the API server has is older than what was seen");
    else
        fault_set(fault, FAULT_INPUT, "a frame of a type that is not known");
}

static bool take_line(void *context, struct text line, struct fault *fault) {
    struct follower *follower = context;
    struct frame frame;
    arena_clear(&follower->arena);
    if (!frame_read(&follower->arena, line, follower->listwatch.row, follower->kube->minor, &frame, fault))
        return stop_call(follower, end_of(fault));
    struct listwatch_step step = listwatch_frame(&follower->listwatch, &frame, feed_now_ms());
    if (step.restored) follower->kube->restored = true;
    if (step.stop) {
        say_why(&frame, step.end, fault);
        return stop_call(follower, step.end);
    }
    if (step.apply && !apply(follower, &frame, fault)) return stop_call(follower, WATCH_END_MEMORY);
    if (step.ends_list) list_is_whole(follower);
    if (step.alive) tell_alive(follower);
    if (follower->listwatch.state == LISTWATCH_WATCHING) is_well(follower);
    return true;
}

static bool take_bytes(void *context, struct text bytes) {
    struct follower *follower = context;
    if (frames_feed(&follower->frames, bytes, take_line, follower, &follower->call.fault)) return true;
    if (!follower->call.stopped) stop_call(follower, end_of(&follower->call.fault));
    return false;
}

static bool take_item(void *context, struct text item, struct fault *fault) {
    struct follower *follower = context;
    struct frame frame;
    arena_clear(&follower->arena);
    return frame_read_object(&follower->arena, item, follower->listwatch.row, follower->kube->minor, &frame,
                             fault) &&
           apply(follower, &frame, fault);
}

// A page of a list. Returns how it ended; WATCH_END_EOF when the next request may follow at once.
static enum watch_end take_page(struct follower *follower) {
    struct kube_call *call = &follower->call;
    struct frame_list list;
    struct arena arena;
    arena_init(&arena, PAGE_ARENA_BYTES);
    bool fine = frame_read_list(&arena, (struct text){call->body, call->body_len}, take_item, follower, &list,
                                &call->fault);
    struct listwatch_step step = {.stop = !fine, .end = fine ? WATCH_END_EOF : end_of(&call->fault)};
    if (fine) step = listwatch_page(&follower->listwatch, &list);
    if (step.restored) follower->kube->restored = true;
    if (fine && step.stop) {
        const struct frame none = {.type = FRAME_UNKNOWN};
        say_why(&none, step.end, &call->fault);
    }
    if (step.ends_list) {
        const struct object bookmark = {.kind = follower->listwatch.row->kind};
        const struct ledger_event event = {
            .type = EVENT_BOOKMARK, .object = &bookmark, .resource_version = list.resource_version};
        (void)store_apply(follower->kube->store, &event, (struct text){NULL, 0}, &call->fault);
        list_is_whole(follower);
    }
    if (step.alive) tell_alive(follower);
    if (step.ends_list) is_well(follower);
    arena_release(&arena);
    return step.stop ? step.end : WATCH_END_EOF;
}

// --- Requests ---

void kube_renew_token(struct kube *kube) {
    struct fault fault;
    (void)kubeconfig_renew_token(&kube->config, &fault);
    if (fault.code != FAULT_NONE) feed_count_error(kube->state, FEED_ERROR_UNREADABLE);
}

static void end_request(struct follower *follower, enum watch_end end, int64_t retry_after_s) {
    struct listwatch *listwatch = &follower->listwatch;
    enum listwatch_state state = listwatch->state;
    frames_release(&follower->frames);
    if (listwatch_ended(listwatch, end, retry_after_s, feed_now_ms()))
        store_list_cancel(follower->kube->store, listwatch->row->kind);
    atomic_fetch_add_explicit(&state_of(follower)->restarts[end], 1, memory_order_relaxed);
    version_watch_disturb(&follower->kube->version, feed_now_ms());
    count_fault(follower->kube, end);
    if (end == WATCH_END_NOT_SERVED && listwatch->row->optional) {
        if (listwatch->absent && !listwatch->older) is_absent(follower);
        return;
    }
    // The ordinary end of a watch, and falling back to pages, are no trouble.
    bool ordinary = (end == WATCH_END_EOF || end == WATCH_END_CUT || end == WATCH_END_GONE) &&
                    state == LISTWATCH_WATCHING && listwatch->failures <= 1;
    bool fell_back = state == LISTWATCH_STREAMING && listwatch->use_pages && listwatch->failures == 0;
    if (ordinary || fell_back) return;
    if (follower->call.fault.code == FAULT_NONE)
        fault_set(&follower->call.fault, FAULT_UNREACHABLE,
                  end == WATCH_END_SILENT ? "nothing came from the API server for %lld s"
                                          : "the API server ended the answer after %lld s",
                  (long long)(feed_now_ms() - follower->call.began_ms) / 1000);
    is_amiss(follower, end, &follower->call.fault);
}

static void begin_request(struct follower *follower) {
    struct kube *kube = follower->kube;
    struct kube_call *call = &follower->call;
    struct listwatch_request request;
    struct fault fault;
    if (call->running || !listwatch_next(&follower->listwatch, feed_now_ms(), &request)) return;
    if (request.begins_list) begin_list(follower);
    kube_renew_token(kube);
    call->is_stream = request.is_stream;
    call->silence_ms = request.silence_ms;
    call->most_ms = request.most_ms;
    call->take = take_bytes;
    call->context = follower;
    frames_init(&follower->frames, &kube->heap, 0);
    if (!kube_call_begin(call, &kube->config, request.path, &fault) ||
        libcurl.multi_add_handle(kube->multi, call->easy) != CURLM_OK) {
        fault_set(&call->fault, FAULT_MEMORY, "no memory for a request");
        end_request(follower, WATCH_END_MEMORY, 0);
        return;
    }
    call->running = true;
}

static void request_is_done(struct follower *follower, CURLcode result) {
    struct kube_call *call = &follower->call;
    int64_t retry_after_s;
    enum watch_end end = kube_call_end(call, result, &retry_after_s);
    libcurl.multi_remove_handle(follower->kube->multi, call->easy);
    call->running = false;
    bool page = !call->is_stream && end == WATCH_END_EOF;
    if (page) end = take_page(follower);
    if (!page && end == WATCH_END_EOF && frames_is_cut(&follower->frames)) end = WATCH_END_CUT;
    if (!page || end != WATCH_END_EOF) end_request(follower, end, retry_after_s);
    kube_call_clear(call);
}

// A watch on which nothing happens is answered all the same.
static void check_answer(struct follower *follower) {
    struct kube_call *call = &follower->call;
    if (!call->running || follower->why[0] == '\0' || follower->listwatch.state != LISTWATCH_WATCHING) return;
    long code = 0;
    libcurl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code == 200) is_well(follower);
}

static void check_silence(struct follower *follower, int64_t now_ms) {
    struct kube_call *call = &follower->call;
    if (!call->running) return;
    // A stream that brought a list goes on as a watch, and is then as silent as one.
    bool watches = follower->listwatch.state == LISTWATCH_WATCHING;
    int64_t silence_ms = watches ? LISTWATCH_SILENCE_MS : call->silence_ms;
    bool silent = now_ms - call->heard_ms >= silence_ms;
    bool late = call->most_ms > 0 && now_ms - call->began_ms >= call->most_ms;
    if (!silent && !late) return;
    stop_call(follower, WATCH_END_SILENT);
    request_is_done(follower, CURLE_OPERATION_TIMEDOUT);
}

// A list that runs is let run: the wish stands until it is whole. A kind that is not served is asked for
// again.
static void check_list_again(struct follower *follower) {
    if (follower->listwatch.absent && !follower->call.running) {
        if (atomic_exchange(&follower->list_again, false)) follower->listwatch.next_ms = 0;
        return;
    }
    if (follower->listwatch.version == 0 || !atomic_exchange(&follower->list_again, false)) return;
    if (follower->call.running) {
        stop_call(follower, WATCH_END_EOF);
        request_is_done(follower, CURLE_OPERATION_TIMEDOUT);
    }
    follower->listwatch.version = 0;
}

void kube_list_again(struct kube *kube) {
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) atomic_store(&kube->followers[i].list_again, true);
}

// --- Anew ---

static void forget(struct follower *follower, uint64_t seed) {
    struct listwatch *listwatch = &follower->listwatch;
    bool use_pages = listwatch->use_pages, older = listwatch->older;
    if (follower->call.running) {
        libcurl.multi_remove_handle(follower->kube->multi, follower->call.easy);
        follower->call.running = false;
        kube_call_clear(&follower->call);
    }
    frames_release(&follower->frames);
    present_release(&follower->present);
    present_init(&follower->present, &follower->kube->heap);
    listwatch_init(listwatch, listwatch->row, seed);
    listwatch->use_pages = use_pages;
    listwatch->older = older;
    atomic_store(&follower->list_again, false);
    is_well(follower);
}

void kube_forget(struct kube *kube) {
    for (size_t i = 0; i < FEED_KIND_COUNT; i++)
        forget(&kube->followers[i], kube->followers[i].listwatch.random);
}

// --- The loop ---

static void begin_requests(struct kube *kube) {
    kube_ask_version(kube);
    if (kube->minor == 0) return;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) begin_request(&kube->followers[i]);
}

static void end_requests(struct kube *kube) {
    int left;
    for (CURLMsg *message; (message = libcurl.multi_info_read(kube->multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        struct kube_call *call = NULL;
        CURLcode result = message->data.result;
        libcurl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        if (call == &kube->version_call)
            kube_version_is_done(kube, result);
        else
            request_is_done(call->context, result);
    }
    int64_t now_ms = feed_now_ms();
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        check_answer(&kube->followers[i]);
        check_silence(&kube->followers[i], now_ms);
        check_list_again(&kube->followers[i]);
    }
    kube_check_restored(kube);
}

static int wait_ms(const struct kube *kube) {
    int64_t now_ms = feed_now_ms();
    int64_t next_ms = now_ms + POLL_MOST_MS;
    if (kube->minor == 0 && !kube->version_call.running && kube->version_next_ms < next_ms)
        next_ms = kube->version_next_ms;
    for (size_t i = 0; i < FEED_KIND_COUNT && kube->minor != 0; i++)
        if (!kube->followers[i].call.running && kube->followers[i].listwatch.next_ms < next_ms)
            next_ms = kube->followers[i].listwatch.next_ms;
    return next_ms <= now_ms ? 0 : (int)(next_ms - now_ms);
}

static void *run(void *argument) {
    struct kube *kube = argument;
    while (!atomic_load_explicit(&kube->stop, memory_order_relaxed)) {
        int running;
        begin_requests(kube);
        libcurl.multi_perform(kube->multi, &running);
        end_requests(kube);
        atomic_store_explicit(&kube->state->memory_bytes, kube->heap.used_bytes, memory_order_relaxed);
        libcurl.multi_poll(kube->multi, NULL, 0, wait_ms(kube), NULL);
    }
    return NULL;
}

static bool start_thread(struct kube *kube, struct fault *fault) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&kube->thread, NULL, run, kube);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) return fault_set(fault, FAULT_IO, "a thread to follow the cluster: %s", strerror(error));
    kube->started = true;
    return true;
}

static bool prepare(struct kube *kube, uint64_t seed, struct fault *fault) {
    kube->multi = libcurl.multi_init();
    if (kube->multi == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for connections");
    libcurl.multi_setopt(kube->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    libcurl.multi_setopt(kube->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS);
    if (!kube_call_init(&kube->version_call, &kube->heap, fault)) return false;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        struct follower *follower = &kube->followers[i];
        follower->kube = kube;
        listwatch_init(&follower->listwatch, &feed_kinds[i], seed + i);
        arena_init(&follower->arena, KUBE_OBJECT_BYTES);
        frames_init(&follower->frames, &kube->heap, 0);
        present_init(&follower->present, &kube->heap);
        if (!kube_call_init(&follower->call, &kube->heap, fault)) return false;
    }
    return true;
}

bool kube_new(struct kube_options *options, struct kube **ret_kube, struct fault *fault) {
    struct kube *kube = NULL;
    bool loaded = curl_library_load(fault);
    if (loaded) kube = calloc(1, sizeof *kube);
    if (kube == NULL) {
        kubeconfig_release(&options->config);
        return loaded && fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    kube->config = options->config;
    options->config = (struct kubeconfig){.server = NULL};
    kube->minor = options->minor;
    kube->fixed = options->minor != 0;
    kube->read_version = options->read_version;
    kube->begin_anew = options->begin_anew;
    version_watch_init(&kube->version, options->minor, feed_now_ms());
    version_watch_disturb(&kube->version, feed_now_ms());
    kube->context = options->context;
    kube->store = options->store;
    kube->state = options->state;
    libcurl.global_init(CURL_GLOBAL_DEFAULT);
    if (!prepare(kube, options->seed, fault) || !start_thread(kube, fault)) {
        kube_free(kube);
        return false;
    }
    *ret_kube = kube;
    return true;
}

static void release_call(struct kube *kube, struct kube_call *call) {
    if (call->running) libcurl.multi_remove_handle(kube->multi, call->easy);
    if (call->heap != NULL) kube_call_release(call);
}

void kube_free(struct kube *kube) {
    if (kube == NULL) return;
    atomic_store_explicit(&kube->stop, true, memory_order_relaxed);
    if (kube->started) {
        libcurl.multi_wakeup(kube->multi);
        pthread_join(kube->thread, NULL);
    }
    release_call(kube, &kube->version_call);
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        release_call(kube, &kube->followers[i].call);
        if (kube->followers[i].kube != NULL) {
            frames_release(&kube->followers[i].frames);
            present_release(&kube->followers[i].present);
        }
        arena_release(&kube->followers[i].arena);
    }
    if (kube->multi != NULL) libcurl.multi_cleanup(kube->multi);
    kubeconfig_release(&kube->config);
    free(kube);
    libcurl.global_cleanup();
}
