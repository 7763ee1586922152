// SPDX-License-Identifier: Apache-2.0
// One decoder, four doors: webhook body, watch frame, replay line, `check` document. Only the envelope
// readers differ.
//
// All served versions end in one model, converted as the API server converts them (v1beta1: `basic` and the
// flat request fields; an empty nodeName and a false allNodes of a slice are absent).
//
// Defaults are not filled in: the model has what was written, and who judges applies what the API server
// would have put there. Those are: allocationMode ExactCount and count 1 (in v1beta1 only for a request with
// a deviceClassName), operator Equal of a toleration, timeAdded now of a taint, allocationMultiplier 1 of a
// v1.36 mapping.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/{v1,v1beta2,v1beta1}/{defaults,conversion}.go.
//
// Fields that the minor does not know are passed over as the API server does, but for the two forms of
// node-allocatable resources, which are always read.
#ifndef DRAWBRIDGE_CODEC_DECODE_H
#define DRAWBRIDGE_CODEC_DECODE_H

#include "validators/core/json_reader.h"
#include "validators/model/object.h"

struct decode_options {
    enum json_mode mode;
    int minor; // 36, 37, …; a newer one is read as the newest known
};

// What it does: reads apiVersion and kind wherever they stand, then the object. Texts of *ret_object are
// views of json or of the arena; both must outlive it. Kinds that nobody judges become KIND_OTHER with their
// names filled. Errors: false and a fault when the bytes are not one well-formed JSON object, when a typed
// object repeats a key in WIRE mode, or when memory ran out. What the API server would refuse while decoding
// (wrong types, bad quantities, and in STRICT mode unknown and duplicate fields) are findings of rule
// "schema", not faults.
bool decode_object(struct arena *arena, struct text json, const struct decode_options *options,
                   struct object *ret_object, struct finding_list *findings, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: reads an object of a known kind in place, from a reader that stands at its value. For
// envelopes (AdmissionReview, watch frames, Lists) whose kind was read before. Errors: sticky in the reader.
void decode_object_at(struct json_reader *reader, enum object_kind kind, enum resource_version version,
                      struct object *ret_object);

// As decode_object_at, for an object that mostly repeats another one, which was read with the same
// reader.when: what is written alike is shared with it. like may be NULL.
void decode_object_like(struct json_reader *reader, enum object_kind kind, enum resource_version version,
                        const struct object *like, struct object *ret_object);

// What it does: the kind and version that apiVersion and kind name. KIND_OTHER when nobody judges it.
enum object_kind decode_kind(struct text api_version, struct text kind, enum resource_version *ret_version);

// The bits of json_reader.when for a minor and a version.
uint8_t decode_when(int minor, enum resource_version version);

#endif
