// SPDX-License-Identifier: Apache-2.0
// Rule fixtures: unit/testdata/rules/<id>/{pass,fail}-<name>.json, each one object with the findings that it
// must give. Beside a fail case, <name>.want may hold the text of the messages.
#ifndef DRAWBRIDGE_UNIT_FIXTURE_H
#define DRAWBRIDGE_UNIT_FIXTURE_H

#include "validators/core/fault.h"
#include "validators/core/finding.h"

struct wanted_finding {
    struct text rule;
    struct text field;
    struct text reason;
};
struct wanted_list {
    struct wanted_finding *items;
    size_t count;
};

struct fixture {
    bool for_minor_36;
    bool for_minor_37;
    bool upstream_rejects;   // what the API server of these minors says
    struct wanted_list want; // beyond rule "schema"
    struct text object;      // raw JSON
};

// What it does: reads a fixture strictly. Owner: the arena. Errors: false and a fault that says what is
// wrong.
bool fixture_read(struct arena *arena, struct text json, struct fixture *ret_fixture, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
