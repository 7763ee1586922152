// SPDX-License-Identifier: Apache-2.0
// Keys pass through memory that is wiped: the body is read where it lies, what is decoded and what is written
// is our own.
#include "server/operate/serving_secret.h"

#include <stdlib.h>

#include "certs/pem.h"
#include "server/out.h"
#include "validators/core/json_reader.h"

#define ARENA_BYTES  ((size_t)1024 * 1024)
#define AROUND_BYTES ((size_t)2048) // of a body, beside its values

static const struct json_name secret_names[] = {JSON_NAME("metadata"), JSON_NAME("data")};
static const struct json_fields secret_fields = JSON_FIELDS(secret_names);
enum { SECRET_METADATA, SECRET_DATA };

static const struct json_name metadata_names[] = {JSON_NAME("resourceVersion")};
static const struct json_fields metadata_fields = JSON_FIELDS(metadata_names);

void serving_secret_release(struct serving_secret *secret) {
    ca_content_release(&secret->content);
    secret->exists = false;
}

static void read_metadata(struct json_reader *reader, struct serving_secret *secret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    struct text version = {"", 0};
    while (json_field(reader, &metadata_fields, &seen, &field)) json_text(reader, &version);
    snprintf(secret->version, sizeof secret->version, "%.*s", TEXT_ARG(version));
}

// What cannot be decoded is left empty. Where the CA itself is concerned, the content says so.
static void read_value(struct ca_content *content, enum ca_field field, struct text base64) {
    bool is_key = field == CA_FIELD_KEY || field == CA_FIELD_NEXT_KEY;
    struct fault why;
    secret_bytes_release(&content->fields[field]);
    if (base64_decode(base64, is_key ? PEM_KEY_BYTES_LIMIT : PEM_CHAIN_BYTES_LIMIT, &content->fields[field],
                      &why))
        return;
    fault_wrap(&why, "%s", ca_field_name(field));
    if (field == CA_FIELD_CERTIFICATE || field == CA_FIELD_KEY) content->refused = why;
}

static void read_data(struct json_reader *reader, struct ca_content *content) {
    struct json_iterator members = {0};
    struct text key, value;
    while (json_member(reader, &members, &key)) {
        value = (struct text){"", 0};
        json_text(reader, &value);
        for (int i = 0; i < CA_FIELD_COUNT; i++)
            if (text_equal(key, text_of(ca_field_name((enum ca_field)i))))
                read_value(content, (enum ca_field)i, value);
    }
}

bool serving_secret_read(struct text body, struct serving_secret *ret_secret, struct fault *fault) {
    struct serving_secret secret = {.exists = true};
    struct arena arena;
    struct finding_list findings;
    struct json_reader reader;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    arena_init(&arena, ARENA_BYTES);
    finding_list_init(&findings, &arena);
    json_init(&reader, body, &arena, &findings, JSON_WIRE);
    while (json_field(&reader, &secret_fields, &seen, &field)) switch (field) {
        case SECRET_METADATA: read_metadata(&reader, &secret); break;
        case SECRET_DATA: read_data(&reader, &secret.content); break;
        default: json_skip(&reader); break;
        }
    bool fine = json_finish(&reader, fault);
    if (fine && secret.version[0] == '\0')
        fine = fault_set(fault, FAULT_INPUT, "the API server's Secret has no resourceVersion");
    arena_release(&arena);
    if (!fine) {
        serving_secret_release(&secret);
        return false;
    }
    *ret_secret = secret;
    return true;
}

static void write_head(const struct serving_secret *secret, const char *namespace, const char *name,
                       struct out *out) {
    OUT_LITERAL(out, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":");
    out_json_string(out, text_of(name), 0);
    OUT_LITERAL(out, ",\"namespace\":");
    out_json_string(out, text_of(namespace), 0);
    if (secret->exists) {
        OUT_LITERAL(out, ",\"resourceVersion\":");
        out_json_string(out, text_of(secret->version), 0);
        OUT_LITERAL(out, "},\"data\":{");
        return;
    }
    OUT_LITERAL(out, ",\"labels\":{\"app.kubernetes.io/part-of\":\"drawbridge\"}},"
                     "\"type\":\"kubernetes.io/tls\",\"data\":{");
}

static bool write_value(const struct secret_bytes *value, struct out *out, struct fault *fault) {
    struct secret_bytes base64 = {0};
    if (value->ptr == NULL) {
        OUT_LITERAL(out, "null");
        return true;
    }
    if (!base64_encode(secret_bytes_text(value), &base64, fault)) return false;
    OUT_LITERAL(out, "\"");
    out_text(out, secret_bytes_text(&base64));
    OUT_LITERAL(out, "\"");
    secret_bytes_release(&base64);
    return true;
}

bool serving_secret_write(const struct serving_secret *secret, const char *namespace, const char *name,
                          const struct ca_change *change, struct secret_bytes *ret_body,
                          struct fault *fault) {
    size_t room = AROUND_BYTES;
    for (int i = 0; i < CA_FIELD_COUNT; i++) room += change->values[i].len / 3 * 4 + 64;
    struct secret_bytes body = {malloc(room), room};
    if (body.ptr == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the Secret");
    struct out out = out_of(body.ptr, room);
    bool fine = true, first = true;
    write_head(secret, namespace, name, &out);
    for (int i = 0; fine && i < CA_FIELD_COUNT; i++) {
        // There is nothing to take out of an object that is being made.
        if (!change->set[i] || (!secret->exists && change->values[i].ptr == NULL)) continue;
        out_format(&out, "%s\"%s\":", first ? "" : ",", ca_field_name((enum ca_field)i));
        fine = write_value(&change->values[i], &out, fault);
        first = false;
    }
    OUT_LITERAL(&out, "}}");
    if (fine && out.full) fine = fault_set(fault, FAULT_LIMIT, "the Secret has no room in its body");
    if (!fine) {
        secret_bytes_release(&body);
        return false;
    }
    body.len = out.len;
    *ret_body = body;
    return true;
}
