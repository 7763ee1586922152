// SPDX-License-Identifier: Apache-2.0
// Object metadata.
//
// Managed fields are not looked at: the server drops those that it cannot read, and rewrites and sorts the
// rest before it validates, so what it may say of them (a manager of more than 128 bytes) has no fixed place.
#include "validators/schema/metadata.h"

#include "validators/schema/key_index.h"
#include "validators/schema/names.h"

#define ANNOTATIONS_MAX_BYTES    262144u
#define GENERATED_BASE_MAX_BYTES 58u  // a generated name has at most 63 bytes, 5 of them are random
#define ANNOTATION_KEY_MAX_BYTES 317u // 253 for the domain, the slash, 63 for the name

static const struct path METADATA = {.kind = PATH_FIELD, .name = TEXT_INIT("metadata")};

static const struct text NO_VALUE = {"", 0};

void schema_name_subdomain(struct text text, bool prefix, const struct path *path,
                           struct finding_list *findings) {
    char masked[DNS1123_SUBDOMAIN_MAX_BYTES + 2];
    struct text judged = text;
    // A trailing dash is fine where more characters follow: upstream puts an 'a' in the place of the last
    // two.
    if (prefix && text.len > 1 && text.len <= sizeof masked && text.ptr[text.len - 1] == '-') {
        memcpy(masked, text.ptr, text.len - 2);
        masked[text.len - 2] = 'a';
        judged = (struct text){masked, text.len - 1};
    }
    schema_form(why_not_dns1123_subdomain(judged), text, path, findings);
}

// The server makes the name out of generateName before it validates; its random part is always fine.
static void check_generated_name(const struct object_meta *meta, schema_name_check *name_check,
                                 const struct path *path, struct finding_list *findings) {
    char name[GENERATED_BASE_MAX_BYTES + 5];
    struct text base = text_slice(meta->generate_name, 0, GENERATED_BASE_MAX_BYTES);
    memcpy(name, base.ptr, base.len);
    memcpy(name + base.len, "xxxxx", 5);
    size_t count_before = findings->count;
    name_check((struct text){name, base.len + 5}, false, path, findings);
    // The made-up name lives on this stack only.
    for (size_t i = count_before; i < findings->count; i++) findings->items[i].value = meta->generate_name;
}

static void check_name(const struct object_meta *meta, schema_name_check *name_check, const struct path *path,
                       struct finding_list *findings) {
    struct path name_path = path_field(path, TEXT("name"));
    if (meta->generate_name.len > 0) {
        struct path generate_path = path_field(path, TEXT("generateName"));
        name_check(meta->generate_name, true, &generate_path, findings);
        if (meta->name.len == 0) {
            check_generated_name(meta, name_check, &name_path, findings);
            return;
        }
    }
    if (meta->name.len == 0)
        finding_add(findings, FINDING_REQUIRED, &name_path, NO_VALUE,
                    TEXT("a name or a generateName is required"));
    else
        name_check(meta->name, false, &name_path, findings);
}

static void check_labels(const struct object_meta *meta, const struct path *path,
                         struct finding_list *findings) {
    struct path labels_path = path_field(path, TEXT("labels"));
    for (size_t i = 0; i < meta->labels.count; i++) {
        const struct text_pair *label = &meta->labels.items[i];
        schema_form(why_not_label_key(label->key), label->key, &labels_path, findings);
        schema_form(why_not_label_value(label->value), label->value, &labels_path, findings);
    }
}

