// SPDX-License-Identifier: Apache-2.0
// Resolving YAML 1.1 scalars. The first byte tells most of it: only signs, digits, dots and the letters that
// a word of the language begins with are looked at twice.
#include "server/codec/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define YAML_TAG_PREFIX "tag:yaml.org,2002:"
// Longer scalars are never numbers that matter; what is cut here is text in Go too (its floats are out of
// range), but for numbers with hundreds of digits behind the point.
#define NUMBER_TEXT_BYTES 1024
#define INTEGER_DIGITS    18 // so many decimal digits always fit int64

enum hint { HINT_NONE, HINT_WORD, HINT_DOT, HINT_SIGN, HINT_DIGIT };

static const unsigned char hints[256] = {
    ['+'] = HINT_SIGN,  ['-'] = HINT_SIGN,  ['.'] = HINT_DOT,   ['~'] = HINT_WORD,  ['y'] = HINT_WORD,
    ['Y'] = HINT_WORD,  ['n'] = HINT_WORD,  ['N'] = HINT_WORD,  ['t'] = HINT_WORD,  ['T'] = HINT_WORD,
    ['f'] = HINT_WORD,  ['F'] = HINT_WORD,  ['o'] = HINT_WORD,  ['O'] = HINT_WORD,  ['0'] = HINT_DIGIT,
    ['1'] = HINT_DIGIT, ['2'] = HINT_DIGIT, ['3'] = HINT_DIGIT, ['4'] = HINT_DIGIT, ['5'] = HINT_DIGIT,
    ['6'] = HINT_DIGIT, ['7'] = HINT_DIGIT, ['8'] = HINT_DIGIT, ['9'] = HINT_DIGIT,
};

struct word {
    struct text text;
    enum yaml_scalar_kind kind;
    int sign; // of an infinity; 0 is not a number
};

static const struct word words[] = {
    {TEXT_INIT("y"), YAML_IS_TRUE, 0},
    {TEXT_INIT("Y"), YAML_IS_TRUE, 0},
    {TEXT_INIT("yes"), YAML_IS_TRUE, 0},
    {TEXT_INIT("Yes"), YAML_IS_TRUE, 0},
    {TEXT_INIT("YES"), YAML_IS_TRUE, 0},
    {TEXT_INIT("true"), YAML_IS_TRUE, 0},
    {TEXT_INIT("True"), YAML_IS_TRUE, 0},
    {TEXT_INIT("TRUE"), YAML_IS_TRUE, 0},
    {TEXT_INIT("on"), YAML_IS_TRUE, 0},
    {TEXT_INIT("On"), YAML_IS_TRUE, 0},
    {TEXT_INIT("ON"), YAML_IS_TRUE, 0},
    {TEXT_INIT("n"), YAML_IS_FALSE, 0},
    {TEXT_INIT("N"), YAML_IS_FALSE, 0},
    {TEXT_INIT("no"), YAML_IS_FALSE, 0},
    {TEXT_INIT("No"), YAML_IS_FALSE, 0},
    {TEXT_INIT("NO"), YAML_IS_FALSE, 0},
    {TEXT_INIT("false"), YAML_IS_FALSE, 0},
    {TEXT_INIT("False"), YAML_IS_FALSE, 0},
    {TEXT_INIT("FALSE"), YAML_IS_FALSE, 0},
    {TEXT_INIT("off"), YAML_IS_FALSE, 0},
    {TEXT_INIT("Off"), YAML_IS_FALSE, 0},
    {TEXT_INIT("OFF"), YAML_IS_FALSE, 0},
    {TEXT_INIT("~"), YAML_IS_NULL, 0},
    {TEXT_INIT("null"), YAML_IS_NULL, 0},
    {TEXT_INIT("Null"), YAML_IS_NULL, 0},
    {TEXT_INIT("NULL"), YAML_IS_NULL, 0},
    {TEXT_INIT(".nan"), YAML_IS_NOT_FINITE, 0},
    {TEXT_INIT(".NaN"), YAML_IS_NOT_FINITE, 0},
    {TEXT_INIT(".NAN"), YAML_IS_NOT_FINITE, 0},
    {TEXT_INIT(".inf"), YAML_IS_NOT_FINITE, 1},
    {TEXT_INIT(".Inf"), YAML_IS_NOT_FINITE, 1},
    {TEXT_INIT(".INF"), YAML_IS_NOT_FINITE, 1},
    {TEXT_INIT("+.inf"), YAML_IS_NOT_FINITE, 1},
    {TEXT_INIT("+.Inf"), YAML_IS_NOT_FINITE, 1},
    {TEXT_INIT("+.INF"), YAML_IS_NOT_FINITE, 1},
    {TEXT_INIT("-.inf"), YAML_IS_NOT_FINITE, -1},
    {TEXT_INIT("-.Inf"), YAML_IS_NOT_FINITE, -1},
    {TEXT_INIT("-.INF"), YAML_IS_NOT_FINITE, -1},
};

