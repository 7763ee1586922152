// SPDX-License-Identifier: Apache-2.0
// The account of request bodies in flight. A body is charged once, from its Content-Length, before a byte of
// it is read; a large body that does not fit is shed. Small ones have a reserve of their own and always fit.
#ifndef DRAWBRIDGE_HTTP_ACCOUNT_H
#define DRAWBRIDGE_HTTP_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct account {
    _Atomic size_t small_bytes; // charged by small bodies
    _Atomic size_t large_bytes; // charged by the others
    size_t small_limit_bytes;   // a body up to here is small
    size_t large_cap_bytes;     // what large bodies may charge together
};

// What it does: an account of cap_bytes in all, of which the small bodies of so many connections are set
// aside, but never more than half.
void account_init(struct account *account, size_t cap_bytes, size_t small_limit_bytes, size_t connections);

// What it does: charges a body. False: it does not fit and must be shed. Thread: any.
bool account_charge(struct account *account, size_t bytes) __attribute__((warn_unused_result));

// Gives back what was charged.
void account_release(struct account *account, size_t bytes);

// What is charged now.
size_t account_used(const struct account *account);

#endif
