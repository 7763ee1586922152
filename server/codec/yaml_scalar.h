// SPDX-License-Identifier: Apache-2.0
// What a YAML scalar is: text, number, boolean or null, as go-yaml v2 resolves it and encoding/json prints
// it.
#ifndef DRAWBRIDGE_CODEC_YAML_SCALAR_H
#define DRAWBRIDGE_CODEC_YAML_SCALAR_H

#include <stdbool.h>

#include "validators/core/text.h"

enum yaml_scalar_kind {
    YAML_IS_TEXT,
    YAML_IS_NULL,
    YAML_IS_TRUE,
    YAML_IS_FALSE,
    YAML_IS_INTEGER,  // signed
    YAML_IS_UNSIGNED, // above the largest signed one
    YAML_IS_FLOAT,
    YAML_IS_NOT_FINITE, // .inf, -.inf, .nan: no JSON form as a value
    YAML_IS_WRONG,      // the tag and the text do not agree
};

// The longest text that yaml_scalar_print and yaml_scalar_print_key write.
#define YAML_NUMBER_BYTES 40

struct yaml_scalar {
    enum yaml_scalar_kind kind;
    struct text text; // as written
    union {
        int64_t integer;
        uint64_t whole; // YAML_IS_UNSIGNED
        double number;  // YAML_IS_FLOAT, YAML_IS_NOT_FINITE
    };
};

// What it does: resolves a scalar. tag is NULL when there is none; implicit is true for plain scalars without
// a tag. text.ptr[text.len] must be 0. Source: go.yaml.in/yaml/v2 v2.4.4 resolve.go, resolve; decode.go,
// scalar.
struct yaml_scalar yaml_scalar_resolve(struct text text, const char *tag, bool implicit);

// What it does: the JSON form of a number, NUL-terminated in the caller's buffer. Returns its length.
// Source: encoding/json encode.go, floatEncoder; strconv.
size_t yaml_scalar_print(const struct yaml_scalar *scalar, char buffer[YAML_NUMBER_BYTES]);

// What it does: a scalar as the text of a key. Returns false for null and for numbers above int64, which
// kubectl refuses as keys. Source: sigs.k8s.io/yaml v1.6.0 yaml.go, convertToJSONableObject.
bool yaml_scalar_key(const struct yaml_scalar *scalar, char buffer[YAML_NUMBER_BYTES], struct text *ret_key)
    __attribute__((warn_unused_result));

#endif
