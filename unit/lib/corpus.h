// SPDX-License-Identifier: Apache-2.0
// Test data: where the corpora lie and how to read them line by line.
#ifndef DRAWBRIDGE_UNIT_CORPUS_H
#define DRAWBRIDGE_UNIT_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/core/text.h"

// A whole file in memory; ptr is NULL when it could not be read. Owner: the caller, free with test_file_free.
struct text test_file_read(const char *path);
void test_file_free(struct text file);

// The corpus with this file name ("schema.jsonl"): from $DRAWBRIDGE_CORPUS, else ../shared/corpus beside the
// source tree, else unit/testdata/corpus. Fails the running test when there is none.
struct text test_corpus_read(const char *name);

// What it does: gives the next line of a file, without its end. False at the end.
bool test_next_line(struct text file, size_t *at, struct text *ret_line);

// A path below the source tree. Owner: static buffer, good until the next call.
const char *test_source_path(const char *relative);

#endif
