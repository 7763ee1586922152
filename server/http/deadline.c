// SPDX-License-Identifier: Apache-2.0
// What `?timeout=` means for a request's deadline.
#include "server/http/deadline.h"

#define NANO_PER_MS INT64_C(1000000)

struct unit_row {
    struct text name;
    int64_t nano;
};

static const struct unit_row units[] = {
    {TEXT_INIT("ns"), 1},
    {TEXT_INIT("us"), 1000},
    {TEXT_INIT("\302\265s"), 1000}, // U+00B5, micro sign
    {TEXT_INIT("\316\274s"), 1000}, // U+03BC, Greek letter mu
    {TEXT_INIT("ms"), NANO_PER_MS},
    {TEXT_INIT("s"), 1000 * NANO_PER_MS},
    {TEXT_INIT("m"), 60000 * NANO_PER_MS},
    {TEXT_INIT("h"), 3600000 * NANO_PER_MS},
};

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

// The unit that starts at `at` and ends before the next digit; 0 when there is none.
static int64_t unit_at(struct text text, size_t *at) {
    size_t end = *at;
    while (end < text.len && text.ptr[end] != '.' && !is_digit(text.ptr[end])) end++;
    struct text name = text_slice(text, *at, end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text_equal(units[i].name, name)) {
            *at = end;
            return units[i].nano;
        }
    return 0;
}

// One number with its unit, such as "1.5s".
static bool take_part(struct text text, size_t *at, int64_t *ret_nano) {
    int64_t whole = 0;
    int64_t fraction = 0;
    int64_t scale = 1;
    bool any = false;
    for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++, any = true)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, text.ptr[*at] - '0', &whole))
            return false;
    if (*at < text.len && text.ptr[*at] == '.')
        for ((*at)++; *at < text.len && is_digit(text.ptr[*at]); (*at)++, any = true)
            if (scale < INT64_C(1000000000)) { // finer than that is dropped
                fraction = fraction * 10 + (text.ptr[*at] - '0');
                scale *= 10;
            }
    if (!any) return false;
    int64_t unit_nano = unit_at(text, at);
    if (unit_nano == 0 || __builtin_mul_overflow(whole, unit_nano, &whole)) return false;
    // fraction / scale is below one, so the product of the two fits in 128 bits and the result in 64.
    fraction = (int64_t)((__int128)fraction * unit_nano / scale);
    return !__builtin_add_overflow(whole, fraction, ret_nano);
}

bool deadline_parse_duration(struct text text, int64_t *ret_ms) {
    if (text_equal(text, TEXT("0"))) {
        *ret_ms = 0;
        return true;
    }
    size_t at = text.len > 0 && text.ptr[0] == '+' ? 1 : 0;
    if (at == text.len) return false;
    int64_t total_nano = 0;
    while (at < text.len) {
        int64_t part_nano;
        if (!take_part(text, &at, &part_nano) || __builtin_add_overflow(total_nano, part_nano, &total_nano))
            return false;
    }
    *ret_ms = total_nano / NANO_PER_MS;
    return true;
}

int64_t deadline_of_request(const struct deadlines *deadlines, struct text timeout) {
    int64_t timeout_ms;
    int64_t allowed_ms = deadlines->request_ms;
    if (timeout.len > 0 && deadline_parse_duration(timeout, &timeout_ms) && timeout_ms > 0) {
        int64_t reserve_ms = deadlines->request_reserve_ms;
        if (reserve_ms > timeout_ms / 2) reserve_ms = timeout_ms / 2;
        allowed_ms = timeout_ms - reserve_ms;
    }
    return allowed_ms > deadlines->request_most_ms ? deadlines->request_most_ms : allowed_ms;
}
