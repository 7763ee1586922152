// SPDX-License-Identifier: Apache-2.0
// Numbers in raw JSON.
#include "validators/schema/json_numbers.h"

// The smallest integer that Go rounds to infinity: 2^1024 - 2^970.
static const struct text LIMIT =
    TEXT_INIT("179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
              "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
              "854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704"
              "342711559699508093042880177904174497792");

#define EXPONENT_ENOUGH 10000 // Go stops counting there

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Reads the exponent that begins behind 'e'.
static long read_exponent(struct text number, size_t at) {
    bool negative = at < number.len && number.ptr[at] == '-';
    if (at < number.len && !is_digit(number.ptr[at])) at++;
    long exponent = 0;
    for (; at < number.len; at++)
        if (exponent < EXPONENT_ENOUGH) exponent = exponent * 10 + (number.ptr[at] - '0');
    return negative ? -exponent : exponent;
}

// The significant digits are compared where they stand: leading zeros and the point are passed over.
static bool is_too_large(struct text number) {
    size_t end = 0;
    while (end < number.len && number.ptr[end] != 'e' && number.ptr[end] != 'E') end++;
    long magnitude = end < number.len ? read_exponent(number, end + 1) : 0;
    bool after_point = false;
    size_t digit_count = 0; // significant ones
    int order = 0;          // of the digits so far against those of the limit
    for (size_t i = 0; i < end; i++) {
        char c = number.ptr[i];
        if (c == '.') after_point = true;
        if (!is_digit(c)) continue;
        bool leading_zero = c == '0' && digit_count == 0;
        if (leading_zero && after_point) magnitude--;
        if (leading_zero) continue;
        if (!after_point) magnitude++;
        if (order == 0 && digit_count < LIMIT.len) order = (int)c - (int)LIMIT.ptr[digit_count];
        digit_count++;
    }
    if (digit_count == 0) return false;
    if (magnitude != (long)LIMIT.len) return magnitude > (long)LIMIT.len;
    if (order != 0) return order > 0;
    // Fewer digits mean zeros in the places that are left, and the limit does not end in zeros alone.
    return digit_count >= LIMIT.len;
}

struct text json_number_too_large(struct text raw) {
    bool in_string = false;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i];
        if (in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && is_digit(c)) {
            size_t start = i;
            while (i < raw.len && (is_digit(raw.ptr[i]) || memchr("+-.eE", raw.ptr[i], 5) != NULL)) i++;
            struct text number = text_slice(raw, start, i);
            if (is_too_large(number)) return number;
            i--;
        }
    }
    return (struct text){0};
}
