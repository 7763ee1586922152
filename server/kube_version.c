// SPDX-License-Identifier: Apache-2.0
// Reading Kubernetes versions.
#include "server/kube_version.h"

#include "validators/model/object.h"

static size_t digits_at(struct text text, size_t at) {
    size_t count = 0;
    while (at + count < text.len && text.ptr[at + count] >= '0' && text.ptr[at + count] <= '9') count++;
    return count;
}

// What may follow the minor: nothing, a plus, a patch number and a suffix.
static bool is_rest(struct text rest) {
    if (rest.len == 0 || text_equal(rest, TEXT("+"))) return true;
    if (rest.ptr[0] != '.') return false;
    size_t patch = digits_at(rest, 1);
    if (patch == 0) return false;
    return rest.len == patch + 1 || rest.ptr[patch + 1] == '-' || rest.ptr[patch + 1] == '+';
}

bool kube_version_parse(struct text text, int *ret_minor, struct fault *fault) {
    size_t at = text.len > 0 && text.ptr[0] == 'v' ? 1 : 0;
    size_t major = digits_at(text, at);
    size_t minor_at = at + major + 1;
    size_t minor_len = minor_at < text.len ? digits_at(text, minor_at) : 0;
    int64_t minor = 0;
    bool fine = major > 0 && minor_len > 0 && minor_len <= 4 && text.ptr[minor_at - 1] == '.' &&
                text_to_int64(text_slice(text, minor_at, minor_at + minor_len), &minor) &&
                is_rest(text_slice(text, minor_at + minor_len, text.len));
    if (!fine)
        return fault_set(fault, FAULT_USAGE, "\"%.*s\" is no Kubernetes version; write it as 1.%d",
                         TEXT_ARG(text), MINOR_NEWEST);
    if (!text_equal(text_slice(text, at, at + major), TEXT("1")) || minor < MINOR_OLDEST)
        return fault_set(fault, FAULT_USAGE, "Kubernetes %.*s is not known; 1.%d is the oldest that is",
                         TEXT_ARG(text), MINOR_OLDEST);
    *ret_minor = (int)minor;
    return true;
}
