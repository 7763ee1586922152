// SPDX-License-Identifier: Apache-2.0
// The forms of names, as one pass over a table of characters each.
#include "validators/schema/names.h"

enum char_class {
    CLASS_LOWER = 1,
    CLASS_UPPER = 2,
    CLASS_DIGIT = 4,
    CLASS_DASH = 8,
    CLASS_DOT = 16,
    CLASS_UNDERSCORE = 32,
    CLASS_HEX = 64, // 0-9 a-f
};
#define CLASS_LOWER_ALNUM (CLASS_LOWER | CLASS_DIGIT)
#define CLASS_ALNUM       (CLASS_LOWER | CLASS_UPPER | CLASS_DIGIT)
#define CLASS_LABEL       (CLASS_ALNUM | CLASS_DASH | CLASS_DOT | CLASS_UNDERSCORE)

static const uint8_t classes[256] = {
    ['a' ... 'f'] = CLASS_LOWER | CLASS_HEX,
    ['g' ... 'z'] = CLASS_LOWER,
    ['A' ... 'Z'] = CLASS_UPPER,
    ['0' ... '9'] = CLASS_DIGIT | CLASS_HEX,
    ['-'] = CLASS_DASH,
    ['.'] = CLASS_DOT,
    ['_'] = CLASS_UNDERSCORE,
};

static inline uint8_t class_at(struct text text, size_t i) {
    return classes[(unsigned char)text.ptr[i]];
}

static const char WHY_LABEL[] = "a label has lowercase letters, digits and '-', and begins and ends with a "
                                "letter or digit (such as 'my-name' or '123-abc')";
static const char WHY_LABEL_DOTS[] = "must not contain dots";
static const char WHY_LABEL_LONG[] = "must be no more than 63 bytes";
static const char WHY_SUBDOMAIN[] =
    "a subdomain has lowercase letters, digits, '-' and '.', and each part begins and ends with a letter or "
    "digit (such as 'example.com')";
static const char WHY_SUBDOMAIN_CASELESS[] =
    "a subdomain has letters, digits, '-' and '.', and each part begins and ends with a letter or digit "
    "(such as 'example.com')";
static const char WHY_SUBDOMAIN_LONG[] = "must be no more than 253 bytes";
static const char WHY_C_IDENTIFIER[] =
    "an identifier begins with a letter or '_' and goes on with letters, digits or '_' (such as 'my_name')";
static const char WHY_KEY_FORM[] =
    "a key is a name with an optional domain and '/' before it (such as 'example.com/MyName')";
static const char WHY_KEY_PREFIX_EMPTY[] = "the domain before '/' must not be empty";
static const char WHY_KEY_PREFIX[] =
    "the domain before '/' has lowercase letters, digits, '-' and '.', each part beginning and ending with a "
    "letter or digit, in no more than 253 bytes";
static const char WHY_KEY_PREFIX_MISSING[] = "must have a domain (such as 'example.com/key')";
static const char WHY_KEY_NAME_EMPTY[] = "the name must not be empty";
static const char WHY_KEY_NAME_LONG[] = "the name must be no more than 63 bytes";
static const char WHY_KEY_NAME[] =
    "the name has letters, digits, '-', '_' and '.', and begins and ends with a letter or digit";
static const char WHY_VALUE[] = "a label's value is empty, or has letters, digits, '-', '_' and '.', and "
                                "begins and ends with a letter or "
                                "digit";
static const char WHY_VALUE_LONG[] = "must be no more than 63 bytes";
static const char WHY_UUID[] = "must be a UUID of lowercase hexadecimal digits in the form 8-4-4-4-12";

enum fold { FOLD_NONE, FOLD_REGEXP, FOLD_LOWERED };

