// SPDX-License-Identifier: Apache-2.0
// JSON that we wrote, read back in tests by a library of its own. Paths are parted by slashes; list members
// go by number: "status/details/causes/0/field". "" is the whole.
#ifndef DRAWBRIDGE_UNIT_PARSED_H
#define DRAWBRIDGE_UNIT_PARSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parsed;

// What it does: parses; fails the running test when the bytes are no JSON or hold a key twice.
// Owner: the caller, parsed_free.
struct parsed *parsed_new(const char *json, size_t len);
void parsed_free(struct parsed *parsed);

bool parsed_has(const struct parsed *parsed, const char *path);
bool parsed_is_true(const struct parsed *parsed, const char *path);
// The text, NULL when there is none. ret_len may be NULL.
const char *parsed_text(const struct parsed *parsed, const char *path, size_t *ret_len);
// The integer, -1 when there is none; the number, -1 when there is none.
int64_t parsed_int(const struct parsed *parsed, const char *path);
double parsed_number(const struct parsed *parsed, const char *path);
// Members of an object or a list, 0 when there is none.
size_t parsed_size(const struct parsed *parsed, const char *path);

#endif