#define WORD_LONGEST 5

static bool find_word(struct text text, struct yaml_scalar *scalar) {
    if (text.len == 0) {
        scalar->kind = YAML_IS_NULL;
        return true;
    }
    if (text.len > WORD_LONGEST) return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!text_equal(words[i].text, text)) continue;
        scalar->kind = words[i].kind;
        if (words[i].kind == YAML_IS_NOT_FINITE)
            scalar->number = words[i].sign == 0 ? NAN : words[i].sign > 0 ? INFINITY : -INFINITY;
        return true;
    }
    return false;
}

static int digit_value(char byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return 99;
}

// All of the text as an unsigned number of a base; false when it is none or leaves uint64.
static bool parse_digits(struct text text, unsigned base, uint64_t *ret_value) {
    if (text.len == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_value(text.ptr[i]);
        if (digit >= (int)base) return false;
        if (__builtin_mul_overflow(value, (uint64_t)base, &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)digit, &value)) return false;
    }
    *ret_value = value;
    return true;
}

// Strips the prefix that tells the base, as Go's strconv does for base 0.
static struct text strip_base(struct text text, unsigned *ret_base) {
    *ret_base = 10;
    if (text.len == 0 || text.ptr[0] != '0') return text;
    char mark = text.len >= 3 ? text.ptr[1] : '\0';
    *ret_base = mark == 'x' || mark == 'X'   ? 16
                : mark == 'o' || mark == 'O' ? 8
                : mark == 'b' || mark == 'B' ? 2
                                             : 0;
    if (*ret_base != 0) return text_slice(text, 2, text.len);
    *ret_base = 8;
    return text.len == 1 ? text : text_slice(text, 1, text.len);
}

// Gives a magnitude and a sign to the scalar; false when it leaves both int64 and uint64.
static bool take_integer(struct yaml_scalar *scalar, uint64_t magnitude, bool signed_text, bool negative) {
    if (negative) {
        if (magnitude > (uint64_t)INT64_MAX + 1) return false;
        scalar->kind = YAML_IS_INTEGER;
        scalar->integer = magnitude == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)magnitude;
        return true;
    }
    if (magnitude <= INT64_MAX) {
        scalar->kind = YAML_IS_INTEGER;
        scalar->integer = (int64_t)magnitude;
        return true;
    }
    if (signed_text) return false;
    scalar->kind = YAML_IS_UNSIGNED;
    scalar->whole = magnitude;
    return true;
}

static bool parse_integer(struct text text, struct yaml_scalar *scalar) {
    bool has_sign = text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-');
    bool negative = has_sign && text.ptr[0] == '-';
    unsigned base;
    struct text digits = strip_base(text_slice(text, has_sign ? 1 : 0, text.len), &base);
    uint64_t magnitude;
    return parse_digits(digits, base, &magnitude) && take_integer(scalar, magnitude, has_sign, negative);
}

// go-yaml tries what stands behind a lower-case 0b once more, and there a sign may follow.
static bool parse_binary_rest(struct text text, struct yaml_scalar *scalar) {
    if (!text_starts_with(text, TEXT("0b")) || text.len < 4) return false;
    if (text.ptr[2] != '-' && text.ptr[2] != '+') return false;
    uint64_t magnitude;
    return parse_digits(text_slice(text, 3, text.len), 2, &magnitude) &&
           take_integer(scalar, magnitude, true, text.ptr[2] == '-');
}

