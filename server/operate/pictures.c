// SPDX-License-Identifier: Apache-2.0
// A sorted array: nodes come and go seldom.
#include "server/operate/pictures.h"

#include <stdlib.h>
#include <string.h>

// The place of a name, or where it would be.
static size_t place_of(const struct pictures *pictures, const char *name, bool *ret_there) {
    size_t low = 0, high = pictures->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(pictures->items[middle].name, name);
        if (order == 0) {
            *ret_there = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_there = false;
    return low;
}

struct picture *pictures_find(struct pictures *pictures, const char *name) {
    bool there;
    size_t at = place_of(pictures, name, &there);
    return there ? &pictures->items[at] : NULL;
}

struct picture *pictures_get(struct pictures *pictures, const char *name) {
    bool there;
    size_t at = place_of(pictures, name, &there), len = strlen(name);
    if (there) return &pictures->items[at];
    if (pictures->count == pictures->room) {
        size_t room = pictures->room == 0 ? 64 : pictures->room * 2;
        struct picture *grown = realloc(pictures->items, room * sizeof *grown);
        if (grown == NULL) return NULL;
        pictures->items = grown;
        pictures->room = room;
    }
    char *copy = malloc(len + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, name, len + 1);
    memmove(&pictures->items[at + 1], &pictures->items[at], (pictures->count - at) * sizeof *pictures->items);
    pictures->items[at] = (struct picture){.name = copy, .dirty = true};
    pictures->count++;
    return &pictures->items[at];
}

static void release(struct picture *picture) {
    free(picture->name);
    json_decref(picture->status);
    json_decref(picture->faulty);
    json_decref(picture->divergences);
}

void pictures_remove(struct pictures *pictures, struct picture *picture) {
    size_t at = (size_t)(picture - pictures->items);
    release(picture);
    memmove(picture, picture + 1, (pictures->count - at - 1) * sizeof *picture);
    pictures->count--;
}

void pictures_release(struct pictures *pictures) {
    for (size_t i = 0; i < pictures->count; i++) release(&pictures->items[i]);
    free(pictures->items);
    *pictures = (struct pictures){.items = NULL};
}
