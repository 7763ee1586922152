// SPDX-License-Identifier: Apache-2.0
// Comparison of our verdicts with those that real API servers gave to the same objects.
#ifndef DRAWBRIDGE_UNIT_PARITY_H
#define DRAWBRIDGE_UNIT_PARITY_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

// What is under test: judges one decoded object as a cluster of this minor would at its creation.
typedef void parity_judge(const struct object *object, int minor, struct finding_list *findings);

struct parity_counts {
    size_t compared_count;  // verdicts: two for each object
    size_t differing_count; // each is printed, up to a limit
    size_t cel_count;       // refused for their CEL expressions alone, which nobody compiles here
    size_t unjudged_count;  // the server gave no verdict (code 500)
};

#define PARITY_KIND(kind) (1u << (kind))

// What it does: compares every object of these kinds in a file of JSON lines, each
// {"id", "object", "verdict": {"1.36": {"allowed", "code", "causes": [{"field", "reason"}], "message"}, …}}.
// Objects are decoded strictly, byte for byte. A refusal with code 422 must have the same set of field and
// reason; with code 400 it is enough to refuse. Counts are added to.
void parity_compare(struct text file, unsigned kinds, parity_judge *judge, struct parity_counts *counts);

// The same of an update: old is the stored object; status: the write is one of the status alone.
typedef void parity_update_judge(const struct object *object, const struct object *old, bool status,
                                 int minor, struct finding_list *findings);

// What it does: as parity_compare, for lines that also have "oldObject" and may have "subresource". Each kind
// of line is passed over by the other function.
void parity_compare_updates(struct text file, unsigned kinds, parity_update_judge *judge,
                            struct parity_counts *counts);

// What it does: compares schema.jsonl, and every *.jsonl file in $DRAWBRIDGE_ORACLE when that is set. Fails
// the running test on a difference, or when nothing was compared.
void parity_expect(unsigned kinds, parity_judge *judge);

// What they do: compare one file below the source tree, and updates also with $DRAWBRIDGE_ORACLE. Fail the
// running test as parity_expect does.
void parity_expect_file(const char *relative, unsigned kinds, parity_judge *judge);
void parity_expect_updates(const char *relative, unsigned kinds, parity_update_judge *judge);

#endif
