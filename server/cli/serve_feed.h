// SPDX-License-Identifier: Apache-2.0
// What `serve` knows of the cluster: the store, the feed that fills it, and what health and metrics show of
// both.
#ifndef DRAWBRIDGE_CLI_SERVE_FEED_H
#define DRAWBRIDGE_CLI_SERVE_FEED_H

#include "server/cli/serve_ledger.h"
#include "server/config/settings.h"
#include "server/feed/feed_state.h"
#include "server/feed/kubeconfig.h"
#include "server/http/exposition.h"
#include "server/http/health.h"
#include "server/ledger/store.h"
#include "server/review/gate.h"

struct dirfeed;
struct kube;

struct serve_feed {
    struct store *store; // NULL: there is no feed
    struct dirfeed *dirfeed;
    struct kube *kube;
    struct gate *gate; // whose minor the cluster tells
    struct feed_state state;
    struct gate_store gate_store; // for the gate, over the store
    struct serve_ledger ledger;   // journal and control socket
    struct health *health;
    struct collectors *collectors;
    bool begun;
};

// What it does: makes the store and starts the feed that --feed names, and gives the gate its view of it;
// neither for "none". Where no minor was named, the gate takes that of the cluster as soon as it is known.
// Owner: the caller, serve_feed_stop, also after a failure; all pointers must outlive it. Errors:
// FAULT_USAGE, FAULT_IO, FAULT_MEMORY.
bool serve_feed_start(struct serve_feed *feed, const struct serve_settings *settings, struct gate *gate,
                      struct health *health, struct collectors *collectors, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: how --feed kube reaches its API server. Owner: the caller, kubeconfig_release. Errors:
// FAULT_USAGE, FAULT_IO.
bool serve_feed_kubeconfig(const struct serve_settings *settings, struct kubeconfig *ret_config,
                           struct fault *fault) __attribute__((warn_unused_result));

// Ends the feed, then the store. The gate must not be asked any more. A zeroed one is allowed.
void serve_feed_stop(struct serve_feed *feed);

#endif
