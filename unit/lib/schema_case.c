// SPDX-License-Identifier: Apache-2.0
// One-line schema cases.
#include "unit/lib/schema_case.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/codec/decode.h"
#include "validators/schema/device_class.h"
#include "validators/schema/resource_slice.h"

#define TEXTS_BYTES ((size_t)64 << 20)
#define ARENA_BYTES ((size_t)32 << 20)

// Texts of one test, which is one process; they are never freed.
static char texts[TEXTS_BYTES];
static size_t texts_len;

const char *joined(const char *format, ...) {
    char *out = texts + texts_len;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(out, sizeof texts - texts_len, format, args);
    va_end(args);
    cr_assert(len >= 0 && (size_t)len < sizeof texts - texts_len);
    texts_len += (size_t)len + 1;
    return out;
}

const char *repeated(const char *format, int count) {
    char *out = texts + texts_len;
    for (int i = 0; i < count; i++) {
        if (i > 0) texts[texts_len++] = ',';
        for (const char *c = format; *c != '\0'; c++) {
            cr_assert(texts_len + 16 < sizeof texts);
            if (c[0] == '%' && c[1] == 'd') {
                texts_len += (size_t)snprintf(texts + texts_len, 16, "%d", i);
                c++;
            } else {
                texts[texts_len++] = *c;
            }
        }
    }
    texts[texts_len++] = '\0';
    return out;
}

static const char *const version_names[] = {
    [RESOURCE_V1] = "v1", [RESOURCE_V1BETA2] = "v1beta2", [RESOURCE_V1BETA1] = "v1beta1"};

static struct object decode(int line, struct arena *arena, const struct schema_case *test, const char *text) {
    struct text json = text_copy(arena, text_of(text));
    char *at = (char *)(uintptr_t)json.ptr;
    for (size_t i = 0; i < json.len; i++)
        if (at[i] == '\'') at[i] = '"';
    struct finding_list findings;
    struct object object = {0};
    struct fault fault = {0};
    struct decode_options options = {.mode = JSON_STRICT, .minor = test->minor};
    finding_list_init(&findings, arena);
    cr_assert(decode_object(arena, json, &options, &object, &findings, &fault), "line %d: %s: %s", line,
              fault.text, text);
    cr_assert(findings.count == 0, "line %d: decoding finds %.*s: %s", line, TEXT_ARG(findings.items[0].path),
              text);
    return object;
}

static void compare(int line, struct finding_list *findings, const char *want) {
    static char got[1 << 16];
    size_t len = 0;
    cr_assert(finding_list_is_sound(findings));
    finding_list_sort(findings);
    got[0] = '\0';
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->items[i];
        cr_assert(f->detail.len > 0, "line %d: no detail", line);
        if (i > 0 && text_equal(f->path, f[-1].path) && f->type == f[-1].type) continue;
        const char *reason = finding_type_reason(f->type);
        if (strncmp(reason, "FieldValue", 10) == 0) reason += 10;
        len += (size_t)snprintf(got + len, sizeof got - len, "%s%.*s %s", len == 0 ? "" : ", ",
                                TEXT_ARG(f->path), reason);
        cr_assert(len < sizeof got);
    }
    cr_assert_str_eq(got, want, "line %d:\n  found %s\n  want  %s", line, got, want);
}

static void judge(struct schema_case test, const struct object *object, const struct object *old,
                  struct finding_list *findings) {
    if (object->kind == KIND_RESOURCE_SLICE && old == NULL)
        schema_resource_slice(&object->slice, object->version, test.minor, test.features, findings);
    else if (object->kind == KIND_RESOURCE_SLICE)
        schema_resource_slice_update(&object->slice, &old->slice, object->version, test.minor, test.features,
                                     findings);
    else if (old == NULL)
        schema_device_class(&object->device_class, object->version, test.minor, findings);
    else
        schema_device_class_update(&object->device_class, &old->device_class, object->version, test.minor,
                                   findings);
}

static void expect(int line, struct schema_case test, const char *object_text, const char *old_text) {
    struct arena arena;
    struct finding_list findings;
    arena_init(&arena, ARENA_BYTES);
    finding_list_init(&findings, &arena);
    struct object object = decode(line, &arena, &test, object_text);
    struct object old;
    if (old_text != NULL) old = decode(line, &arena, &test, old_text);
    judge(test, &object, old_text == NULL ? NULL : &old, &findings);
    compare(line, &findings, test.want);
    arena_release(&arena);
}

static const char *whole(struct schema_case test, const char *kind, const char *rest) {
    return rest == NULL ? NULL
                        : joined("{'apiVersion':'resource.k8s.io/%s','kind':'%s',%s}",
                                 version_names[test.version], kind, rest);
}

void expect_slice(int line, struct schema_case test) {
    expect(line, test, whole(test, "ResourceSlice", test.object), whole(test, "ResourceSlice", test.old));
}

void expect_class(int line, struct schema_case test) {
    expect(line, test, whole(test, "DeviceClass", test.object), whole(test, "DeviceClass", test.old));
}

static const char *with_name(const char *spec) {
    return spec == NULL ? NULL : joined("'metadata':{'name':'a'},'spec':{%s}", spec);
}

void expect_slice_spec(int line, struct schema_case test) {
    test.object = with_name(test.object);
    test.old = with_name(test.old);
    expect_slice(line, test);
}

void expect_class_spec(int line, struct schema_case test) {
    test.object = with_name(test.object);
    test.old = with_name(test.old);
    expect_class(line, test);
}

static const char *with_device(const char *device) {
    return device == NULL
               ? NULL
               : joined("'driver':'d.example.com','nodeName':'w1','pool':{'name':'w1','generation':"
                        "1,'resourceSliceCount':1},'devices':[{%s}]",
                        device);
}

void expect_device(int line, struct schema_case test) {
    test.object = with_device(test.object);
    test.old = with_device(test.old);
    expect_slice_spec(line, test);
}
