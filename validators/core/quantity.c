// SPDX-License-Identifier: Apache-2.0
// Quantities: parsing and arithmetic. Printing is in quantity_text.c.
// Source: k8s.io/apimachinery v0.36.3 pkg/api/resource/{quantity,amount,math,suffix,scale_int}.go.
#include "validators/core/quantity.h"

#define NANO_SCALE         (-9)
#define FAST_DIGITS        18 // as many as apimachinery keeps in an int64
#define FRACTION_LIMBS     9  // 81 decimal digits of a binary quantity's fraction
#define FRACTION_LIMB_BASE 1000000000u
#define INT64_DIGITS       19
#define PLAIN_DIGITS       14 // so that every step of the plain path stays far within int64

typedef unsigned __int128 uint128;

static const char why_format[] = "quantities must match the regular expression "
                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char why_suffix[] = "unable to parse quantity's suffix";
static const char why_numeric[] = "unable to parse numeric part of quantity";

static const uint64_t pow10_table[] = {1ull,
                                       10ull,
                                       100ull,
                                       1000ull,
                                       10000ull,
                                       100000ull,
                                       1000000ull,
                                       10000000ull,
                                       100000000ull,
                                       1000000000ull,
                                       10000000000ull,
                                       100000000000ull,
                                       1000000000000ull,
                                       10000000000000ull,
                                       100000000000000ull,
                                       1000000000000000ull,
                                       10000000000000000ull,
                                       100000000000000000ull,
                                       1000000000000000000ull};

