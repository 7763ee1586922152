// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities as exact integers: parse, compare, add, multiply, round, print, as apimachinery does.
// No floating point. What does not fit is marked out of range, never wrapped.
#ifndef DRAWBRIDGE_CORE_QUANTITY_H
#define DRAWBRIDGE_CORE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/core/arena.h"
#include "validators/core/text.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

// The value is unscaled × 10^scale. Parsed quantities are never finer than nano; products may be.
struct quantity {
    __int128 unscaled;
    int32_t scale;
    uint8_t format;        // enum quantity_format
    bool set : 1;          // false: the field was absent or null
    bool cached : 1;       // String() in Go prints the text as it was read (its fast path)
    bool decimal : 1;      // Go holds it as a big decimal, which rounds negative values in its own way
    bool out_of_range : 1; // parsed as valid, but its magnitude is above int64: no scheduler can hold it
    bool digits_lost : 1;  // … and above what is held here: unscaled is only the sign then
    struct text source;    // as written, a view of the input; empty for computed ones
};

// What it does: reads a quantity. Errors: false when apimachinery would refuse it; *ret_quantity is then
// untouched and *ret_why says what is wrong in upstream's words (static text; may be NULL). Source:
// k8s.io/apimachinery v0.36.3 pkg/api/resource/quantity.go, ParseQuantity.
bool quantity_parse(struct text text, struct quantity *ret_quantity, const char **ret_why)
    __attribute__((warn_unused_result));

struct quantity quantity_from_int64(int64_t value, enum quantity_format format);
struct quantity quantity_from_milli(int64_t milli, enum quantity_format format);

// -1, 0, 1. An out-of-range value is larger in magnitude than every one in range; two of them compare by
// their digits when the source text allows it. Source: quantity.go, Cmp.
int quantity_compare(struct quantity a, struct quantity b);

// -1, 0, 1. Source: quantity.go, Sign.
int quantity_sign(struct quantity quantity);

// What they do: exact sum and product, rounded up to nano away from zero where Go does. The format follows
// Go. Errors: the result is marked out_of_range when it does not fit. Source: quantity.go, Add, Mul.
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_subtract(struct quantity a, struct quantity b);
struct quantity quantity_multiply(struct quantity a, struct quantity b);

// What they do: Value() and MilliValue(), rounded up as Go does. Units: whole units; thousandths.
// Errors: false when the result leaves int64 (Go returns something wrapped there); untouched then.
bool quantity_value(struct quantity quantity, int64_t *ret_value) __attribute__((warn_unused_result));
bool quantity_milli(struct quantity quantity, int64_t *ret_milli) __attribute__((warn_unused_result));

// True when the value is a whole number (of bytes, pages, …), or of thousandths.
bool quantity_is_whole(struct quantity quantity);
bool quantity_is_whole_milli(struct quantity quantity);

// True when the value is a whole multiple of step (step > 0, both in range).
bool quantity_is_multiple(struct quantity quantity, struct quantity step);

// What it does: canonical form of a computed quantity ("500m", "8Gi"), as Go's CanonicalizeBytes.
// Owner: the arena. Errors: empty, arena poisoned. With lost digits: the source text, or "out of range".
struct text quantity_canonical(struct arena *arena, struct quantity quantity);

// What it does: as Go's String() just after parsing: the text as read on the fast path, else the canonical
// form.
struct text quantity_text(struct arena *arena, struct quantity quantity);

#endif
