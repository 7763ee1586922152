// SPDX-License-Identifier: Apache-2.0
// Log lines to stderr in klog's forms. Only a listed few files log. Never in a line: request bodies, opaque
// parameters, tokens, keys. Field names are the contract, the words are not.
//
//     log_info(0, "serve", "Listening", LOG_FIELD("address", address), LOG_NUMBER("port", 9443));
//     log_error("certs", "Certificate not loaded", fault.text, LOG_FIELD("file", file));
//
// Thread: any. A line is written whole or not at all. A reader of stderr that does not keep up, or more lines
// than the limit, never hold a worker: lines are dropped and counted, and the next line says how many.
#ifndef DRAWBRIDGE_LOG_H
#define DRAWBRIDGE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

enum log_format { LOG_AS_TEXT, LOG_AS_JSON };

struct log_field {
    const char *key; // NULL: skipped
    struct text text;
    struct text namespace; // of an object {"name","namespace"}
    int64_t number;
    enum { LOG_KIND_TEXT, LOG_KIND_NUMBER, LOG_KIND_OBJECT } kind;
};

#define LOG_FIELD(name, value)                                                                               \
    { .key = (name), .text = (value), .kind = LOG_KIND_TEXT }
#define LOG_STRING(name, value)                                                                              \
    { .key = (name), .text = text_of(value), .kind = LOG_KIND_TEXT }
#define LOG_NUMBER(name, value)                                                                              \
    { .key = (name), .number = (int64_t)(value), .kind = LOG_KIND_NUMBER }
// An object by name and namespace; the namespace may be empty.
#define LOG_OBJECT(key_name, object_namespace, object_name)                                                  \
    { .key = (key_name), .text = (object_name), .namespace = (object_namespace), .kind = LOG_KIND_OBJECT }

// What it does: sets the form and how much is written (`--v`). Before the first call: text, 0.
void log_setup(enum log_format format, int verbosity);

// True when lines of this verbosity are written; ask before costly fields are made.
bool log_wants(int verbosity);

// Lines dropped since the start.
uint64_t log_dropped_count(void);

// An informational line of this verbosity.
#define log_info(verbosity, logger, message, ...)                                                            \
    do {                                                                                                     \
        if (log_wants(verbosity)) {                                                                          \
            const struct log_field log_fields_[] = {{.key = NULL}, __VA_ARGS__};                             \
            log_write((verbosity), (logger), (message), NULL, log_fields_,                                   \
                      sizeof log_fields_ / sizeof *log_fields_);                                             \
        }                                                                                                    \
    } while (0)

// Something of ours failed: error is one line, such as fault.text.
#define log_error(logger, message, error, ...)                                                               \
    do {                                                                                                     \
        const struct log_field log_fields_[] = {{.key = NULL}, __VA_ARGS__};                                 \
        log_write(-1, (logger), (message), (error), log_fields_, sizeof log_fields_ / sizeof *log_fields_);  \
    } while (0)

void log_write(int verbosity, const char *logger, const char *message, const char *error,
               const struct log_field *fields, size_t count);

// What it does: the line itself, with its line end, into buffer. For tests and log.c.
// Units: time in microseconds since the epoch.
size_t log_render(enum log_format format, int64_t time_us, int verbosity, const char *logger,
                  const char *message, const char *error, const struct log_field *fields, size_t count,
                  char *buffer, size_t buffer_bytes);

#endif
