// SPDX-License-Identifier: Apache-2.0
// The text format, written into a growing buffer.
#include "server/http/exposition.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define FIRST_BYTES ((size_t)16 * 1024)

static bool reserve(struct exposition *out, size_t more_bytes) {
    if (out->failed) return false;
    if (more_bytes <= out->cap_bytes - out->len) return true;
    size_t cap_bytes = out->cap_bytes == 0 ? FIRST_BYTES : out->cap_bytes;
    while (cap_bytes - out->len < more_bytes && cap_bytes < EXPOSITION_LIMIT_BYTES) cap_bytes *= 2;
    char *grown = cap_bytes - out->len < more_bytes ? NULL : realloc(out->ptr, cap_bytes);
    if (grown == NULL) {
        out->failed = true;
        return false;
    }
    out->ptr = grown;
    out->cap_bytes = cap_bytes;
    return true;
}

static void put(struct exposition *out, struct text text) {
    if (text.len == 0 || !reserve(out, text.len)) return;
    memcpy(out->ptr + out->len, text.ptr, text.len);
    out->len += text.len;
}

static void put_format(struct exposition *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_format(struct exposition *out, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof line)
        out->failed = true;
    else
        put(out, (struct text){line, (size_t)len});
}

void exposition_family(struct exposition *out, const char *name, const char *type, const char *help) {
    put_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_label(struct exposition *out, const struct exposition_label *label) {
    put_format(out, "%s=\"", label->name);
    for (size_t i = 0; i < label->value.len; i++) {
        char byte = label->value.ptr[i];
        if (byte == '\n')
            put(out, TEXT("\\n"));
        else if (byte == '"' || byte == '\\')
            put(out, (struct text){(const char[]){'\\', byte}, 2});
        else
            put(out, (struct text){&label->value.ptr[i], 1});
    }
    put(out, TEXT("\""));
}

static void put_name(struct exposition *out, const char *name, const struct exposition_label *labels,
                     size_t label_count) {
    put(out, text_of(name));
    for (size_t i = 0; i < label_count; i++) {
        put(out, i == 0 ? TEXT("{") : TEXT(","));
        put_label(out, &labels[i]);
    }
    if (label_count > 0) put(out, TEXT("}"));
}

void exposition_sample(struct exposition *out, const char *name, const struct exposition_label *labels,
                       size_t label_count, double value) {
    put_name(out, name, labels, label_count);
    if (isnan(value))
        put(out, TEXT(" NaN\n"));
    else if (isinf(value))
        put(out, value > 0 ? TEXT(" +Inf\n") : TEXT(" -Inf\n"));
    else
        put_format(out, " %.17g\n", value);
}

void exposition_count(struct exposition *out, const char *name, const struct exposition_label *labels,
                      size_t label_count, uint64_t value) {
    put_name(out, name, labels, label_count);
    put_format(out, " %llu\n", (unsigned long long)value);
}

void exposition_append(struct exposition *out, const struct exposition *more) {
    if (more->failed) out->failed = true;
    put(out, (struct text){more->ptr, more->len});
}

void exposition_release(struct exposition *out) {
    if (out == NULL) return;
    free(out->ptr);
    *out = (struct exposition){.ptr = NULL};
}

void collectors_init(struct collectors *collectors) {
    *collectors = (struct collectors){.count = 0};
    pthread_mutex_init(&collectors->mutex, NULL);
}

void collectors_release(struct collectors *collectors) {
    if (collectors != NULL) pthread_mutex_destroy(&collectors->mutex);
}

bool collectors_add(struct collectors *collectors, void (*collect)(void *state, struct exposition *out),
                    void *state) {
    pthread_mutex_lock(&collectors->mutex);
    bool fits = collectors->count < EXPOSITION_COLLECTORS_LIMIT;
    if (fits) {
        collectors->items[collectors->count].collect = collect;
        collectors->items[collectors->count].state = state;
        collectors->count++;
    }
    pthread_mutex_unlock(&collectors->mutex);
    return fits;
}

void collectors_remove(struct collectors *collectors, const void *state) {
    pthread_mutex_lock(&collectors->mutex);
    size_t kept = 0;
    for (size_t i = 0; i < collectors->count; i++)
        if (collectors->items[i].state != state) collectors->items[kept++] = collectors->items[i];
    collectors->count = kept;
    pthread_mutex_unlock(&collectors->mutex);
}

void collectors_collect(struct collectors *collectors, struct exposition *ret_exposition) {
    *ret_exposition = (struct exposition){.ptr = NULL};
    pthread_mutex_lock(&collectors->mutex);
    for (size_t i = 0; i < collectors->count; i++)
        collectors->items[i].collect(collectors->items[i].state, ret_exposition);
    pthread_mutex_unlock(&collectors->mutex);
}
