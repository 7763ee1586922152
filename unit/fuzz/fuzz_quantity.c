// SPDX-License-Identifier: Apache-2.0
// Quantities of any text: what is read is printed and read again as the same value, and arithmetic holds its
// laws. The text is cut at its first newline into two quantities.
#include "validators/core/quantity.h"

#include <stdlib.h>

#define ARENA_CAP_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held) {
    if (!held) abort();
}

static void print_and_read(struct arena *arena, struct quantity quantity) {
    // Rounded up, by less than one unit. Go has rules of its own for negative ones.
    int64_t whole;
    if (quantity_sign(quantity) > 0 && quantity_value(quantity, &whole)) {
        expect(quantity_compare(quantity_from_int64(whole - 1, QUANTITY_DECIMAL_SI), quantity) < 0);
        expect(quantity_compare(quantity_from_int64(whole, QUANTITY_DECIMAL_SI), quantity) >= 0);
    }
    struct text printed = quantity_canonical(arena, quantity);
    struct text as_go = quantity_text(arena, quantity);
    expect(printed.len > 0 && as_go.len > 0);
    if (quantity.out_of_range) return;
    struct quantity again;
    expect(quantity_parse(printed, &again, NULL));
    expect(quantity_compare(quantity, again) == 0);
    expect(quantity_parse(as_go, &again, NULL));
    expect(quantity_compare(quantity, again) == 0);
}

static void keep_laws(struct quantity a, struct quantity b) {
    expect(quantity_compare(a, b) == -quantity_compare(b, a));
    expect(quantity_compare(a, a) == 0 || a.digits_lost);
    if (a.out_of_range || b.out_of_range) return;
    struct quantity sum = quantity_add(a, b);
    struct quantity other = quantity_add(b, a);
    if (!sum.out_of_range && !other.out_of_range) {
        expect(quantity_compare(sum, other) == 0);
        struct quantity back = quantity_subtract(sum, b);
        if (!back.out_of_range) expect(quantity_compare(back, a) == 0);
    }
    struct quantity product = quantity_multiply(a, b);
    if (!product.out_of_range)
        expect(quantity_sign(product) == quantity_sign(a) * quantity_sign(b) || quantity_sign(product) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text input = {(const char *)data, size};
    size_t cut = text_find(input, '\n', 0);
    struct text first = text_slice(input, 0, cut);
    struct text second = text_slice(input, cut + 1, input.len);
    struct arena arena;
    arena_init(&arena, ARENA_CAP_BYTES);
    struct quantity a;
    struct quantity b;
    const char *why = NULL;
    bool has_first = quantity_parse(first, &a, &why);
    expect(has_first || why != NULL);
    if (has_first) print_and_read(&arena, a);
    if (has_first && quantity_parse(second, &b, &why)) keep_laws(a, b);
    arena_release(&arena);
    return 0;
}
