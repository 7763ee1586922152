// SPDX-License-Identifier: Apache-2.0
// Attributes of a device: their names, that each has exactly one value, and the values.
#include "validators/schema/names.h"
#include "validators/schema/slice_check.h"

static const struct text NO_VALUE = {"", 0};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_identifier_char(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

// 0, or digits without a leading zero.
static bool is_number(struct text text) {
    if (text.len == 0 || (text.len > 1 && text.ptr[0] == '0')) return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.ptr[i])) return false;
    return true;
}

// Letters, digits and dashes between dots, none of the parts empty. With strict_numbers a part of digits has
// no leading zero.
static bool is_identifiers(struct text text, bool strict_numbers) {
    size_t start = 0;
    while (start <= text.len) {
        size_t end = text_find(text, '.', start);
        bool digits = true;
        for (size_t i = start; i < end; i++) {
            if (!is_identifier_char(text.ptr[i])) return false;
            digits = digits && is_digit(text.ptr[i]);
        }
        if (end == start) return false;
        if (strict_numbers && digits && end - start > 1 && text.ptr[start] == '0') return false;
        start = end + 1;
    }
    return true;
}

// Source: semver.org, spec 2.0.0; k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go,
// semverRe.
static bool is_semver(struct text text) {
    size_t plus = text_find(text, '+', 0);
    if (plus < text.len && !is_identifiers(text_slice(text, plus + 1, text.len), false)) return false;
    struct text version = text_slice(text, 0, plus);
    size_t dash = text_find(version, '-', 0);
    if (dash < version.len && !is_identifiers(text_slice(version, dash + 1, version.len), true)) return false;
    struct text core = text_slice(version, 0, dash);
    size_t first = text_find(core, '.', 0);
    if (first == core.len) return false;
    size_t second = text_find(core, '.', first + 1);
    if (second == core.len) return false;
    return is_number(text_slice(core, 0, first)) && is_number(text_slice(core, first + 1, second)) &&
           is_number(text_slice(core, second + 1, core.len));
}

static void check_string(struct text value, const struct path *path, struct finding_list *findings) {
    if (value.len > ATTRIBUTE_VALUE_MAX_BYTES)
        finding_addf(findings, FINDING_TOO_LONG, path, value, "may not be more than %u bytes",
                     ATTRIBUTE_VALUE_MAX_BYTES);
}

static void check_version(struct text value, const struct path *path, struct finding_list *findings) {
    if (!is_semver(value))
        finding_add(findings, FINDING_INVALID, path, value,
                    TEXT("must be a string compatible with semver.org spec 2.0.0 (such as '1.2.3')"));
    check_string(value, path, findings);
}

static void check_items(const struct text_list *list, struct text field, bool versions,
                        const struct path *path, struct finding_list *findings) {
    struct path items = path_field(path, field);
    for (size_t i = 0; i < list->count; i++) {
        struct path item = path_index(&items, i);
        if (versions)
            check_version(list->items[i], &item, findings);
        else
            check_string(list->items[i], &item, findings);
    }
}

static void check_not_empty(bool set, size_t count, struct text field, const struct path *path,
                            struct finding_list *findings) {
    if (!set || count > 0) return;
    struct path list = path_field(path, field);
    finding_add(findings, FINDING_INVALID, &list, TEXT("[]"), TEXT("must not be empty if specified"));
}

static void check_lists(const struct attribute_lists *lists, const struct path *path,
                        struct finding_list *findings) {
    check_not_empty(lists->bools.set, lists->bools.count, TEXT("bools"), path, findings);
    check_not_empty(lists->ints.set, lists->ints.count, TEXT("ints"), path, findings);
    check_not_empty(lists->strings.set, lists->strings.count, TEXT("strings"), path, findings);
    check_not_empty(lists->versions.set, lists->versions.count, TEXT("versions"), path, findings);
    check_items(&lists->strings, TEXT("strings"), false, path, findings);
    check_items(&lists->versions, TEXT("versions"), true, path, findings);
}

static unsigned count_scalars(const struct device_attribute *a) {
    return (unsigned)a->int_value.set + a->bool_value.set + a->string_value.set + a->version_value.set;
}

// Exactly one value. By hand a list counts when it is there, declaratively when it has items.
static void check_union(const struct device_attribute *a, const struct device_check *check,
                        const struct path *path) {
    unsigned by_hand = count_scalars(a);
    unsigned declared = by_hand;
    if (check->slice->list_attributes && a->lists != NULL) {
        const struct attribute_lists *lists = a->lists;
        by_hand += (unsigned)lists->ints.set + lists->bools.set + lists->strings.set + lists->versions.set;
        declared += (unsigned)(lists->ints.count > 0) + (lists->bools.count > 0) +
                    (lists->strings.count > 0) + (lists->versions.count > 0);
    }
    struct text detail = TEXT("exactly one value must be specified");
    bool found = check->slice->declared && declared != 1;
    if (found) {
        struct path attributes = path_field(check->declared_path, TEXT("attributes"));
        struct path key = path_key(&attributes, a->key);
        finding_add(check->slice->findings, FINDING_INVALID, &key, NO_VALUE, detail);
    }
    // The declarative error stands for the hand-written one only where the path is the same.
    if (check->by_hand && by_hand != 1 && !(found && a->key.len <= QUALIFIED_KEY_MAX_BYTES))
        finding_add(check->slice->findings, FINDING_INVALID, path, NO_VALUE, detail);
}

static void check_attribute(const struct device_attribute *attribute, bool key_is_clean,
                            const struct device_check *check, const struct path *attributes) {
    struct finding_list *findings = check->slice->findings;
    struct path path = path_key(attributes, schema_shown_key(attribute->key, findings->arena));
    check_union(attribute, check, &path);
    if (!check->by_hand) return;
    if (!key_is_clean) schema_qualified_name(attribute->key, attributes, findings);
    if (attribute->string_value.set) {
        struct path string = path_field(&path, TEXT("string"));
        check_string(attribute->string_value.value, &string, findings);
    }
    if (attribute->version_value.set) {
        struct path version = path_field(&path, TEXT("version"));
        check_version(attribute->version_value.value, &version, findings);
    }
    if (check->slice->list_attributes && attribute->lists != NULL)
        check_lists(attribute->lists, &path, findings);
}

void schema_device_attributes(const struct device_check *check) {
    const struct device_attribute_map *map = &check->device->attributes;
    struct finding_list *findings = check->slice->findings;
    struct path attributes = path_field(check->path, TEXT("attributes"));
    uint64_t clean_before = *check->clean_attributes;
    uint64_t clean = map->like_before & clean_before;
    for (size_t i = attribute_without(clean, 0); i < map->count; i = attribute_without(clean, i + 1)) {
        uint64_t bit = attribute_bit(i);
        size_t found = findings->count + findings->dropped_count;
        check_attribute(&map->items[i], (map->key_before & clean_before & bit) != 0, check, &attributes);
        if (found == findings->count + findings->dropped_count) clean |= bit;
    }
    *check->clean_attributes = clean;
}