static size_t count_digits(struct text text, size_t at) {
    size_t count = 0;
    while (at + count < text.len && text.ptr[at + count] >= '0' && text.ptr[at + count] <= '9') count++;
    return count;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
static bool looks_like_float(struct text text) {
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    size_t whole = count_digits(text, at);
    at += whole;
    if (at < text.len && text.ptr[at] == '.') {
        size_t fraction = count_digits(text, at + 1);
        if (whole == 0 && fraction == 0) return false;
        at += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        at++;
        if (at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+')) at++;
        size_t exponent = count_digits(text, at);
        if (exponent == 0) return false;
        at += exponent;
    }
    return at == text.len;
}

static bool parse_float(struct text text, struct yaml_scalar *scalar) {
    char copy[NUMBER_TEXT_BYTES];
    if (text.len >= sizeof copy || !looks_like_float(text)) return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double number = strtod(copy, NULL);
    if (!isfinite(number)) return false;
    scalar->kind = YAML_IS_FLOAT;
    scalar->number = number;
    return true;
}

// Copies a number without its underscores.
static bool drop_underscores(struct text text, char copy[NUMBER_TEXT_BYTES], struct text *ret) {
    if (text.len >= NUMBER_TEXT_BYTES) return false;
    size_t kept = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '_') copy[kept++] = text.ptr[i];
    *ret = (struct text){copy, kept};
    return true;
}

// Numbers that begin with a sign or a digit; underscores do not count.
static bool parse_number(struct text text, struct yaml_scalar *scalar) {
    char copy[NUMBER_TEXT_BYTES];
    if (memchr(text.ptr, '_', text.len) != NULL && !drop_underscores(text, copy, &text)) return false;
    return parse_integer(text, scalar) || parse_float(text, scalar) || parse_binary_rest(text, scalar);
}

static bool is_digit(struct text text, size_t at) {
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

// Numbers that begin with a point go to Go's strconv as they are: there an underscore stands between two
// digits.
static bool parse_fraction(struct text text, struct yaml_scalar *scalar) {
    char copy[NUMBER_TEXT_BYTES];
    if (memchr(text.ptr, '_', text.len) == NULL) return parse_float(text, scalar);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '_' && (i == 0 || !is_digit(text, i - 1) || !is_digit(text, i + 1))) return false;
    return drop_underscores(text, copy, &text) && parse_float(text, scalar);
}

static bool resolve_by_hint(struct text text, struct yaml_scalar *scalar) {
    enum hint hint = text.len == 0 ? HINT_WORD : (enum hint)hints[(unsigned char)text.ptr[0]];
    if (hint == HINT_NONE) return false;
    if (hint == HINT_DIGIT && text.ptr[0] != '0' && text.len <= INTEGER_DIGITS &&
        count_digits(text, 0) == text.len) {
        int64_t value = 0;
        for (size_t i = 0; i < text.len; i++) value = value * 10 + (text.ptr[i] - '0');
        scalar->kind = YAML_IS_INTEGER;
        scalar->integer = value;
        return true;
    }
    if (hint != HINT_DIGIT && find_word(text, scalar)) return true;
    if (hint == HINT_DOT) return parse_fraction(text, scalar);
    return hint != HINT_WORD && parse_number(text, scalar);
}

// One number of a date: at most `most` digits, at least one, within its range.
static bool take_date_part(struct text text, size_t *at, size_t most, unsigned low, unsigned high,
                           unsigned *ret) {
    unsigned value = 0;
    size_t count = 0;
    while (count < most && *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9') {
        value = value * 10 + (unsigned)(text.ptr[*at] - '0');
        count++;
        (*at)++;
    }
    *ret = value;
    return count > 0 && value >= low && value <= high;
}

static bool take_byte(struct text text, size_t *at, const char *bytes) {
    if (*at >= text.len || strchr(bytes, text.ptr[*at]) == NULL || text.ptr[*at] == '\0') return false;
    (*at)++;
    return true;
}

// The zone behind a time: Z or +hh:mm.
static bool take_zone(struct text text, size_t *at) {
    unsigned part;
    if (take_byte(text, at, "Z")) return true;
    return take_byte(text, at, "+-") && take_date_part(text, at, 2, 0, 24, &part) &&
           take_byte(text, at, ":") && take_date_part(text, at, 2, 0, 60, &part);
}

// Whether a text that is tagged !!timestamp is one. Source: resolve.go, parseTimestamp.
static bool is_timestamp(struct text text) {
    static const unsigned char month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    size_t at = 0;
    unsigned year, month, day, part;
    if (count_digits(text, 0) != 4 || !take_date_part(text, &at, 4, 0, 9999, &year)) return false;
    if (!take_byte(text, &at, "-") || !take_date_part(text, &at, 2, 1, 12, &month)) return false;
    if (!take_byte(text, &at, "-") || !take_date_part(text, &at, 2, 1, 31, &day)) return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > month_days[month - 1] + (unsigned)(leap && month == 2)) return false;
    if (at == text.len) return true;
    bool zoned = text.ptr[at] != ' ';
    if (!take_byte(text, &at, "Tt ") || !take_date_part(text, &at, 2, 0, 23, &part)) return false;
    if (!take_byte(text, &at, ":") || !take_date_part(text, &at, 2, 0, 59, &part)) return false;
    if (!take_byte(text, &at, ":") || !take_date_part(text, &at, 2, 0, 59, &part)) return false;
    if (take_byte(text, &at, ".,")) {
        size_t digits = count_digits(text, at);
        if (digits == 0) return false;
        at += digits;
    }
    return (!zoned || take_zone(text, &at)) && at == text.len;
}

