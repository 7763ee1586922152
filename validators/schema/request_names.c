// SPDX-License-Identifier: Apache-2.0
// References to requests.
#include "validators/schema/request_names.h"

#include "validators/schema/device_selector.h"
#include "validators/schema/names.h"

void request_names_init(struct request_names *names, const struct device_claim *claim, struct arena *arena) {
    size_t subrequest_count = 0;
    for (size_t i = 0; i < claim->requests.count; i++)
        subrequest_count += claim->requests.items[i].first_available.count;
    key_index_init(&names->requests, arena, claim->requests.count);
    key_index_init(&names->subrequests, arena, subrequest_count);
    for (size_t i = 0; i < claim->requests.count; i++) {
        const struct device_request *request = &claim->requests.items[i];
        key_index_add(&names->requests, 0, request->name, i);
        for (size_t j = 0; j < request->first_available.count; j++)
            key_index_add(&names->subrequests, i, request->first_available.items[j].name, j);
    }
    key_index_sort(&names->requests, arena);
    key_index_sort(&names->subrequests, arena);
}

static bool is_reference(const struct request_names *names, struct text name) {
    size_t slash = text_find(name, '/', 0);
    struct text request = text_slice(name, 0, slash);
    size_t position = key_index_last(&names->requests, 0, request);
    if (position == KEY_INDEX_NONE || why_not_dns1123_label(request) != NULL) return false;
    if (slash == name.len) return true;
    struct text subrequest = text_slice(name, slash + 1, name.len); // one with a slash is no label
    return key_index_first(&names->subrequests, position, subrequest) != KEY_INDEX_NONE &&
           why_not_dns1123_label(subrequest) == NULL;
}

void schema_request_reference(const struct request_names *names, struct text name, const struct path *path,
                              struct finding_list *findings) {
    if (is_reference(names, name)) return;
    finding_hint(finding_add(findings, FINDING_INVALID, path, name, TEXT("names no request of the claim")),
                 TEXT("write the name of a request, or request/subrequest"));
}

void schema_request_references(const struct request_names *names, const struct text_list *references,
                               const struct path *path, struct finding_list *findings) {
    if (!schema_count_fits(references->count, DEVICE_REQUESTS_MAX_COUNT, path, findings)) return;
    for (size_t i = 0; i < references->count; i++) {
        struct path item_path = path_index(path, i);
        struct text reference = references->items[i];
        schema_request_reference(names, reference, &item_path, findings);
        for (size_t j = 0; j < i; j++) {
            if (!text_equal(references->items[j], reference)) continue;
            finding_add(findings, FINDING_DUPLICATE, &item_path, reference, TEXT("is listed already"));
            break;
        }
    }
}
