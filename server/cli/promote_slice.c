// SPDX-License-Identifier: Apache-2.0
#include "server/cli/promote.h"
#include "server/codec/decode.h"
#include "validators/model/view.h"

#define SLICE_BYTES ((size_t)64 << 20)

bool promote_read_slice(struct text json, struct promote_slice *ret_slice) {
    const struct decode_options options = {.mode = JSON_WIRE, .minor = MINOR_NEWEST};
    struct finding_list findings;
    struct fault ignored;
    struct arena arena;
    arena_init(&arena, SLICE_BYTES);
    finding_list_init(&findings, &arena);
    struct object *object = arena_zalloc(&arena, 1, sizeof *object);
    bool fine = object != NULL && decode_object(&arena, json, &options, object, &findings, &ignored) &&
                object->kind == KIND_RESOURCE_SLICE;
    if (fine) {
        const struct resource_slice *slice = &object->slice;
        struct pool_key key = pool_key_of(slice);
        snprintf(ret_slice->driver, sizeof ret_slice->driver, "%.*s", TEXT_ARG(slice->driver));
        snprintf(ret_slice->pool, sizeof ret_slice->pool, "%.*s", TEXT_ARG(slice->pool.name));
        snprintf(ret_slice->key, sizeof ret_slice->key, "%s/%s/%d/%.*s", ret_slice->driver, ret_slice->pool,
                 (int)key.scope.kind, TEXT_ARG(key.scope.value));
        ret_slice->generation = slice->pool.generation;
    }
    arena_release(&arena);
    return fine;
}
