// SPDX-License-Identifier: Apache-2.0
// `drawbridge audit`: what is in a cluster, as drawbridge would judge it. Objects come from files or from an
// API server into a ledger and a list (audit_world), each is judged as if it were written now (audit_judge),
// and classes, drivers and nodes are listed (audit_survey).
#ifndef DRAWBRIDGE_CLI_AUDIT_H
#define DRAWBRIDGE_CLI_AUDIT_H

#include <stdio.h>

#include "server/cli/options.h"
#include "server/ledger/report.h"
#include "validators/core/finding.h"
#include "validators/model/object.h"

// An object that is judged or listed.
struct audit_item {
    enum object_kind kind;
    struct text json;
    const char *file; // NULL: from an API server
};
struct audit_item_list {
    struct audit_item *items;
    size_t count;
};

struct audit_gate {
    struct text name;
    bool enabled;
};
struct audit_gate_list {
    struct audit_gate *items;
    size_t count;
};

// Where everything is.
struct audit_world {
    struct arena arena; // texts and lists of the whole run
    struct ledger *ledger;
    int minor;                    // by which is judged
    struct text version;          // of the API server; empty off line
    bool online;                  // an API server was asked
    bool gates_told;              // it said which feature gates are on
    struct audit_gate_list gates; // those that matter here
    bool taint_rules_served;      // DeviceTaintRules
    struct audit_item_list items;
    size_t unreadable_count; // files and objects that could not be read; stderr says which
    int64_t newest_version;  // that was given to an object of a file
};

// ---- audit_world.c

// What it does: an empty world. Owner: the caller, audit_world_release, also after a failure. Errors:
// FAULT_IO, FAULT_MEMORY.
bool audit_world_init(struct audit_world *world, int minor, struct fault *fault)
    __attribute__((warn_unused_result));
void audit_world_release(struct audit_world *world);

// What it does: takes one object: into the ledger, and into the list when it is of a kind that is judged.
// `json` has apiVersion and kind; a resourceVersion, where the ledger reads the kind. Errors: FAULT_INPUT,
// FAULT_MEMORY.
bool audit_world_add(struct audit_world *world, struct text json, const char *file, struct fault *fault)
    __attribute__((warn_unused_result));

// ---- audit_files.c, audit_cluster.c

// What they do: fill a world; lists of a kind that a server does not serve are empty. Errors: FAULT_USAGE,
// FAULT_UNREACHABLE, FAULT_IO, FAULT_INPUT, FAULT_MEMORY.
bool audit_read_files(struct audit_world *world, const struct options *options, struct fault *fault)
    __attribute__((warn_unused_result));
bool audit_read_cluster(struct audit_world *world, const struct options *options, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: an empty world, and fills it from what the flags name: -f or --feed dir:FOLDER, else the API
// server. Owner: the caller, audit_world_release, also after a failure. Errors: as above.
bool audit_is_from_files(const struct options *options);
bool audit_read(struct audit_world *world, const struct options *options, struct fault *fault)
    __attribute__((warn_unused_result));

// ---- what is found

// An object with findings.
struct audit_object {
    const char *kind; // static text
    struct text namespace;
    struct text name;
    struct text uid;
    struct text driver; // of a slice
    const char *file;
    bool denied;
    struct finding *findings; // sorted
    size_t finding_count;
};
struct audit_object_list {
    struct audit_object *items;
    size_t count;
};

// How a driver says what its devices take.
enum audit_form { FORM_NONE, FORM_V136, FORM_V137, FORM_BOTH };

struct audit_driver {
    struct text name;
    enum audit_form form;
    bool counts; // this cluster reads that form
    size_t slices, devices, mapped_devices;
    size_t nodes;
    struct text last_node; // while they are counted
};
struct audit_driver_list {
    struct audit_driver *items; // by name
    size_t count;
};

struct audit_class {
    struct text name;
    bool gated;
    bool named;         // by the policy
    struct text driver; // empty: it cannot be told
};
struct audit_class_list {
    struct audit_class *items; // by name
    size_t count;
};

struct audit_node {
    struct text name;
    bool ready;
    const char *state; // static text
    struct text_list causes;
    struct text_list reasons; // why not ready, beside the causes
    int kubelet_minor;        // 0: not told
    bool canary;
    size_t divergence_count;
    bool headroom_known;
    double headroom;      // percent that is free of cpu or memory, whichever is less
    struct text tightest; // of the two
};
struct audit_node_list {
    struct audit_node *items; // by name; those of drivers with mappings
    size_t count;
    size_t unmapped_count; // the others
};

struct audit_report {
    size_t judged_count;
    size_t denied_count, warned_count; // objects
    size_t roles_passed_over_count;    // that Kubernetes itself brings
    struct audit_object_list objects;  // as they came; rights of drivers last
    struct audit_driver_list drivers;
    struct audit_class_list classes;
    struct audit_node_list nodes;
};

// ---- audit_judge.c, audit_survey.c

// What it does: judges every item of the list. Owner: the world's arena. Errors: FAULT_MEMORY.
bool audit_judge(struct audit_world *world, struct audit_report *report, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: lists drivers, classes and nodes. Errors: FAULT_MEMORY.
bool audit_survey(struct audit_world *world, struct audit_report *report, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: decodes an item; its texts live in the arena. Errors: false and a fault.
bool audit_decode(const struct audit_world *world, const struct audit_item *item, struct arena *arena,
                  struct object *ret_object, struct finding_list *findings, struct fault *fault)
    __attribute__((warn_unused_result));

// ---- print_audit.c

void print_audit_json(FILE *out, const struct audit_world *world, const struct audit_report *report);
void print_audit_text(FILE *out, const struct audit_world *world, const struct audit_report *report);

#endif