// What a standard tag asks for; true when what was found is that.
static bool obeys_tag(struct yaml_scalar *scalar, struct text tag) {
    if (text_equal(tag, TEXT("bool"))) return scalar->kind == YAML_IS_TRUE || scalar->kind == YAML_IS_FALSE;
    if (text_equal(tag, TEXT("null"))) return scalar->kind == YAML_IS_NULL;
    if (text_equal(tag, TEXT("int")))
        return scalar->kind == YAML_IS_INTEGER || scalar->kind == YAML_IS_UNSIGNED;
    if (text_equal(tag, TEXT("float"))) {
        if (scalar->kind == YAML_IS_INTEGER) {
            scalar->kind = YAML_IS_FLOAT;
            scalar->number = (double)scalar->integer;
        }
        return scalar->kind == YAML_IS_FLOAT || scalar->kind == YAML_IS_NOT_FINITE;
    }
    return false;
}

struct yaml_scalar yaml_scalar_resolve(struct text text, const char *tag, bool implicit) {
    struct yaml_scalar scalar = {.kind = YAML_IS_TEXT, .text = text};
    if (tag == NULL) {
        if (implicit && !resolve_by_hint(text, &scalar)) scalar.kind = YAML_IS_TEXT;
        return scalar;
    }
    struct text name = text_of(tag);
    if (!text_starts_with(name, TEXT(YAML_TAG_PREFIX))) return scalar;
    name = text_slice(name, sizeof YAML_TAG_PREFIX - 1, name.len);
    if (text_equal(name, TEXT("timestamp"))) {
        if (!is_timestamp(text)) scalar.kind = YAML_IS_WRONG;
        return scalar;
    }
    if (text_equal(name, TEXT("binary"))) {
        scalar.kind = YAML_IS_WRONG;
        return scalar;
    }
    bool resolvable = text_equal(name, TEXT("bool")) || text_equal(name, TEXT("int")) ||
                      text_equal(name, TEXT("float")) || text_equal(name, TEXT("null"));
    if (!resolvable) return scalar;
    if (!resolve_by_hint(text, &scalar)) scalar.kind = YAML_IS_TEXT;
    if (!obeys_tag(&scalar, name)) scalar.kind = YAML_IS_WRONG;
    return scalar;
}

// The shortest decimal digits that read back as the same number: "d.ddde±xx" in buffer.
static int shortest_exponent_form(double number, bool single, char *buffer, size_t size) {
    int len = 0;
    for (int precision = 0; precision <= 17; precision++) {
        len = snprintf(buffer, size, "%.*e", precision, number);
        bool same = single ? strtof(buffer, NULL) == (float)number : strtod(buffer, NULL) == number;
        if (same) break;
    }
    return len;
}

