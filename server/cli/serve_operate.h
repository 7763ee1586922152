// SPDX-License-Identifier: Apache-2.0
// What `serve` does beside answering: the thread that looks after nodes over the store, and its metrics.
#ifndef DRAWBRIDGE_CLI_SERVE_OPERATE_H
#define DRAWBRIDGE_CLI_SERVE_OPERATE_H

#include "server/cli/serve_audit.h"
#include "server/cli/serve_feed.h"
#include "server/operate/leader.h"
#include "server/operate/operate.h"
#include "server/review/judge.h"

struct serving;

struct serve_operate {
    struct operate *operate; // NULL: there is no feed
    struct collectors *collectors;
    struct serving *serving; // whose writes are shown too; NULL: certificates come from files
};

// What it does: starts that thread where there is a feed; nothing for "none". What operators do is kept by
// `audit`. Owner: the caller, serve_operate_stop, also after a failure; before the audit and the feed are
// stopped. Errors: FAULT_USAGE, FAULT_IO, FAULT_MEMORY.
bool serve_operate_start(struct serve_operate *operate, const struct serve_settings *settings,
                         const struct serve_feed *feed, struct serve_audit *audit,
                         struct collectors *collectors, struct fault *fault)
    __attribute__((warn_unused_result));
void serve_operate_stop(struct serve_operate *operate);

// What it does: the namespace of this Pod, "default" where there is none.
void serve_operate_namespace(char ret_namespace[LEADER_NAMESPACE_BYTES]);

// What it does: notes what a review came to. Sorts the findings. Thread: any, while it runs.
void serve_operate_note(struct serve_operate *operate, struct judgement *judgement, struct arena *arena);

#endif
