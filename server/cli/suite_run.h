// SPDX-License-Identifier: Apache-2.0
// Running the cases of a suite.
#ifndef DRAWBRIDGE_CLI_SUITE_RUN_H
#define DRAWBRIDGE_CLI_SUITE_RUN_H

#include "server/cli/suite_world.h"

struct suite_result {
    const struct suite_case *one;
    bool passed;
    struct text path;    // of the step that failed
    struct text message; // why; empty when it passed
};

// What it does: runs one case. Everything it needs comes from the arena, which the caller clears afterwards.
// Errors: a result that did not pass.
void suite_run_case(struct arena *arena, const struct suite *suite, const struct suite_case *one,
                    struct suite_result *ret_result);

// What it does: asks for a review as a client would and compares the answer. Errors: false; *ret_why says
// what differs.
bool suite_run_review(struct suite_world *world, const struct suite_review *review,
                      const struct suite_want *want, struct text *ret_why)
    __attribute__((warn_unused_result));

// What it does: tells whether everything in `want` is in `have`: members of objects, elements of lists in
// their order, equal scalars; an empty list asks for an empty one. Errors: false; *ret_path is the place in
// `want`, below `path`.
bool suite_json_holds(struct arena *arena, struct text want, struct text have, struct text path,
                      struct text *ret_path) __attribute__((warn_unused_result));

#endif
