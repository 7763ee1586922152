// SPDX-License-Identifier: Apache-2.0
// Times as Kubernetes writes them (RFC 3339) as a number. No clock is read here.
#ifndef DRAWBRIDGE_CORE_TIMESTAMP_H
#define DRAWBRIDGE_CORE_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/core/text.h"

// What it does: reads `2026-01-31T12:00:00Z`, with a fraction of a second and an offset from UTC where there
// are any. What is finer than a millisecond is cut. Units: milliseconds since 1970, without leap seconds.
// Errors: false when it is no such time; untouched then.
bool timestamp_parse(struct text text, int64_t *ret_ms) __attribute__((warn_unused_result));

// What it does: `2026-01-31T12:00:00Z`, cut to whole seconds. Owner: the arena. Errors: empty, arena
// poisoned.
struct text timestamp_text(struct arena *arena, int64_t ms);

#endif
