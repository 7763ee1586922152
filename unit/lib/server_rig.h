// SPDX-License-Identifier: Apache-2.0
// An admission server of its own for one test: certificates, judge, health, metrics, on ports that the system
// chooses.
#ifndef DRAWBRIDGE_UNIT_SERVER_RIG_H
#define DRAWBRIDGE_UNIT_SERVER_RIG_H

#include "server/http/server.h"
#include "unit/lib/tls_client.h"

struct server_rig {
    const char *folder; // tls.crt, tls.key, ca.crt, client.crt, client.key
    struct judge judge;
    struct source *source;
    struct health health;
    struct collectors collectors;
    struct http_options options; // may be changed between server_rig_init and server_rig_start
    struct http_server *server;
};

// What it does: issues certificates (the caller's is from the same CA, for the name kube-apiserver) and fills
// the options: two threads, short deadlines, real judging. Fails the running test when it cannot.
void server_rig_init(struct server_rig *rig);
void server_rig_start(struct server_rig *rig);
void server_rig_stop(struct server_rig *rig);

// A connection to the server. Fails the running test when there is none.
struct tls_client *server_rig_connect(const struct server_rig *rig);

// What it does: GETs a page of the status port. Returns the status; the body is a NUL-terminated static
// buffer, good until the next call.
int server_rig_status(const struct server_rig *rig, const char *path, const char **ret_body);

// What it does: the value of one series ("drawbridge_connections"); -1 when it is not there.
double server_rig_metric(const struct server_rig *rig, const char *series);

#endif
