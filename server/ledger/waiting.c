// SPDX-License-Identifier: Apache-2.0
// One list, kept as Pods come and go.
#include "server/ledger/waiting.h"

#include "server/ledger/state.h"

bool waiting_has_gate(const struct pod *object) {
    for (size_t i = 0; i < object->scheduling_gates.count; i++)
        if (text_equal(object->scheduling_gates.items[i], TEXT(WAITING_GATE))) return true;
    return false;
}

void waiting_enter(struct ledger *ledger, struct pod_entry *pod) {
    if (!pod->live || pod->node != NULL || pod->claim_count == 0) return;
    pod->waits = true;
    pod->waiting_previous = NULL;
    pod->waiting_next = ledger->waiting_first;
    if (pod->waiting_next != NULL) pod->waiting_next->waiting_previous = pod;
    ledger->waiting_first = pod;
}

void waiting_leave(struct ledger *ledger, struct pod_entry *pod) {
    if (!pod->waits) return;
    pod->waits = false;
    if (pod->waiting_next != NULL) pod->waiting_next->waiting_previous = pod->waiting_previous;
    if (pod->waiting_previous != NULL)
        pod->waiting_previous->waiting_next = pod->waiting_next;
    else
        ledger->waiting_first = pod->waiting_next;
}

bool ledger_waiting_pods(const struct ledger *ledger, size_t skip, size_t limit, struct arena *arena,
                         struct waiting_pod_list *ret_pods) {
    struct waiting_pod_list list = {.items = NULL};
    const struct pod_entry *pod = ledger->waiting_first;
    for (; pod != NULL && skip > 0; skip--) pod = pod->waiting_next;
    for (; pod != NULL && list.count < limit; pod = pod->waiting_next) {
        struct waiting_pod *item = LIST_APPEND(arena, &list);
        if (item == NULL) return false;
        *item = (struct waiting_pod){pod->namespace->text, pod->name->text, pod->uid->text, pod->gated};
    }
    list.more = pod != NULL;
    *ret_pods = list;
    return true;
}
