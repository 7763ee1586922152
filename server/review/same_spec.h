// SPDX-License-Identifier: Apache-2.0
// Whether two JSON values say the same, whatever the order of keys and the blanks between them.
#ifndef DRAWBRIDGE_REVIEW_SAME_SPEC_H
#define DRAWBRIDGE_REVIEW_SAME_SPEC_H

#include <stdbool.h>

#include "validators/core/arena.h"
#include "validators/core/text.h"

// What it does: compares two well-formed values, as json_raw gives them. Objects are compared key by key,
// lists in order, strings unescaped, numbers as written. What is nested deeper than typed values may be, or
// holds a key twice, is compared byte by byte. Errors: false when memory ran out (the arena tells).
bool same_json(struct arena *arena, struct text a, struct text b);

#endif