// The bytes of a character beyond ASCII that Go takes for a letter a-z under this folding; 0 when there is
// none.
static size_t folded_len(struct text text, size_t i, enum fold fold) {
    if (fold == FOLD_NONE) return 0;
    const unsigned char *at = (const unsigned char *)text.ptr + i;
    size_t left = text.len - i;
    if (left >= 3 && at[0] == 0xE2 && at[1] == 0x84 && at[2] == 0xAA) return 3; // U+212A, Kelvin
    if (left < 2) return 0;
    if (fold == FOLD_REGEXP && at[0] == 0xC5 && at[1] == 0xBF) return 2;  // U+017F, long s
    if (fold == FOLD_LOWERED && at[0] == 0xC4 && at[1] == 0xB0) return 2; // U+0130, I with dot
    return 0;
}

// True when text is labels joined by dots. *ret_len is its length after lowering.
static bool is_subdomain(struct text text, enum fold fold, size_t *ret_len) {
    uint8_t letters = fold == FOLD_NONE ? CLASS_LOWER_ALNUM : CLASS_ALNUM;
    uint8_t before = CLASS_DOT; // the class of the character before
    size_t len = 0;
    bool fine = true;
    for (size_t i = 0; i < text.len; len++) {
        size_t start = i;
        while (i < text.len && (class_at(text, i) & letters) != 0) i++;
        if (i > start) { // most characters
            before = CLASS_LOWER;
            len += i - start;
        }
        if (i == text.len) break;
        uint8_t class = class_at(text, i);
        size_t step = folded_len(text, i, fold);
        if (step > 0)
            class = CLASS_LOWER;
        else if (class == CLASS_DASH)
            fine = fine && before != CLASS_DOT;
        else if (class == CLASS_DOT)
            fine = fine && (before & (CLASS_DOT | CLASS_DASH)) == 0;
        else
            fine = false;
        before = class;
        i += step == 0 ? 1 : step;
    }
    *ret_len = len;
    return fine && (before & (CLASS_DOT | CLASS_DASH)) == 0;
}

const char *why_not_dns1123_label(struct text text) {
    if (text.len > DNS1123_LABEL_MAX_BYTES) return WHY_LABEL_LONG;
    bool fine = text.len > 0 && (class_at(text, 0) & CLASS_LOWER_ALNUM) != 0 &&
                (class_at(text, text.len - 1) & CLASS_LOWER_ALNUM) != 0;
    for (size_t i = 1; fine && i + 1 < text.len; i++)
        fine = (class_at(text, i) & (CLASS_LOWER_ALNUM | CLASS_DASH)) != 0;
    if (fine) return NULL;
    size_t len;
    return is_subdomain(text, FOLD_NONE, &len) ? WHY_LABEL_DOTS : WHY_LABEL;
}

const char *why_not_dns1123_subdomain(struct text text) {
    size_t len;
    if (text.len > DNS1123_SUBDOMAIN_MAX_BYTES) return WHY_SUBDOMAIN_LONG;
    return is_subdomain(text, FOLD_NONE, &len) ? NULL : WHY_SUBDOMAIN;
}

const char *why_not_dns1123_subdomain_caseless(struct text text) {
    size_t len;
    if (text.len > DNS1123_SUBDOMAIN_MAX_BYTES) return WHY_SUBDOMAIN_LONG;
    return is_subdomain(text, FOLD_REGEXP, &len) ? NULL : WHY_SUBDOMAIN_CASELESS;
}

const char *why_not_dns1123_subdomain_lowered(struct text text) {
    size_t len;
    if (!is_subdomain(text, FOLD_LOWERED, &len)) return WHY_SUBDOMAIN_CASELESS;
    return len > DNS1123_SUBDOMAIN_MAX_BYTES ? WHY_SUBDOMAIN_LONG : NULL;
}

const char *why_not_c_identifier(struct text text) {
    if (text.len == 0 || (class_at(text, 0) & (CLASS_LOWER | CLASS_UPPER | CLASS_UNDERSCORE)) == 0)
        return WHY_C_IDENTIFIER;
    for (size_t i = 1; i < text.len; i++)
        if ((class_at(text, i) & (CLASS_ALNUM | CLASS_UNDERSCORE)) == 0) return WHY_C_IDENTIFIER;
    return NULL;
}