struct parts {
    bool negative;
    struct text number;  // digits before the point, without leading zeros; "0" when there are none
    struct text decimal; // digits behind the point
    struct text suffix;
    bool has_digits; // of the text as written
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_suffix_letter(char c) {
    switch (c) {
    case 'e':
    case 'E':
    case 'i':
    case 'n':
    case 'u':
    case 'm':
    case 'k':
    case 'K':
    case 'M':
    case 'G':
    case 'T':
    case 'P': return true;
    default: return false;
    }
}

static size_t skip_digits(struct text text, size_t at) {
    while (at < text.len && is_digit(text.ptr[at])) at++;
    return at;
}

static bool split(struct text text, struct parts *ret_parts) {
    size_t at = 0;
    struct parts parts = {.number = TEXT("0")};
    if (text.ptr[0] == '-' || text.ptr[0] == '+') {
        parts.negative = text.ptr[0] == '-';
        at = 1;
    }
    size_t first = at;
    while (at < text.len && text.ptr[at] == '0') at++;
    size_t end = skip_digits(text, at);
    parts.has_digits = end > first;
    if (end > at) parts.number = text_slice(text, at, end);
    at = end;
    if (at < text.len && text.ptr[at] == '.') {
        end = skip_digits(text, at + 1);
        parts.decimal = text_slice(text, at + 1, end);
        parts.has_digits = parts.has_digits || parts.decimal.len > 0;
        at = end;
    }
    size_t suffix = at;
    while (at < text.len && is_suffix_letter(text.ptr[at])) at++;
    if (at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+')) at++;
    if (skip_digits(text, at) != text.len) return false;
    parts.suffix = text_slice(text, suffix, text.len);
    *ret_parts = parts;
    return true;
}

struct suffix {
    enum quantity_format format;
    int32_t exponent; // of 10, or of 2 for BinarySI
};

static bool decimal_suffix(char letter, int32_t *ret_exponent) {
    switch (letter) {
    case 'n': *ret_exponent = -9; return true;
    case 'u': *ret_exponent = -6; return true;
    case 'm': *ret_exponent = -3; return true;
    case 'k': *ret_exponent = 3; return true;
    case 'M': *ret_exponent = 6; return true;
    case 'G': *ret_exponent = 9; return true;
    case 'T': *ret_exponent = 12; return true;
    case 'P': *ret_exponent = 15; return true;
    case 'E': *ret_exponent = 18; return true;
    default: return false;
    }
}

static bool interpret(struct text suffix, struct suffix *ret_suffix) {
    *ret_suffix = (struct suffix){QUANTITY_DECIMAL_SI, 0};
    if (suffix.len == 0) return true;
    if (suffix.len == 1) return decimal_suffix(suffix.ptr[0], &ret_suffix->exponent);
    if (suffix.len == 2 && suffix.ptr[1] == 'i') {
        static const char binary[] = "KMGTPE";
        const char *hit = memchr(binary, suffix.ptr[0], sizeof binary - 1);
        if (hit == NULL) return false;
        *ret_suffix = (struct suffix){QUANTITY_BINARY_SI, (int32_t)(hit - binary + 1) * 10};
        return true;
    }
    if (suffix.ptr[0] != 'e' && suffix.ptr[0] != 'E') return false;
    struct text digits = text_slice(suffix, 1, suffix.len);
    if (digits.len > 1 && digits.ptr[0] == '+') digits = text_slice(digits, 1, digits.len);
    if (digits.len > 0 && digits.ptr[0] == '-' && suffix.ptr[1] == '+') return false;
    int64_t exponent;
    if (!text_to_int64(digits, &exponent)) return false;
    // Go narrows the parsed int64 to an int32, so an exponent of 2^32 means 10^0 there.
    *ret_suffix = (struct suffix){QUANTITY_DECIMAL_EXPONENT, (int32_t)(uint32_t)(uint64_t)exponent};
    return true;
}

// Reads number and decimal as one run of digits into ret_value. False when it does not fit.
static bool read_digits(struct text number, struct text decimal, uint128 *ret_value) {
    uint128 value = 0;
    for (size_t i = 0; i < number.len + decimal.len; i++) {
        char digit = i < number.len ? number.ptr[i] : decimal.ptr[i - number.len];
        if (value > ((uint128)-1 >> 1) / 10 - 1) return false;
        value = value * 10 + (unsigned)(digit - '0');
    }
    *ret_value = value;
    return true;
}

static bool text_has_nonzero(struct text digits) {
    for (size_t i = 0; i < digits.len; i++)
        if (digits.ptr[i] != '0') return true;
    return false;
}

static bool ends_with_000(struct text number, struct text decimal) {
    for (size_t back = 1; back <= 3; back++) {
        if (back > number.len + decimal.len) return false;
        char digit = back <= decimal.len ? decimal.ptr[decimal.len - back]
                                         : number.ptr[number.len - (back - decimal.len)];
        if (digit != '0') return false;
    }
    return true;
}

static __int128 signed_value(uint128 magnitude, bool negative) {
    return negative ? -(__int128)magnitude : (__int128)magnitude;
}

// Marks what is above int64 in whole units.
static void mark_range(struct quantity *q) {
    if (q->digits_lost) {
        q->out_of_range = true;
        return;
    }
    uint128 magnitude = q->unscaled < 0 ? -(uint128)q->unscaled : (uint128)q->unscaled;
    int32_t scale = q->scale;
    while (scale > 0 && magnitude != 0 && magnitude <= INT64_MAX) {
        magnitude *= 10;
        scale--;
    }
    for (; scale < 0 && magnitude != 0; scale++)
        magnitude = magnitude / 10 + (magnitude % 10 != 0 && magnitude < 10);
    q->out_of_range = magnitude > (uint128)INT64_MAX;
}

static struct quantity lost(bool negative, enum quantity_format format) {
    return (struct quantity){.unscaled = negative ? -1 : 1,
                             .format = (uint8_t)format,
                             .set = true,
                             .decimal = true,
                             .digits_lost = true,
                             .out_of_range = true};
}

// The slow path of decimal forms: any number of digits, rounded away from zero to nano.
static struct quantity parse_long_decimal(const struct parts *parts, struct suffix suffix) {
    struct text number = parts->number;
    struct text decimal = parts->decimal;
    int64_t scale = (int64_t)suffix.exponent - (int64_t)decimal.len;
    bool rest = false;
    if (scale < NANO_SCALE) {
        uint64_t drop = (uint64_t)(NANO_SCALE - scale);
        size_t from_decimal = drop < decimal.len ? (size_t)drop : decimal.len;
        rest = text_has_nonzero(text_slice(decimal, decimal.len - from_decimal, decimal.len));
        decimal = text_slice(decimal, 0, decimal.len - from_decimal);
        drop -= from_decimal;
        size_t from_number = drop < number.len ? (size_t)drop : number.len;
        rest = text_has_nonzero(text_slice(number, number.len - from_number, number.len)) || rest;
        number = text_slice(number, 0, number.len - from_number);
        scale = NANO_SCALE;
    }
    // Zeros at the end say nothing; without them more values are held exactly.
    while (decimal.len > 0 && decimal.ptr[decimal.len - 1] == '0' && !rest) {
        decimal.len--;
        scale++;
    }
    while (decimal.len == 0 && number.len > 1 && number.ptr[number.len - 1] == '0' && !rest) {
        number.len--;
        scale++;
    }
    uint128 value;
    if (!read_digits(number, decimal, &value)) return lost(parts->negative, suffix.format);
    if (rest) value++;
    if (value == 0) scale = 0;
    if (scale > INT32_MAX) return lost(parts->negative, suffix.format);
    struct quantity q = {.unscaled = signed_value(value, parts->negative),
                         .scale = (int32_t)scale,
                         .format = (uint8_t)suffix.format,
                         .set = true,
                         .decimal = true};
    mark_range(&q);
    return q;
}

// fraction × 2^exponent: the whole part is added to *whole, the rest is returned in nano, rounded up.
static uint64_t scale_fraction(struct text decimal, int32_t exponent, uint128 *whole) {
    uint32_t limbs[FRACTION_LIMBS] = {0};
    bool rest = false;
    for (size_t i = 0; i < decimal.len; i++) {
        if (i >= FRACTION_LIMBS * 9u) {
            rest = rest || decimal.ptr[i] != '0';
            continue;
        }
        limbs[i / 9] += (uint32_t)((uint64_t)(decimal.ptr[i] - '0') * pow10_table[8 - i % 9]);
    }
    uint128 carried = 0;
    for (int32_t e = 0; e < exponent; e += 10) {
        uint64_t carry = 0;
        for (int i = FRACTION_LIMBS - 1; i >= 0; i--) {
            uint64_t product = (uint64_t)limbs[i] * 1024 + carry;
            limbs[i] = (uint32_t)(product % FRACTION_LIMB_BASE);
            carry = product / FRACTION_LIMB_BASE;
        }
        carried = carried * 1024 + carry;
    }
    *whole += carried;
    for (int i = 1; i < FRACTION_LIMBS; i++) rest = rest || limbs[i] != 0;
    return limbs[0] + (rest ? 1u : 0u);
}

// The slow path of binary forms: rounded up to nano, capped at int64.
static struct quantity parse_long_binary(const struct parts *parts, struct suffix suffix) {
    struct quantity capped = {.unscaled = signed_value((uint128)INT64_MAX, parts->negative),
                              .format = QUANTITY_BINARY_SI,
                              .set = true,
                              .decimal = true};
    if (parts->number.len > INT64_DIGITS) return capped;
    uint128 whole = 0;
    if (!read_digits(parts->number, (struct text){NULL, 0}, &whole)) return capped;
    whole <<= (unsigned)suffix.exponent;
    uint64_t nano = scale_fraction(parts->decimal, suffix.exponent, &whole);
    if (nano == pow10_table[9]) {
        whole++;
        nano = 0;
    }
    if (whole > (uint128)INT64_MAX || (whole == (uint128)INT64_MAX && nano > 0)) return capped;
    enum quantity_format format =
        whole == 0 && nano > 0 ? QUANTITY_DECIMAL_SI : QUANTITY_BINARY_SI; // below 1: shown without rounding
    struct quantity q = {.format = (uint8_t)format, .set = true, .decimal = true};
    q.unscaled = signed_value(nano == 0 ? whole : whole * pow10_table[9] + nano, parts->negative);
    q.scale = nano == 0 ? 0 : NANO_SCALE;
    return q;
}

// The fast path: few digits, held in an int64. False when apimachinery would go on to big decimals.
static bool parse_short(const struct parts *parts, struct suffix suffix, struct quantity *ret_quantity) {
    size_t digits = parts->number.len + parts->decimal.len;
    bool binary = suffix.format == QUANTITY_BINARY_SI;
    int64_t precision = FAST_DIGITS - (int64_t)digits;
    if (binary) {
        if (parts->decimal.len > 0) return false;
        precision = 15 - (int64_t)digits - suffix.exponent * 3 / 10 - 1;
    }
    int64_t scale = (binary ? 0 : (int64_t)suffix.exponent) - (int64_t)parts->decimal.len;
    if (precision < 0 || scale < NANO_SCALE || scale > INT32_MAX) return false;
    uint128 read;
    if (!read_digits(parts->number, parts->decimal, &read)) return false;
    int64_t value = (int64_t)read;
    int64_t result = value;
    if (binary && __builtin_mul_overflow(value, (int64_t)1 << suffix.exponent, &result)) return false;
    struct quantity q = {.unscaled = parts->negative ? -(__int128)result : (__int128)result,
                         .scale = (int32_t)scale,
                         .format = (uint8_t)suffix.format,
                         .set = true};
    q.cached = binary ? (value & 7) != 0
                      : scale % 3 == 0 && parts->number.ptr[0] != '0' &&
                            !ends_with_000(parts->number, parts->decimal);
    mark_range(&q);
    *ret_quantity = q;
    return true;
}

static bool refuse(const char **ret_why, const char *why) {
    if (ret_why != NULL) *ret_why = why;
    return false;
}

// What nearly every quantity is, read in one go: a short whole number as Go prints it, alone, in n, u, m or
// in Ki … Ei. False, with nothing said, for all others.
static bool parse_plain(struct text text, struct quantity *ret_quantity) {
    uint64_t value = 0;
    size_t digits = 0;
    while (digits < text.len && is_digit(text.ptr[digits]) && digits < PLAIN_DIGITS)
        value = value * 10 + (uint64_t)(text.ptr[digits++] - '0');
    if (digits == 0 || text.ptr[0] == '0' || text.len > digits + 2) return false;
    struct suffix suffix = {QUANTITY_DECIMAL_SI, 0};
    if (text.len > digits && !interpret(text_slice(text, digits, text.len), &suffix)) return false;
    if (suffix.format == QUANTITY_DECIMAL_EXPONENT) return false;
    bool binary = suffix.format == QUANTITY_BINARY_SI;
    if (binary ? 15 - (int)digits - suffix.exponent * 3 / 10 - 1 < 0 : suffix.exponent > 0) return false;
    *ret_quantity = (struct quantity){.unscaled = (__int128)(binary ? value << suffix.exponent : value),
                                      .scale = binary ? 0 : suffix.exponent,
                                      .format = (uint8_t)suffix.format,
                                      .set = true,
                                      .cached = binary ? (value & 7) != 0 : value % 1000 != 0,
                                      .source = text};
    return true;
}

bool quantity_parse(struct text text, struct quantity *ret_quantity, const char **ret_why) {
    if (parse_plain(text, ret_quantity)) return true;
    if (text.len == 0) return refuse(ret_why, why_format);
    if (text.len == 1 && text.ptr[0] == '0') {
        *ret_quantity = (struct quantity){.set = true, .cached = true, .source = text};
        return true;
    }
    struct parts parts;
    struct suffix suffix;
    if (!split(text, &parts)) return refuse(ret_why, why_format);
    if (!interpret(parts.suffix, &suffix)) return refuse(ret_why, why_suffix);
    struct quantity q;
    if (!parse_short(&parts, suffix, &q)) {
        if (!parts.has_digits) return refuse(ret_why, why_numeric);
        q = suffix.format == QUANTITY_BINARY_SI ? parse_long_binary(&parts, suffix)
                                                : parse_long_decimal(&parts, suffix);
    }
    q.source = text;
    *ret_quantity = q;
    return true;
}

struct quantity quantity_from_int64(int64_t value, enum quantity_format format) {
    return (struct quantity){.unscaled = value, .format = (uint8_t)format, .set = true};
}

struct quantity quantity_from_milli(int64_t milli, enum quantity_format format) {
    return (struct quantity){.unscaled = milli, .scale = -3, .format = (uint8_t)format, .set = true};
}

int quantity_sign(struct quantity quantity) {
    return (quantity.unscaled > 0) - (quantity.unscaled < 0);
}

// The digits of a quantity's source without leading zeros, and the place of the point: 0.DIGITS × 10^place.
struct digits {
    struct parts parts;
    size_t skip; // leading zeros behind the point
    int64_t place;
};

static struct digits digits_of(struct text source) {
    struct digits d = {0};
    struct suffix suffix;
    if (source.len == 0 || !split(source, &d.parts) || !interpret(d.parts.suffix, &suffix)) return d;
    if (d.parts.number.ptr[0] == '0') {
        d.parts.number.len = 0;
        while (d.skip < d.parts.decimal.len && d.parts.decimal.ptr[d.skip] == '0') d.skip++;
    }
    d.place = suffix.exponent + (int64_t)d.parts.number.len - (int64_t)d.skip;
    return d;
}

static char digit_at(const struct digits *d, size_t i) {
    if (i < d->parts.number.len) return d->parts.number.ptr[i];
    i = i - d->parts.number.len + d->skip;
    return i < d->parts.decimal.len ? d->parts.decimal.ptr[i] : '0';
}

static int compare_sources(struct text a, struct text b) {
    struct digits x = digits_of(a);
    struct digits y = digits_of(b);
    if (x.place != y.place) return x.place < y.place ? -1 : 1;
    size_t longest = x.parts.number.len + x.parts.decimal.len;
    size_t other = y.parts.number.len + y.parts.decimal.len;
    if (other > longest) longest = other;
    for (size_t i = 0; i < longest; i++) {
        char left = digit_at(&x, i);
        char right = digit_at(&y, i);
        if (left != right) return left < right ? -1 : 1;
    }
    return 0;
}

// Multiplies by 10^power. False on overflow.
static bool raise(__int128 *value, int64_t power) {
    while (power > 0 && *value != 0) {
        int64_t step = power > 18 ? 18 : power;
        if (__builtin_mul_overflow(*value, (__int128)pow10_table[step], value)) return false;
        power -= step;
    }
    return true;
}

int quantity_compare(struct quantity a, struct quantity b) {
    int sign = quantity_sign(a);
    int other = quantity_sign(b);
    if (sign != other) return sign < other ? -1 : 1;
    if (sign == 0) return 0;
    if (a.digits_lost || b.digits_lost) {
        if (a.source.len > 0 && b.source.len > 0 && a.format != QUANTITY_BINARY_SI &&
            b.format != QUANTITY_BINARY_SI)
            return sign * compare_sources(a.source, b.source);
        return a.digits_lost == b.digits_lost ? 0 : a.digits_lost ? sign : -sign;
    }
    // Scaling up the coarser one overflows only when it is the larger.
    int64_t difference = (int64_t)a.scale - b.scale;
    if (difference > 0 && !raise(&a.unscaled, difference)) return sign;
    if (difference < 0 && !raise(&b.unscaled, -difference)) return -sign;
    return (a.unscaled > b.unscaled) - (a.unscaled < b.unscaled);
}

// Takes factors of ten out of the digits, so that the next operation has room.
static void reduce(struct quantity *q) {
    while (q->unscaled != 0 && q->unscaled % 10 == 0 && q->scale < INT32_MAX) {
        q->unscaled /= 10;
        q->scale++;
    }
}

struct quantity quantity_add(struct quantity a, struct quantity b) {
    enum quantity_format format = quantity_sign(a) == 0 ? b.format : a.format;
    struct quantity sum = {
        .scale = a.scale < b.scale ? a.scale : b.scale, .format = (uint8_t)format, .set = true};
    sum.decimal = a.decimal || b.decimal;
    if (quantity_sign(b) == 0) sum.scale = a.scale;
    if (quantity_sign(a) == 0) sum.scale = b.scale;
    if (a.digits_lost || b.digits_lost) return lost(quantity_sign(a.digits_lost ? a : b) < 0, format);
    if (!raise(&a.unscaled, (int64_t)a.scale - sum.scale)) return lost(quantity_sign(a) < 0, format);
    if (!raise(&b.unscaled, (int64_t)b.scale - sum.scale)) return lost(quantity_sign(b) < 0, format);
    if (__builtin_add_overflow(a.unscaled, b.unscaled, &sum.unscaled))
        return lost(quantity_sign(a) < 0, format);
    mark_range(&sum);
    return sum;
}

struct quantity quantity_subtract(struct quantity a, struct quantity b) {
    b.unscaled = -b.unscaled;
    return quantity_add(a, b);
}

struct quantity quantity_multiply(struct quantity a, struct quantity b) {
    int sign = quantity_sign(a) * quantity_sign(b);
    struct quantity product = {.format = a.format, .set = true, .decimal = true};
    if (sign == 0) return product;
    if (a.digits_lost || b.digits_lost) return lost(sign < 0, a.format);
    reduce(&a);
    reduce(&b);
    int64_t scale = (int64_t)a.scale + b.scale;
    if (scale > INT32_MAX || scale < INT32_MIN) return lost(sign < 0, a.format);
    if (__builtin_mul_overflow(a.unscaled, b.unscaled, &product.unscaled)) return lost(sign < 0, a.format);
    product.scale = (int32_t)scale;
    mark_range(&product);
    return product;
}

// The value in units of 10^scale. Both of Go's forms round up; they differ below zero: an int64Amount rounds
// away from zero, a big decimal of few digits adds one to what was cut towards zero.
static bool scaled_value(struct quantity q, int32_t scale, int64_t *ret_value) {
    if (q.digits_lost) return false;
    __int128 value = q.unscaled;
    int64_t difference = (int64_t)q.scale - scale;
    if (difference >= 0) {
        if (!raise(&value, difference)) return false;
    } else {
        bool rest = false;
        for (; difference < 0 && value != 0; difference++) {
            rest = rest || value % 10 != 0;
            value /= 10;
        }
        if (rest) value += q.unscaled < 0 && !q.decimal ? -1 : 1;
    }
    if (value > INT64_MAX || value < INT64_MIN) return false;
    *ret_value = (int64_t)value;
    return true;
}

bool quantity_value(struct quantity quantity, int64_t *ret_value) {
    return scaled_value(quantity, 0, ret_value);
}

bool quantity_milli(struct quantity quantity, int64_t *ret_milli) {
    return scaled_value(quantity, -3, ret_milli);
}

static bool is_whole_at(struct quantity q, int32_t scale) {
    if (q.digits_lost) return false;
    reduce(&q);
    return q.unscaled == 0 || q.scale >= scale;
}

bool quantity_is_whole(struct quantity quantity) {
    return is_whole_at(quantity, 0);
}

bool quantity_is_whole_milli(struct quantity quantity) {
    return is_whole_at(quantity, -3);
}

bool quantity_is_multiple(struct quantity quantity, struct quantity step) {
    if (quantity.digits_lost || step.digits_lost || quantity_sign(step) <= 0) return false;
    int64_t difference = (int64_t)quantity.scale - step.scale;
    __int128 value = quantity.unscaled;
    __int128 unit = step.unscaled;
    if (difference > 0 && !raise(&value, difference)) return false;
    if (difference < 0 && !raise(&unit, -difference)) return value == 0;
    return value % unit == 0;
}
