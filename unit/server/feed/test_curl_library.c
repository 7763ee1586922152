// SPDX-License-Identifier: Apache-2.0
#include "server/feed/curl_library.h"

#include <criterion/criterion.h>

// A pointer that was left out of the table would be called as NULL.
Test(curl_library, has_every_function) {
    struct fault fault = {.code = FAULT_NONE};
    cr_assert_null(libcurl.easy_init, "nothing is loaded before somebody asks");
    cr_assert(curl_library_load(&fault), "%s", fault.text);
#define EXPECT_FUNCTION(name) cr_expect_not_null(libcurl.name, #name);
    CURL_LIBRARY_FUNCTIONS(EXPECT_FUNCTION)
    void (*first)(CURL *) = libcurl.easy_cleanup;
    cr_assert(curl_library_load(&fault), "%s", fault.text);
    cr_expect_eq(libcurl.easy_cleanup, first);
    CURL *easy = libcurl.easy_init();
    cr_assert_not_null(easy);
    cr_expect_eq(libcurl.easy_setopt(easy, CURLOPT_URL, "https://localhost"), CURLE_OK);
    libcurl.easy_cleanup(easy);
}
