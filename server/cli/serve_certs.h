// SPDX-License-Identifier: Apache-2.0
// The certificate that `serve` shows: of files, or issued from the CA in a Secret; what health and metrics
// show of the latter.
#ifndef DRAWBRIDGE_CLI_SERVE_CERTS_H
#define DRAWBRIDGE_CLI_SERVE_CERTS_H

#include "certs/source.h"
#include "server/cli/serve_operate.h"
#include "server/operate/serving.h"

struct serve_certs {
    struct source *source;
    struct serving *serving; // NULL: files
    struct health *health;
    struct collectors *collectors;
};

// What it does: makes the source, and follows the files where there are any. Owner: the caller,
// serve_certs_release, also after a failure. Errors: as source_new.
bool serve_certs_init(struct serve_certs *certs, const struct serve_settings *settings, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: starts to issue, where there are no files. Errors: FAULT_USAGE, FAULT_IO, FAULT_MEMORY.
bool serve_certs_start(struct serve_certs *certs, const struct serve_settings *settings,
                       struct serve_operate *operate, struct health *health, struct collectors *collectors,
                       struct fault *fault) __attribute__((warn_unused_result));

// What it does: ends what serve_certs_start began, before the leader is stopped. The source stays.
void serve_certs_stop(struct serve_certs *certs, struct serve_operate *operate);

void serve_certs_release(struct serve_certs *certs);

#endif
