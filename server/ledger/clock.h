// SPDX-License-Identifier: Apache-2.0
// Times as texts and as milliseconds since 1970 (UTC).
#ifndef DRAWBRIDGE_LEDGER_CLOCK_H
#define DRAWBRIDGE_LEDGER_CLOCK_H

#include <stdint.h>

#include "validators/core/text.h"

// What it does: reads an RFC 3339 time, with a fraction and an offset. Errors: false when it is none.
bool time_read_ms(struct text text, int64_t *ret_ms) __attribute__((warn_unused_result));

// What it does: prints a time as 2026-11-30T00:00:25Z, with milliseconds where there are any.
#define TIME_TEXT_BYTES 32
void time_print(int64_t ms, char buffer[TIME_TEXT_BYTES]);

#endif
