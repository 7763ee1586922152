// SPDX-License-Identifier: Apache-2.0
#include "server/kube_version.h"

#include <criterion/criterion.h>

Test(kube_version, spellings) {
    static const struct {
        const char *text;
        int minor;
    } good[] = {{"1.36", 36},  {"v1.36", 36},       {"1.36.3", 36}, {"v1.37.2-gke.100", 37},
                {"1.36+", 36}, {"1.37.0+k3s1", 37}, {"1.40", 40},   {"v1.136", 136}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct fault fault = {0};
        int minor = 0;
        cr_expect(kube_version_parse(text_of(good[i].text), &minor, &fault), "%s: %s", good[i].text,
                  fault.text);
        cr_expect_eq(minor, good[i].minor, "%s: %d", good[i].text, minor);
    }
    static const char *const bad[] = {"",       "1",     "1.",      ".36",     "36",     "v",
                                      "vv1.36", "1.36.", "1.36x",   "1.36-1",  "1.36.x", " 1.36",
                                      "1.36 ",  "-1.36", "1.36.3x", "1.99999", "latest"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fault fault = {0};
        int minor = -7;
        cr_expect_not(kube_version_parse(text_of(bad[i]), &minor, &fault), "%s", bad[i]);
        cr_expect_eq(fault.code, FAULT_USAGE);
        cr_expect(strstr(fault.text, "is no Kubernetes version; write it as 1.37") != NULL, "%s: %s", bad[i],
                  fault.text);
        cr_expect_eq(minor, -7);
    }
}

Test(kube_version, versions_before_the_first_known) {
    static const char *const old[] = {"1.35", "1.0", "v1.9.3", "0.36", "2.36", "2.0"};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        struct fault fault = {0};
        int minor;
        cr_expect_not(kube_version_parse(text_of(old[i]), &minor, &fault), "%s", old[i]);
        cr_expect(strstr(fault.text, "1.36 is the oldest that is") != NULL, "%s: %s", old[i], fault.text);
    }
}
