// SPDX-License-Identifier: Apache-2.0
// Raw JSON that must be an object. Go reads its numbers as float64 and refuses those that are too large.
#include "validators/schema/device_configuration.h"

// The digits of 2^1024 - 2^970: from here on a decimal number rounds to infinity.
// Source: IEEE 754, binary64, round to nearest, ties to even.
static const char overflow_digits[] =
    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709633"
    "02"
    "86416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069"
    "85"
    "5571366959622842914819860834936475292719074168444365510704342711559699508093042880";
#define OVERFLOW_PLACE 309 // 0.DIGITS × 10^309

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The end of the number that begins at `at`.
static size_t number_end(struct text raw, size_t at) {
    while (at < raw.len && (is_digit(raw.ptr[at]) || memchr("+-.eE", raw.ptr[at], 5) != NULL)) at++;
    return at;
}

// The exponent of a number, kept within ±1,000,000,000: no number of a request has more digits than that.
static int64_t exponent_of(struct text number, size_t mark) {
    if (mark == number.len) return 0;
    size_t at = mark + 1;
    bool negative = number.ptr[at] == '-';
    if (number.ptr[at] == '-' || number.ptr[at] == '+') at++;
    int64_t exponent = 0;
    for (; at < number.len; at++)
        if (exponent < 1000000000) exponent = exponent * 10 + (number.ptr[at] - '0');
    return negative ? -exponent : exponent;
}

// True when strconv.ParseFloat says that the number is out of range.
static bool overflows(struct text number) {
    size_t mark = 0;
    while (mark < number.len && number.ptr[mark] != 'e' && number.ptr[mark] != 'E') mark++;
    int64_t place = exponent_of(number, mark); // 0.DIGITS × 10^place
    bool fraction = false;
    bool started = false; // past the leading zeros
    size_t compared = 0;  // digits that were equal to those of the limit
    int order = 0;        // of the digits against the limit's, once they differ
    for (size_t i = 0; i < mark; i++) {
        char c = number.ptr[i];
        if (c == '.') fraction = true;
        if (!is_digit(c)) continue;
        started = started || c != '0';
        if (started && !fraction) place++;
        if (!started && fraction) place--;
        if (!started || order != 0) continue;
        char limit = compared < sizeof overflow_digits - 1 ? overflow_digits[compared] : '0';
        order = (c > limit) - (c < limit);
        compared++;
    }
    if (!started) return false;
    if (place != OVERFLOW_PLACE) return place > OVERFLOW_PLACE;
    return order > 0 || (order == 0 && compared >= sizeof overflow_digits - 1);
}

// The end of the string whose quote is at `at`.
static size_t string_end(struct text raw, size_t at) {
    for (at++; at < raw.len && raw.ptr[at] != '"'; at++)
        if (raw.ptr[at] == '\\') at++;
    return at + 1;
}

static bool has_overflow(struct text raw) {
    for (size_t at = 0; at < raw.len;) {
        if (raw.ptr[at] == '"') {
            at = string_end(raw, at);
        } else if (is_digit(raw.ptr[at])) {
            size_t end = number_end(raw, at);
            if (overflows(text_slice(raw, at, end))) return true;
            at = end;
        } else {
            at++;
        }
    }
    return false;
}

void schema_raw_object(struct text raw, size_t max_bytes, bool unlimited, const struct path *path,
                       struct finding_list *findings) {
    struct text shown = TEXT("<value omitted>");
    if (raw.len == 0 || text_equal(raw, TEXT("null"))) {
        finding_add(findings, FINDING_REQUIRED, path, (struct text){"", 0},
                    TEXT("a JSON object is required"));
    } else if (!unlimited && raw.len > max_bytes) {
        finding_addf(findings, FINDING_TOO_LONG, path, shown, "may not be more than %zu bytes", max_bytes);
    } else if (has_overflow(raw)) {
        finding_add(findings, FINDING_INVALID, path, shown,
                    TEXT("error parsing data as JSON: a number is too large for a float64"));
    } else if (raw.ptr[0] != '{') {
        finding_add(findings, FINDING_INVALID, path, shown, TEXT("must be a valid JSON object"));
    }
}
