// SPDX-License-Identifier: Apache-2.0
// The names that constraints, configuration and allocations may refer to: "request" and "request/subrequest".
#ifndef DRAWBRIDGE_SCHEMA_REQUEST_NAMES_H
#define DRAWBRIDGE_SCHEMA_REQUEST_NAMES_H

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"
#include "validators/schema/key_index.h"

#define DEVICE_REQUESTS_MAX_COUNT 32u

struct request_names {
    struct key_index requests;
    struct key_index subrequests; // grouped by the position of their request
};

// What it does: gathers the names of a claim's requests and subrequests. Owner: the arena.
// Source: kubernetes v1.36.3 pkg/apis/resource/validation/validation.go, gatherRequestNames. Of requests with
// the same name the last one counts.
void request_names_init(struct request_names *names, const struct device_claim *claim, struct arena *arena);

// What it does: one Invalid finding when name refers to no request.
// Source: as above, validateRequestNameRef.
void schema_request_reference(const struct request_names *names, struct text name, const struct path *path,
                              struct finding_list *findings);

// What it does: checks a list of references: TooMany, else Invalid and Duplicate of its items.
void schema_request_references(const struct request_names *names, const struct text_list *references,
                               const struct path *path, struct finding_list *findings);

#endif
