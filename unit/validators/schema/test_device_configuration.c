// SPDX-License-Identifier: Apache-2.0
// Opaque parameters.
#include "validators/schema/device_configuration.h"

#include <criterion/criterion.h>

#include "unit/lib/found.h"

static const struct path ROOT = {.kind = PATH_FIELD, .name = TEXT_INIT("c")};

static void expect_raw(int line, const char *raw, bool unlimited, const char *want) {
    struct found found;
    found_init(&found);
    schema_raw_object(text_of(raw), 12, unlimited, &ROOT, &found.findings);
    found_expect(&found, line, want);
    found_release(&found);
}
#define RAW(...) expect_raw(__LINE__, __VA_ARGS__)

Test(device_configuration, raw_objects) {
    RAW("", false, "c Required");
    RAW("null", false, "c Required");
    RAW("{}", false, "");
    RAW("[]", false, "c Invalid");
    RAW("\"a\"", false, "c Invalid");
    RAW("{\"a\":12345}", false, "");
    RAW("{\"a\":1234567}", false, "c TooLong");
    RAW("{\"a\":1234567}", true, "");
    RAW("[1234567890]", true, "c Invalid");
    RAW("{\"a\":1e999}", false, "c Invalid");
}

Test(device_configuration, entries) {
    struct found found;
    found_init(&found);
    struct device_configuration config = {0};
    schema_device_configuration(&config, 36, false, &ROOT, &found.findings);
    FOUND(&found, "c.opaque Required");
    config.opaque_set = true;
    schema_device_configuration(&config, 36, false, &ROOT, &found.findings);
    FOUND(&found, "c.opaque.driver Required, c.opaque.parameters Required");
    config.parameters = TEXT("{}");
    // U+0130: Go lowers it to i, its regular expressions do not fold it.
    config.driver = TEXT("\xC4\xB0.example.com");
    schema_device_configuration(&config, 36, false, &ROOT, &found.findings);
    FOUND(&found, "");
    schema_device_configuration(&config, 37, false, &ROOT, &found.findings);
    FOUND(&found, "c.opaque.driver Invalid");
    config.driver = TEXT("example.com");
    char *long_text = arena_alloc(&found.arena, OPAQUE_PARAMETERS_MAX_BYTES + 1);
    memset(long_text, ' ', OPAQUE_PARAMETERS_MAX_BYTES + 1);
    memcpy(long_text, "{}", 2);
    config.parameters = (struct text){long_text, OPAQUE_PARAMETERS_MAX_BYTES};
    schema_device_configuration(&config, 37, false, &ROOT, &found.findings);
    FOUND(&found, "");
    config.parameters.len++;
    schema_device_configuration(&config, 37, false, &ROOT, &found.findings);
    FOUND(&found, "c.opaque.parameters TooLong");
    schema_device_configuration(&config, 37, true, &ROOT, &found.findings);
    FOUND(&found, "");
    found_release(&found);
}