// Letters, digits, '-', '_', '.', with a letter or digit at both ends. Not empty.
static bool is_label_text(struct text text) {
    if (text.len == 0 || (class_at(text, 0) & CLASS_ALNUM) == 0 ||
        (class_at(text, text.len - 1) & CLASS_ALNUM) == 0)
        return false;
    for (size_t i = 1; i + 1 < text.len; i++)
        if ((class_at(text, i) & CLASS_LABEL) == 0) return false;
    return true;
}

const char *why_not_label_key(struct text text) {
    struct text name = text;
    size_t slash = text_find(text, '/', 0);
    if (slash < text.len) {
        if (text_find(text, '/', slash + 1) < text.len) return WHY_KEY_FORM;
        struct text prefix = text_slice(text, 0, slash);
        if (prefix.len == 0) return WHY_KEY_PREFIX_EMPTY;
        if (why_not_dns1123_subdomain(prefix) != NULL) return WHY_KEY_PREFIX;
        name = text_slice(text, slash + 1, text.len);
    }
    if (name.len == 0) return WHY_KEY_NAME_EMPTY;
    if (name.len > LABEL_KEY_NAME_MAX_BYTES) return WHY_KEY_NAME_LONG;
    return is_label_text(name) ? NULL : WHY_KEY_NAME;
}

const char *why_not_prefixed_label_key(struct text text) {
    const char *why = why_not_label_key(text);
    if (why != NULL) return why;
    return text_find(text, '/', 0) < text.len ? NULL : WHY_KEY_PREFIX_MISSING;
}

const char *why_not_label_value(struct text text) {
    if (text.len == 0) return NULL;
    if (text.len > LABEL_VALUE_MAX_BYTES) return WHY_VALUE_LONG;
    return is_label_text(text) ? NULL : WHY_VALUE;
}

const char *why_not_uuid(struct text text) {
    if (text.len != 36) return WHY_UUID;
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : (class_at(text, i) & CLASS_HEX) == 0) return WHY_UUID;
    }
    return NULL;
}

const char *why_not_path_segment(struct text text, bool prefix) {
    if (!prefix && (text_equal(text, TEXT(".")) || text_equal(text, TEXT(".."))))
        return "may not be '.' or '..'";
    bool fine = text_find(text, '/', 0) == text.len && text_find(text, '%', 0) == text.len;
    return fine ? NULL : "may not contain '/' or '%'";
}

static bool holds(struct text text, struct text part) {
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (memcmp(text.ptr + i, part.ptr, part.len) == 0) return true;
    return false;
}

bool name_is_native_resource(struct text text) {
    return text_find(text, '/', 0) == text.len || holds(text, TEXT("kubernetes.io/"));
}

// True when "requests." and the text make a label key. The text has a slash, so its domain grows by nine.
static bool is_quota_key(struct text text) {
    size_t slash = text_find(text, '/', 0);
    struct text domain = text_slice(text, 0, slash);
    if (why_not_dns1123_subdomain(domain) != NULL) return false;
    if (domain.len + sizeof "requests." - 1 > DNS1123_SUBDOMAIN_MAX_BYTES) return false;
    return why_not_label_key(text) == NULL;
}

const char *why_not_extended_resource(struct text text) {
    if (text_find(text, '/', 0) == text.len) return "must have a domain (such as 'example.com/gpu')";
    if (name_is_native_resource(text)) return "must not be in the domain of kubernetes.io";
    if (text_starts_with(text, TEXT("requests."))) return "must not begin with 'requests.'";
    if (!is_quota_key(text))
        return "must be a domain of no more than 244 bytes, '/', and a name of no more than 63 letters, "
               "digits, '-', '_' and '.' that begins and ends with a letter or digit";
    return NULL;
}

bool schema_form(const char *why, struct text value, const struct path *path, struct finding_list *findings) {
    if (why == NULL) return true;
    finding_add(findings, FINDING_INVALID, path, value, text_of(why));
    return false;
}

