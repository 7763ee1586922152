// SPDX-License-Identifier: Apache-2.0
// An AdmissionReview as a plain struct, read straight from the bytes of the request.
// Source: k8s.io/api v0.36.3 admission/v1/types.go, AdmissionReview and AdmissionRequest.
#ifndef DRAWBRIDGE_REVIEW_REVIEW_H
#define DRAWBRIDGE_REVIEW_REVIEW_H

#include "server/codec/decode.h"
#include "validators/rules/rule.h"

#define REVIEW_UID_LIMIT_BYTES 128u

// Why a body is not a review. All but the last two are the caller's doing and end in 400.
enum review_error {
    REVIEW_FINE,
    REVIEW_NOT_JSON,      // not one well-formed JSON value
    REVIEW_DUPLICATE_KEY, // a key is repeated outside raw subtrees
    REVIEW_VERSION,       // not admission.k8s.io/v1 AdmissionReview, or a response
    REVIEW_NO_REQUEST,    // `request` is absent or not an object
    REVIEW_BAD_UID,       // absent, not text, empty or too long
    REVIEW_TOO_COMPLEX,   // nesting or keys beyond our own bounds
    REVIEW_NO_MEMORY,
    REVIEW_ERROR_COUNT
};

enum review_resource {
    RESOURCE_OTHER,
    RESOURCE_SLICES,
    RESOURCE_CLAIMS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_DEVICE_CLASSES,
    RESOURCE_PODS,
    RESOURCE_COUNT
};

enum review_operation {
    REVIEW_OTHER,
    REVIEW_CREATE,
    REVIEW_UPDATE,
    REVIEW_DELETE,
    REVIEW_CONNECT,
    REVIEW_OPERATION_COUNT
};

// Words of metric labels (static text): "resourceslices", "CREATE", …; "other" for what is not known.
const char *review_resource_name(enum review_resource resource);
const char *review_operation_name(enum review_operation operation);

struct group_version_name {
    struct text group;
    struct text version;
    struct text name; // kind or resource
};

struct review {
    struct text api_version;
    struct text kind;
    bool request_set;
    struct text uid; // empty when absent
    struct group_version_name object_kind;
    struct group_version_name resource_name;
    struct text subresource;
    struct text name;
    struct text namespace;
    struct text operation_name;
    struct text user_name;
    bool dry_run;
    bool scope_only; // set by who asks: nothing is judged but whether the object belongs into the canary
    enum review_operation operation;
    enum review_resource resource;
    bool object_set; // present, not null, and decoded because it is judged
    bool old_set;
    struct object object;
    struct object old;
    size_t unknown_count; // unknown fields that were ignored
};

// True when the review is about something that rules judge: CREATE or UPDATE of a kind we know through its
// main resource, CREATE of a Pod, UPDATE of a claim's status. All else is allowed.
bool review_is_judged(const struct review *review);

// What it does: reads a body. Objects are decoded only when the review is judged, and with_objects is set or
// it is a Pod; texts are views of the body or of the arena. What the API server would refuse while decoding
// the object is appended to findings. minor: the Kubernetes minor. On an error *review holds what was read
// before it, the uid included when it was readable. Thread: any.
enum review_error review_decode(struct arena *arena, struct text body, int minor, bool with_objects,
                                struct review *review, struct finding_list *findings);

#endif
