// SPDX-License-Identifier: Apache-2.0
// Addresses of network interfaces.
#include "validators/schema/interface_address.h"

#define GROUP_COUNT    8u
#define IPV6_MAX_BYTES 39u

static const char WHY[] = "must be an address and a prefix length in canonical form, such as 10.9.8.7/24 or "
                          "2001:db8::1/64";

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// A decimal number without leading zeros, up to limit.
static bool is_number(struct text text, int64_t limit) {
    int64_t value;
    if (text.len == 0 || text.len > 3 || !is_digit(text.ptr[0])) return false;
    if (text.len > 1 && text.ptr[0] == '0') return false;
    return text_to_int64(text, &value) && value <= limit;
}

static bool is_ipv4(struct text text) {
    size_t start = 0;
    for (int part = 0; part < 4; part++) {
        size_t end = text_find(text, '.', start);
        if ((end == text.len) != (part == 3)) return false;
        if (!is_number(text_slice(text, start, end), 255)) return false;
        start = end + 1;
    }
    return true;
}

static bool read_group(struct text text, size_t *at, uint16_t *ret_group) {
    unsigned group = 0;
    size_t len = 0;
    for (; *at < text.len && len < 4; (*at)++, len++) {
        char c = text.ptr[*at];
        if (is_digit(c))
            group = group * 16 + (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            group = group * 16 + (unsigned)(c - 'a' + 10);
        else
            break;
    }
    *ret_group = (uint16_t)group;
    return len > 0;
}

// Reads groups with at most one "::". Some that are not canonical get through; printing them shows it.
static bool read_ipv6(struct text text, uint16_t groups[GROUP_COUNT]) {
    size_t count = 0;
    size_t gap = GROUP_COUNT; // where the "::" stands
    size_t at = 0;
    if (text_starts_with(text, TEXT("::"))) {
        gap = 0;
        at = 2;
    }
    while (at < text.len) {
        if (count == GROUP_COUNT || !read_group(text, &at, &groups[count])) return false;
        count++;
        if (at == text.len) break;
        if (text.ptr[at++] != ':' || at == text.len) return false;
        if (text.ptr[at] != ':') continue;
        if (gap != GROUP_COUNT) return false;
        gap = count;
        at++;
    }
    if (gap == GROUP_COUNT) return count == GROUP_COUNT;
    if (count == GROUP_COUNT) return false;
    size_t shift = GROUP_COUNT - count;
    for (size_t i = count; i-- > gap;) groups[i + shift] = groups[i];
    for (size_t i = gap; i < gap + shift; i++) groups[i] = 0;
    return true;
}

static void find_longest_zeros(const uint16_t groups[GROUP_COUNT], size_t *ret_start, size_t *ret_count) {
    *ret_start = GROUP_COUNT;
    *ret_count = 1; // a single zero is written out
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        size_t end = i;
        while (end < GROUP_COUNT && groups[end] == 0) end++;
        if (end - i > *ret_count) {
            *ret_start = i;
            *ret_count = end - i;
        }
        if (end > i) i = end - 1;
    }
}

static size_t print_ipv6(const uint16_t groups[GROUP_COUNT], char out[IPV6_MAX_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    size_t zeros_start, zeros_count;
    find_longest_zeros(groups, &zeros_start, &zeros_count);
    size_t len = 0;
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        if (i == zeros_start) {
            out[len++] = ':';
            out[len++] = ':';
            i += zeros_count;
            if (i == GROUP_COUNT) break;
        } else if (i > 0) {
            out[len++] = ':';
        }
        bool begun = false;
        for (int shift = 12; shift >= 0; shift -= 4) {
            unsigned digit = (unsigned)(groups[i] >> shift) & 15u;
            begun = begun || digit != 0 || shift == 0;
            if (begun) out[len++] = digits[digit];
        }
    }
    return len;
}

static bool is_ipv6(struct text text) {
    uint16_t groups[GROUP_COUNT];
    if (!read_ipv6(text, groups)) return false;
    bool mapped = groups[5] == 0xffff;
    for (size_t i = 0; i < 5; i++) mapped = mapped && groups[i] == 0;
    if (mapped) return false;
    char printed[IPV6_MAX_BYTES];
    size_t len = print_ipv6(groups, printed);
    return text_equal(text, (struct text){printed, len});
}

const char *why_not_interface_address(struct text text) {
    size_t slash = text_find(text, '/', 0);
    struct text address = text_slice(text, 0, slash);
    struct text prefix = slash < text.len ? text_slice(text, slash + 1, text.len) : (struct text){"", 0};
    if (text_find(address, ':', 0) < address.len)
        return is_ipv6(address) && is_number(prefix, 128) ? NULL : WHY;
    return is_ipv4(address) && is_number(prefix, 32) ? NULL : WHY;
}
