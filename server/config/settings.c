// SPDX-License-Identifier: Apache-2.0
// Gathering the settings from flags, variables, file and defaults, and re-reading them.
#include "server/config/settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/settings_parts.h"

// Where each setting lives, and whether a re-read may change it.
#define FIELD(id, member, live)                                                                              \
    { OPTION_##id, offsetof(struct serve_settings, member), live }
const struct setting_field setting_fields[] = {
    FIELD(BIND_ADDRESS, bind_address, false),
    FIELD(PORT, port, false),
    FIELD(STATUS_BIND_ADDRESS, status_bind_address, false),
    FIELD(ADDRESS_FILE, address_file, false),
    FIELD(TLS_CERT_FILE, tls_cert_file, false),
    FIELD(TLS_PRIVATE_KEY_FILE, tls_private_key_file, false),
    FIELD(DYNAMIC_SERVING_CA_SECRET_NAME, dynamic_serving_ca_secret_name, false),
    FIELD(DYNAMIC_SERVING_CA_SECRET_NAMESPACE, dynamic_serving_ca_secret_namespace, false),
    FIELD(DYNAMIC_SERVING_DNS_NAMES, dynamic_serving_dns_names, false),
    FIELD(DYNAMIC_SERVING_LEAF_DURATION, dynamic_serving_leaf_duration_ms, false),
    FIELD(DYNAMIC_SERVING_CA_DURATION, dynamic_serving_ca_duration_ms, false),
    FIELD(VALIDATING_WEBHOOK_CONFIGURATIONS, validating_webhook_configurations, false),
    FIELD(MUTATING_WEBHOOK_CONFIGURATIONS, mutating_webhook_configurations, false),
    FIELD(ENABLE_CLIENT_VERIFICATION, enable_client_verification, false),
    FIELD(CLIENT_CA_PATH, client_ca_path, true),
    FIELD(CLIENT_SUBJECT_NAMES, client_subject_names, true),
    FIELD(FEED, feed, false),
    FIELD(KUBECONFIG, kubeconfig, false),
    FIELD(CONTEXT, context, false),
    FIELD(KUBERNETES_VERSION, kubernetes_version, false),
    FIELD(FEATURE_GATES, feature_gates, false),
    FIELD(FAILURE_POLICY, failure_policy, true),
    FIELD(LEDGER_DIR, ledger_dir, false),
    FIELD(NODE_METRICS, node_metrics, false),
    FIELD(NUMA_ATTRIBUTES, numa_attributes, false),
    FIELD(CONFIG, config, false),
    FIELD(SHUTDOWN_DELAY, shutdown_delay_ms, true),
    FIELD(V, v, true),
    FIELD(LOGGING_FORMAT, logging_format, true),
    FIELD(MAX_REQUEST_BYTES, max_request_bytes, false),
    FIELD(MAX_IN_FLIGHT_BYTES, max_in_flight_bytes, false),
    FIELD(SMALL_REVIEW_BYTES, small_review_bytes, false),
    FIELD(MAX_CONNECTION_BYTES, max_connection_bytes, false),
    FIELD(MAX_REVIEW_MEMORY_BYTES, max_review_memory_bytes, false),
    FIELD(MAX_CONNECTIONS, max_connections, false),
    FIELD(MAX_CONNECTIONS_PER_IP, max_connections_per_ip, false),
    FIELD(MAX_CONCURRENT_REVIEWS, max_concurrent_reviews, false),
    FIELD(TLS_BEGIN_DEADLINE, tls_begin_deadline_ms, false),
    FIELD(HEADER_DEADLINE, header_deadline_ms, false),
    FIELD(REQUEST_DEADLINE, request_deadline_ms, true),
    FIELD(MAX_REQUEST_DEADLINE, max_request_deadline_ms, true),
    FIELD(IDLE_CONNECTION_DEADLINE, idle_connection_deadline_ms, false),
};
#undef FIELD
const size_t setting_field_count = sizeof setting_fields / sizeof setting_fields[0];

_Static_assert(sizeof(enum logging_format) == sizeof(unsigned), "choices are stored as unsigned");
_Static_assert(sizeof(enum failure_policy) == sizeof(unsigned), "choices are stored as unsigned");

static void *place_of(struct serve_settings *settings, const struct setting_field *field) {
    return (char *)settings + field->offset;
}

static const void *place_seen(const struct serve_settings *settings, const struct setting_field *field) {
    return (const char *)settings + field->offset;
}

static const struct setting_field *field_of(enum option_id id) {
    for (size_t i = 0; i < setting_field_count; i++)
        if (setting_fields[i].id == id) return &setting_fields[i];
    return NULL;
}

static void list_release(struct setting_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (struct setting_list){0};
}

static bool list_copy(const char *const *items, size_t count, struct setting_list *ret_list) {
    struct setting_list list = {calloc(count + 1, sizeof(char *)), 0};
    if (list.items == NULL) return false;
    for (; list.count < count; list.count++) {
        list.items[list.count] = strndup(items[list.count], strlen(items[list.count]));
        if (list.items[list.count] == NULL) {
            list_release(&list);
            return false;
        }
    }
    *ret_list = list;
    return true;
}

static bool set_list(struct setting_list *list, const char *const *items, size_t count, struct fault *fault) {
    struct setting_list copy;
    if (!list_copy(items, count, &copy)) return fault_set(fault, FAULT_MEMORY, "out of memory");
    list_release(list);
    *list = copy;
    return true;
}

static bool set_text(char **text, const char *value, struct fault *fault) {
    char *copy = strndup(value, strlen(value));
    if (copy == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    free(*text);
    *text = copy;
    return true;
}

bool setting_set(struct serve_settings *settings, const struct setting_field *field,
                 const char *const *values, size_t count, enum setting_source source, struct fault *fault) {
    const struct option_row *row = &option_rows[field->id];
    void *place = place_of(settings, field);
    bool set = false;
    switch (row->kind) {
    case OPTION_IS_LIST:
    case OPTION_IS_FILES: set = set_list(place, values, count, fault); break;
    case OPTION_IS_TEXT:
    case OPTION_IS_FILE: set = set_text(place, values[0], fault); break;
    case OPTION_IS_SWITCH: set = option_parse_switch(values[0], place, fault); break;
    case OPTION_IS_CHOICE: set = option_parse_choice(row, values[0], place, fault); break;
    case OPTION_IS_INT:
    case OPTION_IS_BYTES:
    case OPTION_IS_DURATION: set = option_parse_number(row, values[0], place, fault); break;
    }
    if (set) settings->sources[field->id] = source;
    return set;
}

// Sets from one text, as a variable or the table's default has it: lists are parted by commas.
static bool set_from_text(struct serve_settings *settings, const struct setting_field *field,
                          const char *text, enum setting_source source, struct fault *fault) {
    enum option_kind kind = option_rows[field->id].kind;
    if (kind != OPTION_IS_LIST) return setting_set(settings, field, &text, 1, source, fault);
    char *copy = strndup(text, strlen(text));
    const char **items = calloc(strlen(text) + 1, sizeof *items);
    size_t count = 0;
    bool set = copy != NULL && items != NULL;
    if (!set) fault_set(fault, FAULT_MEMORY, "out of memory");
    for (char *at = copy, *rest = NULL; set && at != NULL; at = rest) {
        rest = strchr(at, ',');
        if (rest != NULL) *rest++ = '\0';
        if (*at != '\0') items[count++] = at;
    }
    set = set && setting_set(settings, field, items, count, source, fault);
    free(items);
    free(copy);
    return set;
}

static bool take_defaults(struct serve_settings *settings, struct fault *fault) {
    for (size_t i = 0; i < setting_field_count; i++) {
        const char *text = option_rows[setting_fields[i].id].default_text;
        if (!set_from_text(settings, &setting_fields[i], text, SETTING_DEFAULT, fault))
            return fault_wrap(fault, "default of --%s", option_rows[setting_fields[i].id].name);
    }
    return true;
}

// The variable of a setting, or NULL where it is not there, empty, or not ours: for a Service that is called
// "drawbridge" the kubelet sets DRAWBRIDGE_PORT=tcp://10.0.0.1:443 in each Pod of the namespace.
static const char *variable_of(const struct setting_field *field, char *name, size_t size) {
    const char *value = getenv(option_variable(&option_rows[field->id], name, size));
    if (value == NULL || value[0] == '\0') return NULL;
    return field->id == OPTION_PORT && strstr(value, "://") != NULL ? NULL : value;
}

static bool take_variables(struct serve_settings *settings, struct fault *fault) {
    char name[OPTION_NAME_BYTES];
    for (size_t i = 0; i < setting_field_count; i++) {
        const char *value = variable_of(&setting_fields[i], name, sizeof name);
        if (value != NULL && !set_from_text(settings, &setting_fields[i], value, SETTING_VARIABLE, fault))
            return fault_wrap(fault, "%s", name);
    }
    return true;
}

static bool take_flags(struct serve_settings *settings, const struct options *options, struct fault *fault) {
    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];
        if (!options_given(options, field->id)) continue;
        size_t count = 1;
        const char *text = options_text(options, field->id);
        const char *const *values = &text;
        if (option_rows[field->id].kind == OPTION_IS_LIST) values = options_list(options, field->id, &count);
        if (!setting_set(settings, field, values, count, SETTING_FLAG, fault))
            return fault_wrap(fault, "--%s", option_rows[field->id].name);
    }
    if (!options_given(options, OPTION_SECURE_PORT)) return true;
    if (options_given(options, OPTION_PORT))
        return fault_set(fault, FAULT_USAGE, "--secure-port is another name of --port; give one of them");
    const char *port = options_text(options, OPTION_SECURE_PORT);
    return setting_set(settings, field_of(OPTION_PORT), &port, 1, SETTING_FLAG, fault);
}

