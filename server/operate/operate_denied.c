// SPDX-License-Identifier: Apache-2.0
// Events about what this replica denied. Every replica writes those of its own denials: nobody else knows of
// them, so they are not written twice.
//
// Reviews may be forged by whoever reaches the port, so a denial is told only where the ledger has the Pod
// and the claim under the UIDs of the review.
#include "server/operate/operate_state.h"

#define DENIED_A_TICK 10

// The ring's texts are copied: more denials may come while Events are made.
static bool take(struct operate *operate, struct arena *arena, struct denied_write *ret_write) {
    struct denied_write write;
    pthread_mutex_lock(&operate->mutex);
    bool taken = denied_take(&operate->denied, &write);
    if (taken)
        *ret_write = (struct denied_write){.namespace = text_copy(arena, write.namespace),
                                           .claim = text_copy(arena, write.claim),
                                           .claim_uid = text_copy(arena, write.claim_uid),
                                           .pod_uid = text_copy(arena, write.pod_uid),
                                           .node = text_copy(arena, write.node),
                                           .note = text_copy(arena, write.note)};
    pthread_mutex_unlock(&operate->mutex);
    return taken && !arena->poisoned;
}

static void tell(struct operate *operate, struct arena *arena, const struct denied_write *write,
                 const struct survey_consumer *consumer) {
    struct text note =
        text_format(arena, "claim %.*s (%.*s) for Pod %.*s was denied: %.*s", TEXT_ARG(write->claim),
                    TEXT_ARG(write->claim_uid), TEXT_ARG(consumer->pod), TEXT_ARG(write->note));
    struct event event = {.api_version = "v1",
                          .kind = "Pod",
                          .namespace = write->namespace,
                          .name = consumer->pod,
                          .uid = write->pod_uid,
                          .warning = true,
                          .reason = "ClaimDenied",
                          .action = "Deny",
                          .note = note};
    const char *identity = operate->leader.identity;
    event_queue_add(&operate->denied_events, &event, identity, operate_wall_ms());
    event.api_version = "resource.k8s.io/v1";
    event.kind = "ResourceClaim";
    event.name = write->claim;
    event.uid = write->claim_uid;
    event_queue_add(&operate->denied_events, &event, identity, operate_wall_ms());
    if (consumer->node.len == 0) return;
    event.api_version = "v1";
    event.kind = "Node";
    event.namespace = (struct text){NULL, 0};
    event.name = consumer->node;
    event.uid = (struct text){NULL, 0};
    event_queue_add(&operate->denied_events, &event, identity, operate_wall_ms());
}

void operate_tell_denials(struct operate *operate) {
    struct denied_write write;
    struct arena arena;
    arena_init(&arena, SURVEY_MEMORY_BYTES);
    for (int i = 0; i < DENIED_A_TICK && take(operate, &arena, &write); i++) {
        struct survey_consumer consumer;
        if (survey_consumer(operate->store, &write, &arena, &consumer))
            tell(operate, &arena, &write, &consumer);
        arena_clear(&arena);
    }
    arena_release(&arena);
}
