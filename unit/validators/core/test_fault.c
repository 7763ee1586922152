// SPDX-License-Identifier: Apache-2.0
#include "validators/core/fault.h"

#include <criterion/criterion.h>
#include <string.h>

Test(fault, sets_and_wraps) {
    struct fault fault = {0};
    cr_expect_not(fault_set(&fault, FAULT_INPUT, "'%s' has no end", "list"));
    cr_expect_eq(fault.code, FAULT_INPUT);
    cr_expect_not(fault_wrap(&fault, "%s:%d", "a.yaml", 3));
    cr_expect_str_eq(fault.text, "a.yaml:3: 'list' has no end");
    cr_expect_eq(fault.code, FAULT_INPUT);
    cr_expect_not(fault_set(NULL, FAULT_IO, "x"));
    cr_expect_not(fault_wrap(NULL, "x"));
}

Test(fault, cuts_what_does_not_fit) {
    struct fault fault = {0};
    char longer[400];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    fault_set(&fault, FAULT_IO, "%s", longer);
    cr_expect_eq(strlen(fault.text), FAULT_TEXT_BYTES - 1);
    fault_wrap(&fault, "prefix");
    cr_expect_eq(strlen(fault.text), FAULT_TEXT_BYTES - 1);
    cr_expect(strncmp(fault.text, "prefix: xxx", 11) == 0);
    fault_wrap(&fault, "%s", longer);
    cr_expect_eq(strlen(fault.text), FAULT_TEXT_BYTES - 1);
}
