// SPDX-License-Identifier: Apache-2.0
// Bodies of AdmissionReviews for tests.
#include "unit/lib/review_body.h"

static const char *or_null(const char *json) {
    return json == NULL ? "null" : json;
}

struct text review_body(struct arena *arena, const struct review_parts *parts) {
    struct text subresource = {"", 0};
    if (parts->subresource != NULL)
        subresource = text_format(arena, "\"subResource\":\"%s\",", parts->subresource);
    return text_format(
        arena,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"
        "v1\",\"request\":{\"uid\":%s,\"kind\":{"
        "\"group\":\"resource.k8s.io\",\"version\":\"v1\",\"kind\":\"%s\"},\"resource\":{\"group\":"
        "\"resource.k8s.io\",\"version\":\"v1\",\"resource\":\"%s\"},%.*s\"name\":\"thing\",\"namespace\":"
        "\"team\",\"operation\":\"%s\",\"userInfo\":{\"username\":\"jane\",\"groups\":[\"g\"]},\"object\":%s,"
        "\"oldObject\":%s,\"dryRun\":false%s}}",
        parts->uid == NULL ? "\"u-1\"" : parts->uid, parts->kind, parts->resource, TEXT_ARG(subresource),
        parts->operation == NULL ? "CREATE" : parts->operation, or_null(parts->object),
        or_null(parts->old_object), parts->more == NULL ? "" : parts->more);
}

struct text review_claim(struct arena *arena, const char *parameters) {
    return text_format(
        arena,
        "{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"name\":\"thing\","
        "\"namespace\":\"team\",\"uid\":\"c-1\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"gpu\","
        "\"exactly\":{\"deviceClassName\":\"gpus\",\"allocationMode\":\"ExactCount\",\"count\":1}}],"
        "\"config\":"
        "[{\"opaque\":{\"driver\":\"gpu.example.com\",\"parameters\":%s}}]}},\"status\":{}}",
        parameters == NULL ? "{\"a\":1}" : parameters);
}

struct text review_slice(struct arena *arena, const char *resource, const char *multiplier) {
    return text_format(
        arena,
        "{\"kind\":\"ResourceSlice\",\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"name\":\"thing\"},"
        "\"spec\":{\"driver\":\"gpu.example.com\",\"pool\":{\"name\":\"node-1\",\"generation\":1,"
        "\"resourceSliceCount\":1},\"nodeName\":\"node-1\",\"devices\":[{\"name\":\"gpu-0\","
        "\"nodeAllocatableResourceMappings\":{\"%s\":{\"allocationMultiplier\":\"%s\"}}}]}}",
        resource, multiplier);
}
