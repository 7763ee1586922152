// SPDX-License-Identifier: Apache-2.0
// Numbers in raw JSON, as Go's decoder takes them.
#ifndef DRAWBRIDGE_SCHEMA_JSON_NUMBERS_H
#define DRAWBRIDGE_SCHEMA_JSON_NUMBERS_H

#include <stdbool.h>

#include "validators/core/text.h"

// What it does: the first number in raw JSON that does not fit a double; an empty text when all fit. Go
// refuses a document with such a number when it decodes it without a type. The JSON must be well formed.
// Source: Go's encoding/json, convertNumber, and strconv.ParseFloat.
struct text json_number_too_large(struct text raw);

#endif
