// SPDX-License-Identifier: Apache-2.0
// Folders and files that live as long as one test.
#ifndef DRAWBRIDGE_UNIT_TEMP_FILES_H
#define DRAWBRIDGE_UNIT_TEMP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A new, empty folder. Owner: static buffers, eight of them in turn. Fails the running test when there is
// none.
const char *test_folder_new(void);

// Removes the folder and all that is in it.
void test_folder_remove(const char *folder);

// FOLDER/NAME. Owner: static buffers, sixteen of them in turn.
const char *test_path(const char *folder, const char *name);

// Writes (or overwrites in place) FOLDER/NAME.
void test_write(const char *folder, const char *name, const char *bytes, size_t len);
void test_write_text(const char *folder, const char *name, const char *text);

// What it does: waits until the predicate holds. False after limit_ms.
bool test_eventually(bool (*holds)(void *context), void *context, int64_t limit_ms);

#endif
