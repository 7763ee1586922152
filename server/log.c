// SPDX-License-Identifier: Apache-2.0
// Log lines: rendered on the caller's stack, then one write under a mutex, only where the reader has room.
#include "server/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "server/out.h"

#define LOG_LINE_BYTES       4000u // below PIPE_BUF, so that a pipe with room takes it whole
#define LOG_FIELD_BYTES      1024u
#define LOG_BURST_COUNT      1000
#define LOG_RATE_PER_SECOND  200
#define LOG_TOKENS_PER_COUNT INT64_C(1000000)

static struct {
    _Atomic int format;
    _Atomic int verbosity;
    _Atomic uint64_t dropped_count;
    pthread_mutex_t mutex;
    // Under the mutex.
    int64_t tokens; // in millionths of a line
    int64_t filled_us;
    uint64_t told_count; // drops that a line has told of
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .tokens = LOG_BURST_COUNT * LOG_TOKENS_PER_COUNT};

void log_setup(enum log_format format, int verbosity) {
    atomic_store_explicit(&state.format, (int)format, memory_order_relaxed);
    atomic_store_explicit(&state.verbosity, verbosity, memory_order_relaxed);
}

bool log_wants(int verbosity) {
    return verbosity <= atomic_load_explicit(&state.verbosity, memory_order_relaxed);
}

uint64_t log_dropped_count(void) {
    return atomic_load_explicit(&state.dropped_count, memory_order_relaxed);
}

static int64_t now_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void render_json_field(struct out *out, const struct log_field *field) {
    OUT_LITERAL(out, ",");
    out_json_string(out, text_of(field->key), 0);
    OUT_LITERAL(out, ":");
    switch (field->kind) {
    case LOG_KIND_NUMBER: out_int64(out, field->number); return;
    case LOG_KIND_TEXT: out_json_string(out, field->text, LOG_FIELD_BYTES); return;
    case LOG_KIND_OBJECT: break;
    }
    OUT_LITERAL(out, "{\"name\":");
    out_json_string(out, field->text, LOG_FIELD_BYTES);
    if (field->namespace.len > 0) {
        OUT_LITERAL(out, ",\"namespace\":");
        out_json_string(out, field->namespace, LOG_FIELD_BYTES);
    }
    OUT_LITERAL(out, "}");
}

static void render_text_field(struct out *out, const struct log_field *field) {
    OUT_LITERAL(out, " ");
    out_text(out, text_of(field->key));
    OUT_LITERAL(out, "=");
    if (field->kind == LOG_KIND_NUMBER) {
        out_int64(out, field->number);
        return;
    }
    if (field->kind == LOG_KIND_OBJECT && field->namespace.len > 0) {
        char joined[600];
        struct out name = out_of(joined, sizeof joined);
        out_text(&name, field->namespace);
        OUT_LITERAL(&name, "/");
        out_text(&name, field->text);
        out_json_string(out, (struct text){joined, name.len}, LOG_FIELD_BYTES);
        return;
    }
    out_json_string(out, field->text, LOG_FIELD_BYTES);
}

static void render_json(struct out *out, int64_t time_us, int verbosity, const char *logger,
                        const char *message, const char *error) {
    out_format(out, "{\"ts\":%lld.%06lld,\"logger\":", (long long)(time_us / 1000000),
               (long long)(time_us % 1000000));
    out_json_string(out, text_of(logger), 0);
    if (verbosity >= 0) out_format(out, ",\"v\":%d", verbosity);
    OUT_LITERAL(out, ",\"msg\":");
    out_json_string(out, text_of(message), LOG_FIELD_BYTES);
    if (error != NULL) {
        OUT_LITERAL(out, ",\"err\":");
        out_json_string(out, text_of(error), LOG_FIELD_BYTES);
    }
}

static void render_text(struct out *out, int64_t time_us, int verbosity, const char *logger,
                        const char *message, const char *error) {
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm date;
    gmtime_r(&seconds, &date);
    out_format(out, "%c%02d%02d %02d:%02d:%02d.%06lld %7d %s] ", verbosity >= 0 ? 'I' : 'E', date.tm_mon + 1,
               date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, (long long)(time_us % 1000000),
               (int)getpid(), logger);
    out_json_string(out, text_of(message), LOG_FIELD_BYTES);
    if (error != NULL) {
        OUT_LITERAL(out, " err=");
        out_json_string(out, text_of(error), LOG_FIELD_BYTES);
    }
}

size_t log_render(enum log_format format, int64_t time_us, int verbosity, const char *logger,
                  const char *message, const char *error, const struct log_field *fields, size_t count,
                  char *buffer, size_t buffer_bytes) {
    // Room is kept for the end of the line, so that a line that is cut is still whole JSON.
    struct out out = out_of(buffer, buffer_bytes - 2);
    if (format == LOG_AS_JSON)
        render_json(&out, time_us, verbosity, logger, message, error);
    else
        render_text(&out, time_us, verbosity, logger, message, error);
    for (size_t i = 0; i < count && !out.full; i++) {
        if (fields[i].key == NULL) continue;
        struct out before = out;
        if (format == LOG_AS_JSON)
            render_json_field(&out, &fields[i]);
        else
            render_text_field(&out, &fields[i]);
        if (out.full) out.len = before.len;
    }
    if (format == LOG_AS_JSON) buffer[out.len++] = '}';
    buffer[out.len++] = '\n';
    return out.len;
}

// Takes one line's worth of tokens. Under the mutex.
static bool take_token(void) {
    int64_t now = now_us(CLOCK_MONOTONIC);
    if (state.filled_us != 0) state.tokens += (now - state.filled_us) * LOG_RATE_PER_SECOND;
    state.filled_us = now;
    if (state.tokens > LOG_BURST_COUNT * LOG_TOKENS_PER_COUNT)
        state.tokens = LOG_BURST_COUNT * LOG_TOKENS_PER_COUNT;
    if (state.tokens < LOG_TOKENS_PER_COUNT) return false;
    state.tokens -= LOG_TOKENS_PER_COUNT;
    return true;
}

// Under the mutex. False when stderr has no room now: a worker must not wait for whoever reads it.
static bool put(const char *line, size_t len) {
    struct pollfd stderr_poll = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&stderr_poll, 1, 0) != 1 || (stderr_poll.revents & POLLOUT) == 0) return false;
    while (len > 0) {
        ssize_t written = write(STDERR_FILENO, line, len);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        line += written;
        len -= (size_t)written;
    }
    return true;
}

void log_write(int verbosity, const char *logger, const char *message, const char *error,
               const struct log_field *fields, size_t count) {
    enum log_format format = (enum log_format)atomic_load_explicit(&state.format, memory_order_relaxed);
    char line[LOG_LINE_BYTES];
    size_t len = log_render(format, now_us(CLOCK_REALTIME), verbosity, logger, message, error, fields, count,
                            line, sizeof line);
    pthread_mutex_lock(&state.mutex);
    if (!take_token() || !put(line, len)) {
        atomic_fetch_add_explicit(&state.dropped_count, 1, memory_order_relaxed);
        pthread_mutex_unlock(&state.mutex);
        return;
    }
    uint64_t dropped = atomic_load_explicit(&state.dropped_count, memory_order_relaxed);
    if (dropped > state.told_count) {
        struct log_field told = LOG_NUMBER("dropped", dropped - state.told_count);
        len = log_render(format, now_us(CLOCK_REALTIME), 0, "log", "Log lines were dropped", NULL, &told, 1,
                         line, sizeof line);
        if (put(line, len)) state.told_count = dropped;
    }
    pthread_mutex_unlock(&state.mutex);
}
