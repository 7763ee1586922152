// SPDX-License-Identifier: Apache-2.0
#include "server/feed/version_watch.h"

void version_watch_init(struct version_watch *watch, int minor, int64_t now_ms) {
    *watch = (struct version_watch){.minor = minor, .next_ms = now_ms + VERSION_ASK_MS, .asked_ms = now_ms};
}

bool version_watch_is_due(const struct version_watch *watch, int64_t now_ms) {
    return now_ms >= watch->next_ms;
}

void version_watch_disturb(struct version_watch *watch, int64_t now_ms) {
    int64_t next_ms = now_ms + VERSION_SOON_MS;
    if (next_ms < watch->asked_ms + VERSION_GAP_MS) next_ms = watch->asked_ms + VERSION_GAP_MS;
    if (next_ms < watch->next_ms) watch->next_ms = next_ms;
}

bool version_watch_answer(struct version_watch *watch, int minor, int64_t now_ms) {
    watch->asked_ms = now_ms;
    watch->next_ms = now_ms + (minor == watch->minor ? VERSION_ASK_MS : VERSION_CONFIRM_MS);
    if (minor == 0) return false;
    if (minor == watch->minor) {
        watch->other = 0;
        watch->count = 0;
        return false;
    }
    if (minor != watch->other) watch->count = 0;
    watch->other = minor;
    watch->count++;
    return watch->count >= VERSION_CONFIRM_COUNT;
}
