// SPDX-License-Identifier: Apache-2.0
// Reading of rule fixtures.
#include "unit/lib/fixture.h"

#include "validators/core/json_reader.h"

static void read_minors(struct json_reader *reader, struct fixture *fixture) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        int64_t minor = 0;
        json_int64(reader, &minor);
        fixture->for_minor_36 = fixture->for_minor_36 || minor == 36;
        fixture->for_minor_37 = fixture->for_minor_37 || minor == 37;
    }
}

static void read_wanted(struct json_reader *reader, struct wanted_list *list) {
    enum { RULE, FIELD, REASON };
    static const struct json_name names[] = {JSON_NAME("rule"), JSON_NAME("field"), JSON_NAME("reason")};
    static const struct json_fields fields = JSON_FIELDS(names);
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct wanted_finding *wanted = LIST_APPEND(reader->arena, list);
        if (wanted == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &fields, &seen, &field)) switch (field) {
            case RULE: json_text(reader, &wanted->rule); break;
            case FIELD: json_text(reader, &wanted->field); break;
            case REASON: json_text(reader, &wanted->reason); break;
            }
    }
}

bool fixture_read(struct arena *arena, struct text json, struct fixture *ret_fixture, struct fault *fault) {
    enum { MINORS, UPSTREAM, WANT, OBJECT };
    static const struct json_name names[] = {JSON_NAME("minors"), JSON_NAME("upstream"), JSON_NAME("want"),
                                             JSON_NAME("object")};
    static const struct json_fields fields = JSON_FIELDS(names);
    struct json_reader reader;
    struct finding_list findings;
    struct fixture fixture = {0};
    struct text upstream = {NULL, 0};
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    finding_list_init(&findings, arena);
    json_init(&reader, json, arena, &findings, JSON_STRICT);
    while (json_field(&reader, &fields, &seen, &field)) switch (field) {
        case MINORS: read_minors(&reader, &fixture); break;
        case UPSTREAM: json_text(&reader, &upstream); break;
        case WANT: read_wanted(&reader, &fixture.want); break;
        case OBJECT: json_raw(&reader, &fixture.object); break;
        }
    if (!json_finish(&reader, fault)) return false;
    if (findings.count > 0)
        return fault_set(fault, FAULT_INPUT, "%.*s: %.*s", TEXT_ARG(findings.items[0].path),
                         TEXT_ARG(findings.items[0].detail));
    fixture.upstream_rejects = text_equal(upstream, TEXT("reject"));
    if (!fixture.upstream_rejects && !text_equal(upstream, TEXT("accept")))
        return fault_set(fault, FAULT_INPUT, "upstream must be accept or reject");
    if (!fixture.for_minor_36 && !fixture.for_minor_37)
        return fault_set(fault, FAULT_INPUT, "minors must name 36, 37 or both");
    if (!JSON_SEEN(seen, WANT) || fixture.object.len == 0)
        return fault_set(fault, FAULT_INPUT, "want and object are required");
    *ret_fixture = fixture;
    return true;
}
