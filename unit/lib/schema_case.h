// SPDX-License-Identifier: Apache-2.0
// One-line schema cases: an object as text, and the fields and reasons that must be found in it.
#ifndef DRAWBRIDGE_UNIT_SCHEMA_CASE_H
#define DRAWBRIDGE_UNIT_SCHEMA_CASE_H

#include "validators/model/object.h"
#include "validators/schema/resource_slice.h"

struct schema_case {
    int minor;
    enum resource_version version;
    const char *object; // JSON with ' for "; see the functions for which part of the object
    const char *old;    // likewise, of the object before; NULL when it is created
    const char *want;   // "field Reason, field Reason": sorted, each once; "" when nothing is found
    enum slice_features features;
};

// What they do: judge one case and fail the running test when something else is found. `object` is the device
// of a slice (in the form of the version); the spec of a slice; the whole slice; the spec of a class; the
// whole class.
void expect_device(int line, struct schema_case test);
void expect_slice_spec(int line, struct schema_case test);
void expect_slice(int line, struct schema_case test);
void expect_class_spec(int line, struct schema_case test);
void expect_class(int line, struct schema_case test);

#define EXPECT(kind, ...) expect_##kind(__LINE__, (struct schema_case){__VA_ARGS__, FEATURES_BY_DEFAULT})
// The same, on a server that has every feature on that the slice uses.
#define EXPECT_IN_USE(kind, ...) expect_##kind(__LINE__, (struct schema_case){__VA_ARGS__, FEATURES_IN_USE})

// N copies of a text in one string with commas between them; %d in it is the copy's number. Owner: the
// running test.
const char *repeated(const char *format, int count);

// printf into such a string.
const char *joined(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
