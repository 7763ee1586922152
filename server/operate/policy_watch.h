// SPDX-License-Identifier: Apache-2.0
// What operators did, as the LedgerPolicy shows it: freezes, resumes and changed actions of rules, each told
// once when it is first seen, and what of the policy is refused. Pure: policies in, audit records out.
#ifndef DRAWBRIDGE_OPERATE_POLICY_WATCH_H
#define DRAWBRIDGE_OPERATE_POLICY_WATCH_H

#include <jansson.h>
#include <stdint.h>

#include "validators/model/policy.h"

// Zeroed: nothing was seen yet.
struct policy_watch {
    json_t *seen; // entries of the policy before; NULL: there was none before
};

// What it does: the entries of a policy (NULL: there is none), as audit records: {"action": "freeze" |
// "resume" | "rule" | "refused", "scope", "by", "at", "reason", …}. Owner: the caller. Errors: NULL, memory.
json_t *policy_watch_entries(const struct ledger_policy *policy);

// What it does: the records of what changed between the last entries and these, which it takes over. The
// first ones are all told, with "observed": "start". What is gone is told as "expired" or "lifted". Units:
// wall milliseconds. Owner: the caller. Errors: NULL, memory; the same is then told the next time.
json_t *policy_watch_step(struct policy_watch *watch, json_t *entries, int64_t now_ms);

void policy_watch_release(struct policy_watch *watch);

#endif
