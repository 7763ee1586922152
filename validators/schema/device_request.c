// SPDX-License-Identifier: Apache-2.0
// One request of a claim: exactly one kind of device, or the first available of several.
#include "validators/schema/device_claim.h"
#include "validators/schema/device_selector.h"
#include "validators/schema/names.h"

#define FIRST_AVAILABLE_MAX_COUNT 8u

static const struct text NO_VALUE = {"", 0};

// One request or subrequest while it is judged.
struct request_part {
    const struct exact_request *request;
    const struct path *path;     // as the handwritten checks write it
    const struct path *declared; // as the declared checks write it
    bool handwritten;            // the handwritten checks get here too
    bool defaulted;              // the server has filled in allocationMode and count
};

static void check_class(const struct request_part *part, const struct claim_scope *scope) {
    struct path class_path = path_field(part->path, TEXT("deviceClassName"));
    struct text name = part->request->device_class_name;
    if (name.len == 0)
        finding_hint(finding_add(scope->findings, FINDING_REQUIRED, &class_path, name, TEXT("is required")),
                     TEXT("give the name of a DeviceClass"));
    else
        schema_form(why_not_dns1123_subdomain(name), name, &class_path, scope->findings);
}

static void check_selectors(const struct request_part *part, const struct claim_scope *scope) {
    const struct device_selector_list *selectors = &part->request->selectors;
    struct path declared_path = path_field(part->declared, TEXT("selectors"));
    if (!schema_count_fits(selectors->count, DEVICE_SELECTORS_MAX_COUNT, &declared_path, scope->findings))
        return;
    struct path path = path_field(part->path, TEXT("selectors"));
    if (part->handwritten)
        schema_device_selector_items(selectors, scope->minor, false, &path, scope->findings);
}

static void check_count(const struct request_part *part, struct text mode, const struct claim_scope *scope) {
    int64_t count = part->request->count;
    const char *why = NULL;
    if (text_equal(mode, TEXT("All"))) {
        if (count != 0) why = "must not be given when allocationMode is All";
    } else {
        if (count == 0 && part->defaulted) count = 1;
        if (count <= 0) why = "must be greater than zero";
    }
    if (why == NULL) return;
    struct path count_path = path_field(part->path, TEXT("count"));
    finding_add(scope->findings, FINDING_INVALID, &count_path,
                text_format(scope->findings->arena, "%lld", (long long)count), text_of(why));
}

static void check_allocation(const struct request_part *part, const struct claim_scope *scope) {
    struct text mode = part->request->allocation_mode;
    if (mode.len == 0 && part->defaulted) mode = TEXT("ExactCount");
    if (text_equal(mode, TEXT("All")) || text_equal(mode, TEXT("ExactCount"))) {
        if (part->handwritten) check_count(part, mode, scope);
        return;
    }
    // An empty mode is not among the declared checks.
    if (mode.len == 0 && !part->handwritten) return;
    struct path mode_path = path_field(mode.len == 0 ? part->path : part->declared, TEXT("allocationMode"));
    finding_hint(
        finding_add(scope->findings, FINDING_NOT_SUPPORTED, &mode_path, mode, TEXT("not an allocation mode")),
        TEXT("use ExactCount or All"));
}

static void check_tolerations(const struct request_part *part, const struct claim_scope *scope) {
    struct path path = path_field(part->path, TEXT("tolerations"));
    struct path declared_path = path_field(part->declared, TEXT("tolerations"));
    for (size_t i = 0; i < part->request->tolerations.count; i++) {
        const struct device_toleration *toleration = &part->request->tolerations.items[i];
        struct path declared_item = path_index(&declared_path, i);
        schema_toleration_declared(toleration, &declared_item, scope->findings);
        struct path item = path_index(&path, i);
        if (part->handwritten) schema_toleration_value(toleration, &item, scope->findings);
    }
}

static void check_exactly(const struct device_request *request, const struct claim_scope *scope,
                          const struct path *path, bool handwritten) {
    bool flat = scope->version == RESOURCE_V1BETA1;
    struct path exactly_path = path_field(path, TEXT("exactly"));
    struct request_part part = {
        .request = request->exactly,
        .path = &exactly_path,
        .declared = flat && scope->minor >= 37 ? path : &exactly_path,
        .handwritten = handwritten,
        // In the flat form the server fills in nothing for a request without a class.
        .defaulted = !flat || request->exactly->device_class_name.len > 0,
    };
    if (handwritten) check_class(&part, scope);
    check_selectors(&part, scope);
    check_allocation(&part, scope);
    check_tolerations(&part, scope);
}

static void check_first_available(const struct exact_request_list *subrequests,
                                  const struct claim_scope *scope, const struct path *path,
                                  bool handwritten) {
    struct path list_path = path_field(path, TEXT("firstAvailable"));
    if (!schema_count_fits(subrequests->count, FIRST_AVAILABLE_MAX_COUNT, &list_path, scope->findings))
        return;
    for (size_t i = 0; i < subrequests->count; i++) {
        struct path item_path = path_index(&list_path, i);
        struct request_part part = {.request = &subrequests->items[i],
                                    .path = &item_path,
                                    .declared = &item_path,
                                    .handwritten = handwritten,
                                    .defaulted = true};
        struct text name = part.request->name;
        struct path name_path = path_field(&item_path, TEXT("name"));
        if (handwritten) schema_form(why_not_dns1123_label(name), name, &name_path, scope->findings);
        check_class(&part, scope);
        check_selectors(&part, scope);
        check_allocation(&part, scope);
        check_tolerations(&part, scope);
        for (size_t j = 0; j < i; j++) {
            if (!text_equal(subrequests->items[j].name, name)) continue;
            finding_add(scope->findings, FINDING_DUPLICATE, &item_path, name,
                        TEXT("a subrequest of this name is listed already"));
            break;
        }
    }
}

void schema_device_request(const struct device_request *request, const struct claim_scope *scope,
                           const struct path *path) {
    struct path name_path = path_field(path, TEXT("name"));
    schema_form(why_not_dns1123_label(request->name), request->name, &name_path, scope->findings);
    bool exactly = request->exactly != NULL;
    bool first_available = request->first_available.count > 0;
    bool declared = scope->minor >= 37; // the declared checks look into both
    if (!exactly && !first_available)
        finding_add(scope->findings, FINDING_REQUIRED, path, NO_VALUE,
                    TEXT("exactly one of `exactly` and `firstAvailable` is required"));
    if (exactly && first_available)
        finding_add(scope->findings, FINDING_INVALID, path, NO_VALUE,
                    TEXT("only one of `exactly` and `firstAvailable` may be given"));
    if (exactly && (!first_available || declared)) check_exactly(request, scope, path, !first_available);
    if (first_available && (!exactly || declared))
        check_first_available(&request->first_available, scope, path, !exactly);
}
