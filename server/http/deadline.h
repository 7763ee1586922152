// SPDX-License-Identifier: Apache-2.0
// Absolute deadlines: how long a connection may stay in each phase, and what `?timeout=` means. Pure.
#ifndef DRAWBRIDGE_HTTP_DEADLINE_H
#define DRAWBRIDGE_HTTP_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/core/text.h"

struct deadlines {
    int64_t tls_begin_ms;       // accept → first whole TLS greeting
    int64_t header_ms;          // accept → handler
    int64_t request_ms;         // handler → completed, when `?timeout=` is absent or unreadable
    int64_t request_most_ms;    // … and at most
    int64_t request_reserve_ms; // kept back from `?timeout=`: an explicit answer beats the caller's timeout
    int64_t idle_ms;            // completed → next handler
};

// What it does: reads a duration as Go writes it ("10s", "1m30s", "500ms", "1.5s", "0"). Negative ones are
// not read. Errors: false when the text is not a duration or leaves int64 nanoseconds.
// Source: Go 1.24 time/format.go, ParseDuration.
bool deadline_parse_duration(struct text text, int64_t *ret_ms) __attribute__((warn_unused_result));

// What it does: how long a request may take. timeout is the value of `?timeout=`, empty when absent. A
// timeout shorter than twice the reserve is halved instead, so that there is always time to judge.
int64_t deadline_of_request(const struct deadlines *deadlines, struct text timeout);

#endif
