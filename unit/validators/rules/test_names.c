// SPDX-License-Identifier: Apache-2.0
// Edges of resource-name and hugepage-size: what is near a right name, and what is not.
#include <criterion/criterion.h>

#include "unit/lib/judge.h"

struct name_case {
    const char *name;
    const char *hint_36; // NULL: no finding
    const char *hint_37;
};

#define LEAVE_OUT "leave it out: other resources are the device itself and need no mapping"

static void expect_hint(const char *rule, int minor, const char *name, const char *hint) {
    struct judged judged;
    judged_init(&judged, slice_mapping(minor, name, NULL, "\"4Gi\"", NULL), minor);
    judged_run(&judged, rule, RULES_OFFLINE);
    if (hint == NULL) {
        cr_expect_eq(judged.findings.count, 0, "%s on 1.%d", name, minor);
    } else {
        const struct finding *finding = judged_only(&judged);
        cr_expect(text_equal(finding->hint, text_of(hint)), "%s on 1.%d: %.*s", name, minor,
                  TEXT_ARG(finding->hint));
        cr_expect(text_equal(finding->value, text_of(name)));
        cr_expect_eq(finding->severity, SEVERITY_DENY);
    }
    judged_release(&judged);
}

Test(resource_name, near_misses_name_what_was_meant) {
    static const struct name_case cases[] = {
        {"cpu", NULL, NULL},
        {"memory", NULL, NULL},
        {"hugepages-2Mi", NULL, NULL},
        {"hugepages-nonsense", NULL, NULL}, // hugepage-size tells
        {"ephemeral-storage", NULL, "1.36 counted it, 1.37 has nothing in its place: leave it out"},
        {"CPU", "did you mean cpu?", "did you mean cpu?"},
        {"cpus", "did you mean cpu?", "did you mean cpu?"},
        {"vCPU", "did you mean cpu?", "did you mean cpu?"},
        {"requests.cpu", "did you mean cpu?", "did you mean cpu?"},
        {"limits.memory", "did you mean memory?", "did you mean memory?"},
        {"MEMORY", "did you mean memory?", "did you mean memory?"},
        {"memroy", "did you mean memory?", "did you mean memory?"},
        {"memories", LEAVE_OUT, LEAVE_OUT},
        {"storage", "did you mean ephemeral-storage?", LEAVE_OUT},
        {"ephemeral_storage", "did you mean ephemeral-storage?", LEAVE_OUT},
        {"hugepages", "did you mean hugepages-2Mi?", "did you mean hugepages-2Mi?"},
        {"hugepage-1Gi", "did you mean hugepages-1Gi?", "did you mean hugepages-1Gi?"},
        {"HugePages-2Mi", "did you mean hugepages-2Mi?", "did you mean hugepages-2Mi?"},
        {"requests.hugepages-1Gi", "did you mean hugepages-1Gi?", "did you mean hugepages-1Gi?"},
        {"hugepages_huge", "did you mean hugepages-2Mi?", "did you mean hugepages-2Mi?"},
        {"gpu", LEAVE_OUT, LEAVE_OUT}, // one letter from cpu, and not meant
        {"pods", LEAVE_OUT, LEAVE_OUT},
        {"", LEAVE_OUT, LEAVE_OUT},
        {"nvidia.com/gpu", LEAVE_OUT, LEAVE_OUT},
        {"a-name-that-is-longer-than-sixty-four-bytes-and-so-is-near-to-nothing-at-all", LEAVE_OUT,
         LEAVE_OUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_hint("resource-name", 36, cases[i].name, cases[i].hint_36);
        expect_hint("resource-name", 37, cases[i].name, cases[i].hint_37);
    }
}

Test(hugepage_size, only_the_names_of_page_sizes_pass) {
    static const char other[] = "use a size that the node offers, such as hugepages-2Mi";
    static const struct name_case cases[] = {
        {"memory", NULL, NULL},
        {"hugepages-4Ki", NULL, NULL},
        {"hugepages-64Ki", NULL, NULL},
        {"hugepages-512Mi", NULL, NULL},
        {"hugepages-16Gi", NULL, NULL},
        {"hugepages-1024Mi", "did you mean hugepages-1Gi?", "did you mean hugepages-1Gi?"},
        {"hugepages-2097152", "did you mean hugepages-2Mi?", "did you mean hugepages-2Mi?"},
        {"hugepages-0.5Gi", "did you mean hugepages-512Mi?", "did you mean hugepages-512Mi?"},
        {"hugepages-+2Mi", "did you mean hugepages-2Mi?", "did you mean hugepages-2Mi?"},
        {"hugepages-2M", "did you mean hugepages-2Mi?", "did you mean hugepages-2Mi?"},
        {"hugepages-64k", "did you mean hugepages-64Ki?", "did you mean hugepages-64Ki?"},
        {"hugepages-64K", "did you mean hugepages-64Ki?", "did you mean hugepages-64Ki?"},
        {"hugepages-3M", other, other},
        {"hugepages-3Mi", other, other},
        {"hugepages-0", other, other},
        {"hugepages--2Mi", other, other},
        {"hugepages-", other, other},
        {"hugepages-16Ei", other, other},
        {"hugepages-1.5", other, other},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_hint("hugepage-size", 36, cases[i].name, cases[i].hint_36);
        expect_hint("hugepage-size", 37, cases[i].name, cases[i].hint_37);
    }
}

Test(hugepage_size, one_is_a_page_size_of_its_own) {
    expect_hint("hugepage-size", 36, "hugepages-1", NULL); // nobody has it, and it is a power of two
}