// Keys of annotations are judged as if they were lowercase, with the two letters beyond ASCII that Go lowers
// into it: U+0130 becomes i, U+212A becomes k.
static const char *why_not_annotation_key(struct text key) {
    char lowered[ANNOTATION_KEY_MAX_BYTES + 1];
    size_t len = 0;
    for (size_t i = 0; i < key.len && len < sizeof lowered;) {
        unsigned char byte = (unsigned char)key.ptr[i];
        struct text rest = text_slice(key, i, key.len);
        if (text_starts_with(rest, TEXT("\xC4\xB0"))) {
            lowered[len++] = 'i';
            i += 2;
        } else if (text_starts_with(rest, TEXT("\xE2\x84\xAA"))) {
            lowered[len++] = 'k';
            i += 3;
        } else {
            lowered[len++] = (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
            i++;
        }
    }
    return why_not_label_key((struct text){lowered, len});
}

static void check_annotations(const struct object_meta *meta, const struct path *path,
                              struct finding_list *findings) {
    struct path annotations_path = path_field(path, TEXT("annotations"));
    size_t total_bytes = 0;
    for (size_t i = 0; i < meta->annotations.count; i++) {
        const struct text_pair *annotation = &meta->annotations.items[i];
        total_bytes += annotation->key.len + annotation->value.len;
        schema_form(why_not_annotation_key(annotation->key), annotation->key, &annotations_path, findings);
    }
    if (total_bytes > ANNOTATIONS_MAX_BYTES)
        finding_addf(findings, FINDING_TOO_LONG, &annotations_path, NO_VALUE,
                     "all keys and values together may have %u bytes, these have %zu", ANNOTATIONS_MAX_BYTES,
                     total_bytes);
}

// The part of an apiVersion after its slash; empty when there is no such part.
static struct text version_of(struct text api_version) {
    size_t slash = text_find(api_version, '/', 0);
    if (slash == api_version.len) return api_version;
    if (text_find(api_version, '/', slash + 1) < api_version.len) return NO_VALUE;
    return text_slice(api_version, slash + 1, api_version.len);
}

static void check_owner_field(struct text value, struct text name, int minor, const struct path *path,
                              struct finding_list *findings) {
    if (value.len > 0) return;
    struct path field_path = path_field(path, name);
    finding_add(findings, minor < 37 ? FINDING_INVALID : FINDING_REQUIRED, &field_path, value,
                TEXT("must not be empty"));
}

// Source: validateOwnerReference. Since v1.37 the path has the reference's index, and empty is Required.
static void check_owner(const struct owner_reference *owner, int minor, const struct path *path,
                        struct finding_list *findings) {
    check_owner_field(owner->api_version, TEXT("apiVersion"), minor, path, findings);
    if (owner->api_version.len > 0 && version_of(owner->api_version).len == 0) {
        struct path version_path = path_field(path, TEXT("apiVersion"));
        finding_add(findings, FINDING_INVALID, &version_path, owner->api_version,
                    TEXT("must be a group and a version with a slash between them, or a version alone"));
    }
    check_owner_field(owner->kind, TEXT("kind"), minor, path, findings);
    check_owner_field(owner->name, TEXT("name"), minor, path, findings);
    check_owner_field(owner->uid, TEXT("uid"), minor, path, findings);
    bool core_v1 = text_equal(owner->api_version, TEXT("v1")) || text_equal(owner->api_version, TEXT("/v1"));
    if (core_v1 && text_equal(owner->kind, TEXT("Event")))
        finding_add(findings, FINDING_INVALID, path, owner->name, TEXT("an Event must not own anything"));
}

static struct text owner_key(const struct owner_reference *owner, struct arena *arena) {
    char flags[2] = {
        (char)('0' + (owner->controller.set ? 1 + owner->controller.value : 0)),
        (char)('0' + (owner->block_owner_deletion.set ? 1 + owner->block_owner_deletion.value : 0))};
    const struct text parts[] = {owner->api_version, owner->kind, owner->name, owner->uid, {flags, 2}};
    return key_compose(arena, parts, sizeof parts / sizeof parts[0]);
}

// The server drops repeated references before it validates, so positions count what is left.
// Source: k8s.io/apiserver v0.36.3 pkg/endpoints/handlers/rest.go, dedupOwnerReferences.
static void check_owners(const struct owner_reference_list *owners, int minor, const struct path *path,
                         struct finding_list *findings) {
    struct path owners_path = path_field(path, TEXT("ownerReferences"));
    struct key_index index;
    key_index_init(&index, findings->arena, owners->count > 1 ? owners->count : 0);
    for (size_t i = 0; i < owners->count && index.capacity > 0; i++)
        key_index_add(&index, 0, owner_key(&owners->items[i], findings->arena), i);
    key_index_sort(&index, findings->arena);
    size_t position = 0;
    bool controlled = false;
    for (size_t i = 0; i < owners->count; i++) {
        const struct owner_reference *owner = &owners->items[i];
        if (index.count > 0 && key_index_first(&index, 0, owner_key(owner, findings->arena)) < i) continue;
        struct path item_path = path_index(&owners_path, position++);
        check_owner(owner, minor, minor < 37 ? &owners_path : &item_path, findings);
        if (!owner->controller.set || !owner->controller.value) continue;
        if (controlled)
            finding_add(findings, FINDING_INVALID, &owners_path, owner->name,
                        TEXT("only one reference may have controller set to true"));
        controlled = true;
    }
}

static void check_finalizers(const struct text_list *finalizers, const struct path *path,
                             struct finding_list *findings) {
    struct path finalizers_path = path_field(path, TEXT("finalizers"));
    bool orphan = false;
    bool foreground = false;
    for (size_t i = 0; i < finalizers->count; i++) {
        struct text finalizer = finalizers->items[i];
        struct path item_path = path_index(&finalizers_path, i);
        schema_form(why_not_label_key(finalizer), finalizer, &finalizers_path, findings);
        bool is_orphan = text_equal(finalizer, TEXT("orphan"));
        bool is_foreground = text_equal(finalizer, TEXT("foregroundDeletion"));
        orphan = orphan || is_orphan;
        foreground = foreground || is_foreground;
        bool standard = is_orphan || is_foreground || text_equal(finalizer, TEXT("kubernetes"));
        if (text_find(finalizer, '/', 0) == finalizer.len && !standard)
            finding_hint(finding_add(findings, FINDING_INVALID, &item_path, finalizer,
                                     TEXT("neither a finalizer of Kubernetes nor one with a domain")),
                         TEXT("write a domain and a slash before it, such as example.com/name"));
    }
    if (orphan && foreground)
        finding_add(findings, FINDING_INVALID, &finalizers_path, NO_VALUE,
                    TEXT("orphan and foregroundDeletion cannot both be set"));
}

void schema_object_meta(const struct object_meta *meta, bool namespaced, schema_name_check *name_check,
                        int minor, const struct path *path, struct finding_list *findings) {
    if (path == NULL) path = &METADATA;
    check_name(meta, name_check, path, findings);
    // A namespace in an object without one is cleared by the server.
    if (namespaced && meta->namespace.len > 0) {
        struct path namespace_path = path_field(path, TEXT("namespace"));
        schema_form(why_not_dns1123_label(meta->namespace), meta->namespace, &namespace_path, findings);
    }
    if (meta->generation < 0) {
        struct path generation_path = path_field(path, TEXT("generation"));
        finding_add(findings, FINDING_INVALID, &generation_path,
                    text_format(findings->arena, "%lld", (long long)meta->generation),
                    TEXT("must not be negative"));
    }
    check_labels(meta, path, findings);
    check_annotations(meta, path, findings);
    check_owners(&meta->owner_references, minor, path, findings);
    check_finalizers(&meta->finalizers, path, findings);
}

// Source: ValidateNoNewFinalizers.
static void check_new_finalizers(const struct object_meta *meta, const struct object_meta *old,
                                 const struct path *path, struct finding_list *findings) {
    struct key_index index;
    key_index_init(&index, findings->arena, old->finalizers.count);
    for (size_t i = 0; i < old->finalizers.count; i++) key_index_add(&index, 0, old->finalizers.items[i], i);
    key_index_sort(&index, findings->arena);
    struct path finalizers_path = path_field(path, TEXT("finalizers"));
    for (size_t i = 0; i < meta->finalizers.count; i++) {
        struct text finalizer = meta->finalizers.items[i];
        if (key_index_first(&index, 0, finalizer) != KEY_INDEX_NONE) continue;
        finding_add(findings, FINDING_FORBIDDEN, &finalizers_path, finalizer,
                    TEXT("no finalizer can be added while the object is being deleted"));
        return;
    }
}

static void check_same(struct text value, struct text old, struct text name, const struct path *path,
                       struct finding_list *findings) {
    if (text_equal(value, old)) return;
    struct path field_path = path_field(path, name);
    finding_add(findings, FINDING_INVALID, &field_path, value, TEXT("cannot be changed"));
}

void schema_object_meta_update(const struct object_meta *meta, const struct object_meta *old,
                               const struct path *path, struct finding_list *findings) {
    if (path == NULL) path = &METADATA;
    if (old->deletion_timestamp.len > 0) check_new_finalizers(meta, old, path, findings);
    check_same(meta->name, old->name, TEXT("name"), path, findings);
    // What the server fills in is no change: an absent namespace or UID, whatever creationTimestamp and
    // generation, a deletionTimestamp that is set, and an absent grace period.
    if (meta->namespace.len > 0)
        check_same(meta->namespace, old->namespace, TEXT("namespace"), path, findings);
    if (meta->uid.len > 0) check_same(meta->uid, old->uid, TEXT("uid"), path, findings);
    if (old->deletion_timestamp.len == 0)
        check_same(meta->deletion_timestamp, NO_VALUE, TEXT("deletionTimestamp"), path, findings);
    const struct opt_int64 *grace = &meta->deletion_grace_period_seconds;
    const struct opt_int64 *old_grace = &old->deletion_grace_period_seconds;
    if (grace->set && (!old_grace->set || grace->value != old_grace->value)) {
        struct path grace_path = path_field(path, TEXT("deletionGracePeriodSeconds"));
        finding_add(findings, FINDING_INVALID, &grace_path,
                    text_format(findings->arena, "%lld", (long long)grace->value), TEXT("cannot be changed"));
    }
}

bool schema_template_meta(const struct object_meta *meta, const struct path *path,
                          struct finding_list *findings) {
    check_annotations(meta, path, findings);
    check_labels(meta, path, findings);
    bool managed = meta->managed_fields.len > 0 && !text_equal(meta->managed_fields, TEXT("null"));
    const struct {
        struct text name;
        bool set;
    } others[] = {
        {TEXT("name"), meta->name.len > 0},
        {TEXT("generateName"), meta->generate_name.len > 0},
        {TEXT("namespace"), meta->namespace.len > 0},
        {TEXT("selfLink"), meta->self_link.len > 0},
        {TEXT("uID"), meta->uid.len > 0}, // upstream's own spelling, made of its Go name
        {TEXT("resourceVersion"), meta->resource_version.len > 0},
        {TEXT("generation"), meta->generation != 0},
        {TEXT("creationTimestamp"), meta->creation_timestamp.len > 0},
        {TEXT("deletionTimestamp"), meta->deletion_timestamp.len > 0},
        {TEXT("deletionGracePeriodSeconds"), meta->deletion_grace_period_seconds.set},
        {TEXT("ownerReferences"), meta->owner_references.set},
        {TEXT("finalizers"), meta->finalizers.set},
        {TEXT("managedFields"), managed},
    };
    bool plain = true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!others[i].set) continue;
        plain = false;
        struct path field_path = path_field(path, others[i].name);
        finding_add(findings, FINDING_FORBIDDEN, &field_path, NO_VALUE,
                    TEXT("cannot be set in a template: only labels and annotations can"));
    }
    return plain;
}
