// SPDX-License-Identifier: Apache-2.0
// Judges an object written as JSON, for tests of rules: decodes it strictly and runs the registry.
#ifndef DRAWBRIDGE_UNIT_JUDGE_H
#define DRAWBRIDGE_UNIT_JUDGE_H

#include "validators/registry/registry.h"

struct judged {
    struct arena arena;
    struct object object;
    struct object old;
    struct rule_input input;      // may be changed between judged_init and judged_run
    struct finding_list findings; // of the one rule that was asked for, sorted
};

// What it does: decodes an object; the input is that of `drawbridge check`. Fails the test when the bytes are
// no object. Owner: release with judged_release.
void judged_init(struct judged *judged, const char *json, int minor);

// What it does: makes the input an UPDATE of this old object.
void judged_set_old(struct judged *judged, const char *json);

// What it does: runs the rules of a phase and keeps the findings of this rule alone; rules that are off by
// default are on. Fails the test when memory ran out.
void judged_run(struct judged *judged, const char *rule, enum rule_phase phase);

// The only finding; fails the test when there is none or more than one.
const struct finding *judged_only(const struct judged *judged);

void judged_release(struct judged *judged);

// What it does: a slice of the driver gpu.example.com on node-1 with one device; device is the inside of its
// JSON object, without the name. Owner: static buffer, good until the next call.
const char *slice_with(const char *device);

// What it does: as slice_with, with one mapping entry in the form of this minor. Quantities are JSON values,
// with their quotes. A key of NULL makes a fixed footprint.
const char *slice_mapping(int minor, const char *resource, const char *key, const char *multiplier,
                          const char *more);

#endif
