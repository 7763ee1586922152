// SPDX-License-Identifier: Apache-2.0
// A finding is the tenant's error: where it is, what the value was, what is wrong, what to do, and which rule
// says so. Our own failures are faults (fault.h).
#ifndef DRAWBRIDGE_CORE_FINDING_H
#define DRAWBRIDGE_CORE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/arena.h"
#include "validators/core/text.h"

// Source: k8s.io/apimachinery v0.36.3 pkg/util/validation/field/errors.go, ErrorType; the last two are what
// the server refuses while decoding (HTTP 400).
enum finding_type {
    FINDING_NOT_FOUND,
    FINDING_REQUIRED,
    FINDING_DUPLICATE,
    FINDING_INVALID,
    FINDING_NOT_SUPPORTED,
    FINDING_FORBIDDEN,
    FINDING_TOO_LONG,
    FINDING_TOO_MANY,
    FINDING_TYPE_INVALID,
    FINDING_INTERNAL,
    FINDING_STRICT_DECODING, // unknown or duplicate field
    FINDING_DECODING,        // wrong type, bad quantity
};

// The machine-readable cause, such as "FieldValueInvalid" (static text).
const char *finding_type_reason(enum finding_type type);
// The words for people, such as "Invalid value" (static text).
const char *finding_type_words(enum finding_type type);

enum severity { SEVERITY_OFF, SEVERITY_AUDIT, SEVERITY_WARN, SEVERITY_DENY };

// "off", "audit", "warn", "deny" (static text).
const char *severity_name(enum severity severity);

#define SCHEMA_RULE_ID "schema"

struct finding {
    enum finding_type type;
    enum severity severity;
    const char *rule;   // static text: a stable ID, "schema" for what upstream checks itself
    struct text path;   // as upstream prints it, in the arena
    struct text value;  // the bad value as text, whole; printers cut it
    struct text detail; // what is wrong: one line, no full stop
    struct text hint;   // what to do; empty when there is nothing to say
};

// A path is a chain of elements on the callers' stacks; it costs nothing until a finding is made of it.
enum path_kind { PATH_FIELD, PATH_INDEX, PATH_KEY };

struct path {
    const struct path *parent; // NULL at the root
    enum path_kind kind;
    size_t index;     // PATH_INDEX
    struct text name; // PATH_FIELD, PATH_KEY
};

static inline struct path path_field(const struct path *parent, struct text name) {
    return (struct path){.parent = parent, .kind = PATH_FIELD, .name = name};
}
static inline struct path path_index(const struct path *parent, size_t index) {
    return (struct path){.parent = parent, .kind = PATH_INDEX, .index = index};
}
static inline struct path path_key(const struct path *parent, struct text key) {
    return (struct path){.parent = parent, .kind = PATH_KEY, .name = key};
}

// What it does: `spec.devices[0].capacity[dra.example.com/cpu]`. Owner: the arena. Errors: empty, arena
// poisoned. Source: k8s.io/apimachinery v0.36.3 pkg/util/validation/field/path.go, String.
struct text path_render(struct arena *arena, const struct path *path);

struct finding_list {
    struct finding *items;
    size_t count;
    struct arena *arena;
    const char *rule;       // given to each finding that is added; the registry sets it before each rule
    enum severity severity; // likewise
    size_t limit;           // at most so many are kept; the rest is only counted
    size_t dropped_count;
    bool poisoned; // a finding was lost because memory ran out: an empty list must not be trusted
};

// At most this many findings are kept per object: enough to list every bad name once, small enough for any
// arena.
#define FINDING_LIST_LIMIT 1024u

// What it does: an empty list whose findings are of rule "schema" and deny.
void finding_list_init(struct finding_list *list, struct arena *arena);

// True when nothing was lost, in the list and in its arena. The gate asks once before it trusts an empty
// list.
bool finding_list_is_sound(const struct finding_list *list);

// True when a finding's severity is deny, or when one was dropped while its rule denied.
bool finding_list_denies(const struct finding_list *list);

// True when a finding before this one has the same rule and severity.
bool finding_is_repeated(const struct finding_list *list, size_t index);

// What it does: appends one finding. The path is rendered into the arena; value and detail must live as long
// as the arena (literals, or texts of the object). Returns the finding so that the caller may set hint; NULL
// when dropped.
struct finding *finding_add(struct finding_list *list, enum finding_type type, const struct path *path,
                            struct text value, struct text detail);

// As finding_add, with a printf detail.
struct finding *finding_addf(struct finding_list *list, enum finding_type type, const struct path *path,
                             struct text value, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// Sets the hint of a finding that may be NULL.
void finding_hint(struct finding *finding, struct text hint);

// Sorts by path, then rule, then type, keeping the order of equal ones: messages are stable.
void finding_list_sort(struct finding_list *list);

#endif
