// SPDX-License-Identifier: Apache-2.0
// The decoder with any bytes: the first byte chooses the minor, the rest is the document. WIRE and STRICT
// tell the same, but for what only one of them looks at.
#include "server/codec/decode.h"

#define ARENA_CAP_BYTES ((size_t)32 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held) {
    if (!held) abort();
}

struct outcome {
    bool fine;
    enum object_kind kind;
    size_t decoding_count; // findings of wrong types
    size_t strict_count;   // unknown and duplicate fields
};

static struct outcome decode(struct text input, enum json_mode mode, int minor) {
    struct arena arena;
    arena_init(&arena, ARENA_CAP_BYTES);
    struct finding_list findings;
    finding_list_init(&findings, &arena);
    struct decode_options options = {mode, minor};
    struct object object;
    struct fault fault = {0};
    struct outcome outcome = {0};
    outcome.fine = decode_object(&arena, input, &options, &object, &findings, &fault);
    expect(outcome.fine == (fault.code == FAULT_NONE));
    expect(!outcome.fine || finding_list_is_sound(&findings));
    if (outcome.fine) outcome.kind = object.kind;
    for (size_t i = 0; i < findings.count; i++) {
        const struct finding *finding = &findings.items[i];
        expect(finding->detail.len > 0);
        if (finding->type == FINDING_STRICT_DECODING)
            outcome.strict_count++;
        else
            outcome.decoding_count++;
    }
    expect(mode == JSON_STRICT || outcome.strict_count == 0);
    arena_release(&arena);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct text input = {(const char *)data + 1, size - 1};
    int minor = data[0] % 2 == 0 ? 36 : 37;
    struct outcome wire = decode(input, JSON_WIRE, minor);
    struct outcome strict = decode(input, JSON_STRICT, minor);
    // A repeated key ends the document on the wire only.
    if (wire.fine) {
        expect(strict.fine);
        expect(wire.kind == strict.kind);
        expect(wire.decoding_count == strict.decoding_count || strict.strict_count > 0);
    }
    if (strict.fine && strict.strict_count == 0) expect(wire.fine);
    return 0;
}
