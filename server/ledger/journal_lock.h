// SPDX-License-Identifier: Apache-2.0
// One server per ledger folder: a lock that ends with the process, whatever ends it.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_LOCK_H
#define DRAWBRIDGE_LEDGER_JOURNAL_LOCK_H

#include "validators/core/fault.h"

#define JOURNAL_LOCK_NAME "drawbridge.lock"

// What it does: takes the lock of a folder, which is made, 0700, when it is not there. Owner: the caller,
// journal_lock_release. Errors: FAULT_STATE another process has it, named by its pid; FAULT_IO.
bool journal_lock_take(const char *folder, int *ret_fd, struct fault *fault)
    __attribute__((warn_unused_result));
void journal_lock_release(int fd); // negative: none

#endif