// The file that the flag, else the variable, names.
static bool take_file(struct serve_settings *settings, const struct options *options, struct fault *fault) {
    char name[OPTION_NAME_BYTES];
    const char *path = options_text(options, OPTION_CONFIG);
    if (path[0] == '\0') path = variable_of(field_of(OPTION_CONFIG), name, sizeof name);
    return path == NULL || settings_read_file(path, settings, fault);
}

bool settings_load(const struct options *options, struct serve_settings *ret_settings, struct fault *fault) {
    struct serve_settings settings = {0};
    if (!take_defaults(&settings, fault) || !take_file(&settings, options, fault) ||
        !take_variables(&settings, fault) || !take_flags(&settings, options, fault)) {
        settings_release(&settings);
        return false;
    }
    *ret_settings = settings;
    return true;
}

void settings_release(struct serve_settings *settings) {
    if (settings == NULL) return;
    for (size_t i = 0; i < setting_field_count; i++) {
        void *place = place_of(settings, &setting_fields[i]);
        enum option_kind kind = option_rows[setting_fields[i].id].kind;
        if (kind == OPTION_IS_LIST) list_release(place);
        if (kind == OPTION_IS_TEXT || kind == OPTION_IS_FILE) free(*(char **)place);
    }
    *settings = (struct serve_settings){0};
}