void schema_driver_name(struct text name, bool declared, const struct path *path,
                        struct finding_list *findings) {
    if (name.len == 0) {
        finding_add(findings, FINDING_REQUIRED, path, name, TEXT("a driver's name is required"));
        return;
    }
    if (name.len > DRIVER_NAME_MAX_BYTES)
        finding_add(findings, FINDING_TOO_LONG, path, name, TEXT("must be no more than 63 bytes"));
    const char *why = why_not_dns1123_subdomain_lowered(name);
    if (why == NULL && declared) why = why_not_dns1123_subdomain_caseless(name);
    schema_form(why, name, path, findings);
}

void schema_pool_name(struct text name, const struct path *path, struct finding_list *findings) {
    if (name.len == 0) {
        finding_add(findings, FINDING_REQUIRED, path, name, TEXT("a pool's name is required"));
        return;
    }
    if (name.len > POOL_NAME_MAX_BYTES)
        finding_add(findings, FINDING_TOO_LONG, path, name, TEXT("must be no more than 253 bytes"));
    for (size_t start = 0; start <= name.len;) {
        size_t end = text_find(name, '/', start);
        if (!schema_form(why_not_dns1123_subdomain(text_slice(name, start, end)), name, path, findings))
            return;
        start = end + 1;
    }
}

// What is wrong with [domain/]identifier: at most one cause of each type.
struct qualified_faults {
    bool domain_long;
    bool id_long;
    const char *why; // NULL when nothing is invalid
};

static struct qualified_faults qualified_faults(struct text name) {
    struct qualified_faults faults = {0};
    struct text id = name;
    size_t slash = text_find(name, '/', 0);
    if (slash < name.len) {
        if (text_find(name, '/', slash + 1) < name.len) return faults;
        struct text domain = text_slice(name, 0, slash);
        id = text_slice(name, slash + 1, name.len);
        faults.domain_long = domain.len > DRIVER_NAME_MAX_BYTES;
        if (domain.len == 0)
            faults.why = "the domain before '/' must not be empty";
        else
            faults.why = why_not_dns1123_subdomain_lowered(domain);
        if (faults.why == NULL && id.len == 0) faults.why = "the name after '/' must not be empty";
    }
    faults.id_long = id.len > C_IDENTIFIER_MAX_BYTES;
    if (faults.why == NULL) faults.why = why_not_c_identifier(id);
    return faults;
}

static void add_qualified_faults(struct qualified_faults faults, struct text name, const struct path *path,
                                 struct finding_list *findings) {
    if (faults.domain_long)
        finding_add(findings, FINDING_TOO_LONG, path, name,
                    TEXT("the domain before '/' must be no more than 63 bytes"));
    if (faults.id_long)
        finding_add(findings, FINDING_TOO_LONG, path, name, TEXT("the name must be no more than 32 bytes"));
    schema_form(faults.why, name, path, findings);
}

void schema_qualified_name(struct text name, const struct path *path, struct finding_list *findings) {
    // Most names are bare and short; nothing else has to be asked about those.
    if (name.len <= C_IDENTIFIER_MAX_BYTES && why_not_c_identifier(name) == NULL) return;
    add_qualified_faults(qualified_faults(name), name, path, findings);
}

bool name_is_fully_qualified(struct text name) {
    struct qualified_faults faults = qualified_faults(name);
    return !faults.domain_long && !faults.id_long && faults.why == NULL && text_find(name, '/', 0) < name.len;
}

void schema_fully_qualified_name(struct text name, bool declared, const struct path *path,
                                 struct finding_list *findings) {
    struct qualified_faults faults = qualified_faults(name);
    size_t slash = text_find(name, '/', 0);
    if (slash == name.len && faults.why == NULL)
        faults.why = "must be a domain and a name with a slash between them";
    bool one_slash = slash < name.len && text_find(name, '/', slash + 1) == name.len;
    if (declared && one_slash && faults.why == NULL)
        faults.why = why_not_dns1123_subdomain(text_slice(name, 0, slash));
    add_qualified_faults(faults, name, path, findings);
}
