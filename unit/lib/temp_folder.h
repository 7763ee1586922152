// SPDX-License-Identifier: Apache-2.0
// A folder of one test, and files in it.
#ifndef DRAWBRIDGE_UNIT_TEMP_FOLDER_H
#define DRAWBRIDGE_UNIT_TEMP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/core/text.h"

struct temp_folder {
    char path[256];
};

// Fails the running test when there is no room.
struct temp_folder temp_folder_new(void);

// Removes it with its files and folders.
void temp_folder_remove(const struct temp_folder *folder);

// A path in it. Owner: static buffers, good for the next three calls.
const char *temp_path(const struct temp_folder *folder, const char *name);

// Fails the running test when the file cannot be written.
void temp_write(const char *path, struct text bytes);

// How many names in it begin so.
size_t temp_count(const struct temp_folder *folder, const char *prefix);

#endif