bool setting_is_live(enum option_id id) {
    const struct setting_field *field = field_of(id);
    return field != NULL && field->live;
}

size_t setting_bytes(enum option_kind kind) {
    switch (kind) {
    case OPTION_IS_SWITCH: return sizeof(bool);
    case OPTION_IS_CHOICE: return sizeof(unsigned);
    case OPTION_IS_INT:
    case OPTION_IS_BYTES:
    case OPTION_IS_DURATION: return sizeof(int64_t);
    case OPTION_IS_TEXT:
    case OPTION_IS_FILE: return sizeof(char *);
    case OPTION_IS_LIST:
    case OPTION_IS_FILES: return sizeof(struct setting_list);
    }
    return 0;
}

static bool lists_equal(const struct setting_list *a, const struct setting_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0) return false;
    return true;
}

static bool values_equal(const struct serve_settings *a, const struct serve_settings *b,
                         const struct setting_field *field) {
    const void *in_a = place_seen(a, field), *in_b = place_seen(b, field);
    enum option_kind kind = option_rows[field->id].kind;
    if (kind == OPTION_IS_LIST) return lists_equal(in_a, in_b);
    if (kind == OPTION_IS_TEXT || kind == OPTION_IS_FILE)
        return strcmp(*(char *const *)in_a, *(char *const *)in_b) == 0;
    return memcmp(in_a, in_b, setting_bytes(kind)) == 0;
}

static void set_bit(uint64_t *bits, enum option_id id) {
    bits[id / 64] |= UINT64_C(1) << (id % 64);
}

bool settings_change_has(const uint64_t *bits, enum option_id id) {
    return (bits[id / 64] >> (id % 64) & 1) != 0;
}

const char *settings_change_names(const uint64_t *bits, char *buffer, size_t size) {
    size_t at = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; i < OPTION_COUNT && at < size; i++)
        if (settings_change_has(bits, (enum option_id)i))
            at += (size_t)snprintf(buffer + at, size - at, "%s%s", at == 0 ? "" : ",", option_rows[i].name);
    return buffer;
}

// Gives the new settings a copy of the present value of a setting that cannot change.
static bool keep_present(struct serve_settings *settings, const struct serve_settings *present,
                         const struct setting_field *field, struct fault *fault) {
    void *place = place_of(settings, field);
    const void *kept = place_seen(present, field);
    enum option_kind kind = option_rows[field->id].kind;
    settings->sources[field->id] = present->sources[field->id];
    if (kind == OPTION_IS_TEXT || kind == OPTION_IS_FILE) return set_text(place, *(char *const *)kept, fault);
    if (kind == OPTION_IS_LIST) {
        const struct setting_list *list = kept;
        return set_list(place, (const char *const *)list->items, list->count, fault);
    }
    memcpy(place, kept, setting_bytes(kind));
    return true;
}

bool settings_reload(const struct options *options, const struct serve_settings *present,
                     struct serve_settings *ret_settings, struct settings_change *ret_change,
                     struct fault *fault) {
    struct serve_settings settings;
    struct settings_change change = {{0}, {0}};
    if (!settings_load(options, &settings, fault)) return false;
    bool fine = settings_check(&settings, fault);
    for (size_t i = 0; fine && i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];
        if (values_equal(&settings, present, field)) continue;
        set_bit(field->live ? change.applied : change.needs_restart, field->id);
        fine = field->live || keep_present(&settings, present, field, fault);
    }
    // What is kept and what is new must fit each other too.
    fine = fine && settings_check(&settings, fault);
    if (!fine) {
        settings_release(&settings);
        return false;
    }
    *ret_settings = settings;
    *ret_change = change;
    return true;
}