// Splits "d.ddde±xx" into its digits and exponent.
static size_t split_exponent_form(const char *form, char digits[24], int *ret_exponent) {
    size_t count = 0;
    const char *at = form;
    for (; *at != '\0' && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9' && count < 23) digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0') count--;
    *ret_exponent = *at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0;
    digits[count] = '\0';
    return count;
}

// Writes digits and exponent as Go's %e (at least exponent_digits of it) or %f.
static size_t print_float(double number, bool single, bool as_exponent, int exponent_digits, char *buffer) {
    char form[64];
    char digits[24];
    int exponent;
    shortest_exponent_form(fabs(number), single, form, sizeof form);
    size_t count = split_exponent_form(form, digits, &exponent);
    const char *sign = signbit(number) ? "-" : "";
    int len;
    if (as_exponent) {
        len = snprintf(buffer, YAML_NUMBER_BYTES, "%s%c%s%se%c%0*d", sign, digits[0], count > 1 ? "." : "",
                       digits + 1, exponent < 0 ? '-' : '+', exponent_digits, abs(exponent));
    } else if (exponent < 0) {
        len = snprintf(buffer, YAML_NUMBER_BYTES, "%s0.%.*s%s", sign, -exponent - 1, "0000000000", digits);
    } else if ((size_t)exponent + 1 >= count) {
        len = snprintf(buffer, YAML_NUMBER_BYTES, "%s%s%.*s", sign, digits, exponent + 1 - (int)count,
                       "0000000000000000000000");
    } else {
        len = snprintf(buffer, YAML_NUMBER_BYTES, "%s%.*s.%s", sign, exponent + 1, digits,
                       digits + exponent + 1);
    }
    return (size_t)len;
}

size_t yaml_scalar_print(const struct yaml_scalar *scalar, char buffer[YAML_NUMBER_BYTES]) {
    if (scalar->kind == YAML_IS_INTEGER)
        return (size_t)snprintf(buffer, YAML_NUMBER_BYTES, "%lld", (long long)scalar->integer);
    if (scalar->kind == YAML_IS_UNSIGNED)
        return (size_t)snprintf(buffer, YAML_NUMBER_BYTES, "%llu", (unsigned long long)scalar->whole);
    double size = fabs(scalar->number);
    bool as_exponent = size != 0 && (size < 1e-6 || size >= 1e21);
    // encoding/json writes e-7 where %e writes e-07, and leaves e+07 as it is; only one digit can be zero.
    return print_float(scalar->number, false, as_exponent, size < 1 ? 1 : 2, buffer);
}

bool yaml_scalar_key(const struct yaml_scalar *scalar, char buffer[YAML_NUMBER_BYTES], struct text *ret_key) {
    switch (scalar->kind) {
    case YAML_IS_TEXT: *ret_key = scalar->text; return true;
    case YAML_IS_TRUE: *ret_key = TEXT("true"); return true;
    case YAML_IS_FALSE: *ret_key = TEXT("false"); return true;
    case YAML_IS_INTEGER: *ret_key = (struct text){buffer, yaml_scalar_print(scalar, buffer)}; return true;
    case YAML_IS_NOT_FINITE:
        *ret_key = isnan(scalar->number) ? TEXT(".nan") : scalar->number > 0 ? TEXT(".inf") : TEXT("-.inf");
        return true;
    case YAML_IS_FLOAT: break;
    case YAML_IS_NULL:
    case YAML_IS_UNSIGNED:
    case YAML_IS_WRONG: return false;
    }
    // Go prints keys with the digits that a 32-bit float needs, and with an exponent outside 1e-4 … 1e6.
    double narrow = (double)(float)scalar->number;
    if (!isfinite(narrow)) {
        *ret_key = narrow > 0 ? TEXT(".inf") : TEXT("-.inf");
        return true;
    }
    char form[64];
    char digits[24];
    int exponent;
    shortest_exponent_form(fabs(narrow), true, form, sizeof form);
    split_exponent_form(form, digits, &exponent);
    bool as_exponent = narrow != 0 && (exponent < -4 || exponent >= 6);
    *ret_key = (struct text){buffer, print_float(narrow, true, as_exponent, 2, buffer)};
    return true;
}
