// SPDX-License-Identifier: Apache-2.0
// Numbers beyond a double.
#include <criterion/criterion.h>

#include "validators/core/arena.h"
#include "validators/schema/json_numbers.h"

#define EXPECT_NUMBER(raw, want)                                                                             \
    do {                                                                                                     \
        struct text number = json_number_too_large(text_of(raw));                                            \
        cr_assert(text_equal(number, text_of(want)), "%s: found '%.*s'", raw, TEXT_ARG(number));             \
    } while (0)

Test(json_numbers, finds_the_first_that_is_too_large) {
    EXPECT_NUMBER("{}", "");
    EXPECT_NUMBER("{\"a\":[1,-2.5,3e4,0,0.0e999999,-0]}", "");
    EXPECT_NUMBER("{\"a\":1e309}", "1e309");
    EXPECT_NUMBER("{\"a\":-1e309,\"b\":2e400}", "1e309");
    EXPECT_NUMBER("[1E+400]", "1E+400");
    EXPECT_NUMBER("1e308", "");
    EXPECT_NUMBER("1e-400", "");
    EXPECT_NUMBER("1.8e308", "1.8e308");
    EXPECT_NUMBER("1.7e308", "");
    EXPECT_NUMBER("1e99999999999999999999", "1e99999999999999999999");
    EXPECT_NUMBER("1e-99999999999999999999", "");
    EXPECT_NUMBER("0.00001e313", "");
    EXPECT_NUMBER("0.00001e314", "0.00001e314");
    EXPECT_NUMBER("12345e305", "12345e305");
}

Test(json_numbers, passes_over_strings) {
    EXPECT_NUMBER("{\"1e999\":\"1e999\"}", "");
    EXPECT_NUMBER("{\"a\":\"\\\"1e999\",\"b\":7}", "");
    EXPECT_NUMBER("{\"a\":\"\\\\\",\"b\":1e999}", "1e999");
}

// 2^1024 - 2^970 is where Go begins to round to infinity.
#define LIMIT                                                                                                \
    "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"             \
    "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"             \
    "854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704"             \
    "342711559699508093042880177904174497792"

static char longest[400];

static const char *with_digit(size_t place, char digit) {
    size_t len = strlen(LIMIT);
    memcpy(longest, LIMIT, len + 1);
    longest[place] = digit;
    return longest;
}

Test(json_numbers, the_limit_itself) {
    cr_assert_eq(strlen(LIMIT), 309);
    EXPECT_NUMBER(LIMIT, LIMIT);
    EXPECT_NUMBER(with_digit(308, '3'), longest);
    EXPECT_NUMBER(with_digit(308, '1'), "");
    EXPECT_NUMBER(with_digit(307, '8'), "");
    EXPECT_NUMBER(with_digit(308, '\0'), "");
    EXPECT_NUMBER(with_digit(0, '2'), longest);
    EXPECT_NUMBER(LIMIT ".5", LIMIT ".5");
    EXPECT_NUMBER(LIMIT "0e-1", LIMIT "0e-1");
    EXPECT_NUMBER(LIMIT "e-1", "");
    EXPECT_NUMBER(LIMIT "e1", LIMIT "e1");
    EXPECT_NUMBER("0." LIMIT "e309", "0." LIMIT "e309");
}
