// SPDX-License-Identifier: Apache-2.0
#include "server/operate/denied.h"

static bool put(char *into, size_t bytes, struct text text) {
    if (text.len >= bytes) return false;
    if (text.len > 0) memcpy(into, text.ptr, text.len);
    into[text.len] = '\0';
    return true;
}

void denied_add(struct denied *denied, const struct denied_write *write) {
    size_t at = (denied->first + denied->count) % DENIED_LIMIT;
#define PUT(member) put(denied->items[at].member, sizeof denied->items[at].member, write->member)
    bool fits = denied->count < DENIED_LIMIT && PUT(namespace) && PUT(claim) && PUT(claim_uid) &&
                PUT(pod_uid) && PUT(node) && PUT(note);
#undef PUT
    if (fits)
        denied->count++;
    else
        denied->dropped_count++;
}

bool denied_take(struct denied *denied, struct denied_write *ret_write) {
    size_t at = denied->first;
    if (denied->count == 0) return false;
    *ret_write = (struct denied_write){.namespace = text_of(denied->items[at].namespace),
                                       .claim = text_of(denied->items[at].claim),
                                       .claim_uid = text_of(denied->items[at].claim_uid),
                                       .pod_uid = text_of(denied->items[at].pod_uid),
                                       .node = text_of(denied->items[at].node),
                                       .note = text_of(denied->items[at].note)};
    denied->first = (at + 1) % DENIED_LIMIT;
    denied->count--;
    return true;
}
