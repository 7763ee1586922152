// SPDX-License-Identifier: Apache-2.0
// Quantities: printing as apimachinery does.
// Source: k8s.io/apimachinery v0.36.3 pkg/api/resource/quantity.go, CanonicalizeBytes; suffix.go,
// constructBytes.
#include "validators/core/quantity.h"

#include <stdio.h>

#define DIGITS_BYTES 64

static struct text digits_of(unsigned __int128 magnitude, char buffer[DIGITS_BYTES]) {
    size_t at = DIGITS_BYTES;
    do {
        buffer[--at] = (char)('0' + (int)(magnitude % 10));
        magnitude /= 10;
    } while (magnitude != 0);
    return (struct text){buffer + at, DIGITS_BYTES - at};
}

// Go prints no suffix at all for an exponent that has none; so do we.
static struct text decimal_suffix(struct arena *arena, enum quantity_format format, int64_t exponent) {
    static const char letters[] = "num kMGTPE";
    if (format == QUANTITY_DECIMAL_EXPONENT)
        return exponent == 0 ? TEXT("") : text_format(arena, "e%lld", (long long)exponent);
    if (exponent == 0 || exponent < -9 || exponent > 18) return TEXT("");
    return (struct text){&letters[exponent / 3 + 3], 1};
}

static struct text print(struct arena *arena, bool negative, struct text digits, int zeros,
                         struct text suffix) {
    return text_format(arena, "%s%.*s%.*s%.*s", negative ? "-" : "", TEXT_ARG(digits), zeros, "00",
                       TEXT_ARG(suffix));
}

static struct text print_decimal(struct arena *arena, struct quantity q, enum quantity_format format) {
    char buffer[DIGITS_BYTES];
    bool negative = q.unscaled < 0;
    unsigned __int128 magnitude = negative ? -(unsigned __int128)q.unscaled : (unsigned __int128)q.unscaled;
    int64_t exponent = q.scale;
    while (magnitude % 10 == 0) {
        magnitude /= 10;
        exponent++;
    }
    int zeros = (int)((exponent % 3 + 3) % 3);
    exponent -= zeros;
    return print(arena, negative, digits_of(magnitude, buffer), zeros,
                 decimal_suffix(arena, format, exponent));
}

// The whole value of a binary quantity; false when it has a fraction or does not fit.
static bool whole_value(struct quantity q, __int128 *ret_value) {
    __int128 value = q.unscaled;
    for (int32_t scale = q.scale; scale < 0; scale++) {
        if (value % 10 != 0) return false;
        value /= 10;
    }
    for (int32_t scale = q.scale; scale > 0; scale--)
        if (__builtin_mul_overflow(value, 10, &value)) return false;
    *ret_value = value;
    return true;
}

struct text quantity_canonical(struct arena *arena, struct quantity quantity) {
    if (quantity.digits_lost) return quantity.source.len > 0 ? quantity.source : TEXT("out of range");
    if (quantity.unscaled == 0) return TEXT("0");
    enum quantity_format format = (enum quantity_format)quantity.format;
    if (format != QUANTITY_BINARY_SI) return print_decimal(arena, quantity, format);
    __int128 value;
    if (!whole_value(quantity, &value) || (value > -1024 && value < 1024))
        return print_decimal(arena, quantity, QUANTITY_DECIMAL_SI);
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    size_t power = 0;
    while (magnitude >= 1024 && magnitude % 1024 == 0) {
        magnitude /= 1024;
        power++;
    }
    char buffer[DIGITS_BYTES];
    struct text suffix = text_of(power < sizeof suffixes / sizeof suffixes[0] ? suffixes[power] : "");
    return print(arena, value < 0, digits_of(magnitude, buffer), 0, suffix);
}

struct text quantity_text(struct arena *arena, struct quantity quantity) {
    return quantity.cached ? quantity.source : quantity_canonical(arena, quantity);
}
