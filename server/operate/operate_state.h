// SPDX-License-Identifier: Apache-2.0
// What the files of the thread share. Internal to them.
#ifndef DRAWBRIDGE_OPERATE_OPERATE_STATE_H
#define DRAWBRIDGE_OPERATE_OPERATE_STATE_H

#include <pthread.h>

#include "server/operate/denied.h"
#include "server/operate/event_queue.h"
#include "server/operate/leader.h"
#include "server/operate/operate.h"
#include "server/operate/pictures.h"
#include "server/operate/policy_watch.h"
#include "server/operate/survey.h"
#include "server/operate/taint_plan.h"
#include "server/operate/writer.h"

#define TAINT_PREFIX_BYTES 48u

struct operate {
    struct store *store;
    _Atomic int *minor;
    bool has_server; // else a folder is the control plane
    struct writer writer;
    struct leader leader;
    bool led; // at the last tick
    struct pictures pictures;
    size_t cursor;                         // in pictures: who is looked at next
    size_t rounds;                         // that are complete since this replica leads
    bool changed;                          // a node stands otherwise than before: plan taints now
    struct event_queue events;             // of the leader
    struct event_queue denied_events;      // of this replica
    json_t *taints;                        // rules that there are; NULL: not listed
    char taint_prefix[TAINT_PREFIX_BYTES]; // of the API that serves them; "": not served, or not known
    bool taints_told;                      // the log says that they are not served
    int64_t taints_listed_ms, taints_next_ms;
    int64_t pods_next_ms;
    size_t told_next; // of the plan for Pods
    int64_t policy_next_ms, prune_next_ms;
    struct survey_policy policy;
    struct policy_watch watch;
    void (*audit)(void *context, struct text json);
    void *audit_context;
    struct holds holds;
    struct denials denials;     // held with the mutex
    struct denied denied;       // held with the mutex
    struct operate_facts facts; // of the last tick; held with the mutex
    pthread_t thread;
    bool thread_runs;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stop;             // held with the mutex
    _Atomic bool stopping; // nothing new is begun
};

int64_t operate_wall_ms(void);

// Whether this replica may write at this moment. A folder has one replica.
bool operate_leads(const struct operate *operate);

// ---- operate_nodes.c: the survey, and NodeLedgers

// What it does: looks at the nodes whose turn it is, and at those that changed.
void operate_survey(struct operate *operate);
// What it does: writes NodeLedgers that are due, a few at a time.
void operate_write_nodes(struct operate *operate);

// ---- operate_taints.c

void operate_write_taints(struct operate *operate);

// ---- operate_pods.c: who is held, who may go on

void operate_look_at_pods(struct operate *operate);
// What it does: Events about what was not merged.
void operate_tell_rejections(struct operate *operate);

// ---- operate_denied.c

// What it does: makes Events of what this replica denied.
void operate_tell_denials(struct operate *operate);

// ---- operate_events.c

void operate_tell(struct operate *operate, const struct event *event);
// What it does: writes some of the Events that wait.
void operate_write_events(struct operate *operate);

#endif
