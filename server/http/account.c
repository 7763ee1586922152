// SPDX-License-Identifier: Apache-2.0
// Charging request bodies, with atomics only.
#include "server/http/account.h"

void account_init(struct account *account, size_t cap_bytes, size_t small_limit_bytes, size_t connections) {
    size_t reserve_bytes;
    if (__builtin_mul_overflow(small_limit_bytes, connections, &reserve_bytes) ||
        reserve_bytes > cap_bytes / 2)
        reserve_bytes = cap_bytes / 2;
    atomic_init(&account->small_bytes, 0);
    atomic_init(&account->large_bytes, 0);
    account->small_limit_bytes = small_limit_bytes;
    account->large_cap_bytes = cap_bytes - reserve_bytes;
}

bool account_charge(struct account *account, size_t bytes) {
    if (bytes <= account->small_limit_bytes) {
        atomic_fetch_add_explicit(&account->small_bytes, bytes, memory_order_relaxed);
        return true;
    }
    size_t used = atomic_load_explicit(&account->large_bytes, memory_order_relaxed);
    do {
        // One body always fits when it is alone, whatever the settings are: shedding must end by itself.
        bool fits = used <= account->large_cap_bytes && bytes <= account->large_cap_bytes - used;
        if (used > 0 && !fits) return false;
    } while (!atomic_compare_exchange_weak_explicit(&account->large_bytes, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void account_release(struct account *account, size_t bytes) {
    atomic_fetch_sub_explicit(bytes <= account->small_limit_bytes ? &account->small_bytes
                                                                  : &account->large_bytes,
                              bytes, memory_order_relaxed);
}

size_t account_used(const struct account *account) {
    return atomic_load_explicit(&account->small_bytes, memory_order_relaxed) +
           atomic_load_explicit(&account->large_bytes, memory_order_relaxed);
}
