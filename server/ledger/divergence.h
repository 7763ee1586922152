// SPDX-License-Identifier: Apache-2.0
// Pod status read back: what the scheduler wrote that a Pod's claims take, against what they take by rights.
// Status is evidence, never the source.
#ifndef DRAWBRIDGE_LEDGER_DIVERGENCE_H
#define DRAWBRIDGE_LEDGER_DIVERGENCE_H

#include "server/ledger/report.h"
#include "server/ledger/state.h"

// What it does: appends the differences of one Pod, which stands on `node`. Errors: arena poisoned.
void divergence_of_pod(const struct ledger *ledger, const struct pod_entry *pod, bool all_settled,
                       struct arena *arena, struct divergence_report_list *list);

#endif
