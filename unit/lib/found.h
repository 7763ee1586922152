// SPDX-License-Identifier: Apache-2.0
// What a test expects to be found in a plain struct.
#ifndef DRAWBRIDGE_UNIT_FOUND_H
#define DRAWBRIDGE_UNIT_FOUND_H

#include "validators/core/finding.h"

// A list of findings with an arena of its own. Fails the running test when it goes wrong.
struct found {
    struct arena arena;
    struct finding_list findings;
};

void found_init(struct found *found);
void found_release(struct found *found);

// What it does: compares the findings with "field Reason, field Reason": sorted, each once, "" for none, and
// without "FieldValue" before the reason. Every finding must say what is wrong. Empties the list.
void found_expect(struct found *found, int line, const char *want);

#define FOUND(found, want) found_expect((found), __LINE__, (want))

#endif
