// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/report.h"
#include "server/ledger/state.h"

int64_t ledger_mapping_age_ms(const struct ledger *ledger) {
    int64_t oldest_ms = 0;
    size_t bucket = 0;
    for (struct link *link = index_each(&ledger->pools, &bucket, NULL); link != NULL;
         link = index_each(&ledger->pools, &bucket, link)) {
        const struct pool_entry *pool = LINK_OWNER(link, struct pool_entry, by_key);
        if (pool->slices == NULL || !pool->had_mappings || pool->changed_ms == 0) continue;
        if (oldest_ms == 0 || pool->changed_ms < oldest_ms) oldest_ms = pool->changed_ms;
    }
    if (oldest_ms == 0) return -1;
    return ledger->now_ms > oldest_ms ? ledger->now_ms - oldest_ms : 0;
}
