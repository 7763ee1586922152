// SPDX-License-Identifier: Apache-2.0
// What a test expects to be found.
#include "unit/lib/found.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define ARENA_CAP_BYTES ((size_t)64 << 20)

void found_init(struct found *found) {
    arena_init(&found->arena, ARENA_CAP_BYTES);
    finding_list_init(&found->findings, &found->arena);
}

void found_release(struct found *found) {
    arena_release(&found->arena);
}

void found_expect(struct found *found, int line, const char *want) {
    static char got[1 << 16];
    size_t len = 0;
    got[0] = '\0';
    cr_assert(finding_list_is_sound(&found->findings), "line %d: memory ran out", line);
    finding_list_sort(&found->findings);
    for (size_t i = 0; i < found->findings.count; i++) {
        const struct finding *finding = &found->findings.items[i];
        cr_assert(finding->detail.len > 0, "line %d: %.*s has no detail", line, TEXT_ARG(finding->path));
        if (i > 0 && text_equal(finding->path, finding[-1].path) && finding->type == finding[-1].type)
            continue;
        const char *reason = finding_type_reason(finding->type);
        if (strncmp(reason, "FieldValue", 10) == 0) reason += 10;
        len += (size_t)snprintf(got + len, sizeof got - len, "%s%.*s %s", len == 0 ? "" : ", ",
                                TEXT_ARG(finding->path), reason);
        cr_assert(len < sizeof got);
    }
    cr_assert_str_eq(got, want, "line %d:\n  found %s\n  want  %s", line, got, want);
    finding_list_init(&found->findings, &found->arena);
}
