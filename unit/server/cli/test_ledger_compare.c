// SPDX-License-Identifier: Apache-2.0
// Where two ledgers differ: each difference once, by node and path; what only clocks tell is none.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "server/cli/ledger_compare.h"

static void expect(const char *a, const char *b, const char *want) {
    json_t *left = json_loads(a, 0, NULL), *right = json_loads(b, 0, NULL);
    cr_assert(left != NULL && right != NULL, "%s | %s", a, b);
    json_t *differences = ledger_compare(left, right);
    char *text = json_dumps(differences, JSON_COMPACT | JSON_SORT_KEYS);
    cr_expect_str_eq(text, want, "%s", text);
    free(text);
    json_decref(differences);
    json_decref(left);
    json_decref(right);
}

#define NODE(rest) "{\"nodes\":[{\"name\":\"n\"," rest "}],\"unplaced\":[]}"

Test(ledger_compare, equal) {
    expect(NODE("\"totals\":{\"cpu\":{\"dra\":\"1\"}}"), NODE("\"totals\":{\"cpu\":{\"dra\":\"1\"}}"), "[]");
    expect(NODE("\"state\":\"Fresh\",\"causes\":[],\"version\":1"),
           NODE("\"state\":\"Stale\",\"causes\":[\"x\"],\"version\":2"), "[]");
    expect(NODE("\"claims\":[{\"uid\":\"u\",\"observed\":\"1\"}],\"drivers\":[{\"driver\":\"d\",\"since\":"
                "\"a\"}]"),
           NODE("\"claims\":[{\"uid\":\"u\"}],\"drivers\":[{\"driver\":\"d\",\"state\":\"Fresh\"}]"), "[]");
    expect("{\"nodes\":[],\"unplaced\":[],\"counts\":{\"applied\":1}}",
           "{\"nodes\":[],\"unplaced\":[],\"rejections\":[1]}", "[]");
}

Test(ledger_compare, totals_and_numa) {
    expect(NODE("\"totals\":{\"cpu\":{\"dra\":\"1\",\"held\":\"0\"}}"),
           NODE("\"totals\":{\"cpu\":{\"dra\":\"2\",\"held\":\"0\"}}"),
           "[{\"a\":\"1\",\"b\":\"2\",\"node\":\"n\",\"path\":\"totals.cpu.dra\"}]");
    expect(NODE("\"totals\":{\"cpu\":{\"dra\":\"1\"}}"), NODE("\"totals\":{}"),
           "[{\"a\":{\"dra\":\"1\"},\"b\":null,\"node\":\"n\",\"path\":\"totals.cpu\"}]");
    expect(NODE("\"numa\":[{\"id\":0,\"dra\":{}},{\"id\":null,\"dra\":{}}]"),
           NODE("\"numa\":[{\"id\":0,\"dra\":{\"cpu\":\"1\"}},{\"id\":null,\"dra\":{}}]"),
           "[{\"a\":null,\"b\":\"1\",\"node\":\"n\",\"path\":\"numa[0].dra.cpu\"}]");
}

Test(ledger_compare, rows_are_matched_by_their_key) {
    expect(
        NODE("\"claims\":[{\"uid\":\"u1\",\"driver\":\"d\",\"device\":\"a\",\"version\":1},"
             "{\"uid\":\"u2\",\"driver\":\"d\",\"device\":\"a\",\"version\":7}]"),
        NODE("\"claims\":[{\"uid\":\"u2\",\"driver\":\"d\",\"device\":\"a\",\"version\":8}]"),
        "[{\"a\":{\"device\":\"a\",\"driver\":\"d\",\"uid\":\"u1\",\"version\":1},\"b\":null,\"node\":\"n\","
        "\"path\":\"claims[u1/d/a]\"},"
        "{\"a\":7,\"b\":8,\"node\":\"n\",\"path\":\"claims[u2/d/a].version\"}]");
    expect(NODE("\"claims\":[{\"uid\":\"u\",\"pods\":[\"x/a\",\"x/b\"]}]"),
           NODE("\"claims\":[{\"uid\":\"u\",\"pods\":[\"x/b\"]}]"),
           "[{\"a\":\"x/a\",\"b\":null,\"node\":\"n\",\"path\":\"claims[u].pods[]\"}]");
    expect(NODE("\"divergence\":[]"),
           NODE("\"divergence\":[{\"pod\":\"x/p\",\"claim\":\"c\",\"uid\":\"u\"}]"),
           "[{\"a\":null,\"b\":{\"claim\":\"c\",\"pod\":\"x/p\",\"uid\":\"u\"},\"node\":\"n\","
           "\"path\":\"divergence[x/p/c/u]\"}]");
}

Test(ledger_compare, nodes_and_what_is_on_none) {
    expect("{\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"unplaced\":[{\"uid\":\"u\"}]}",
           "{\"nodes\":[{\"name\":\"b\"},{\"name\":\"c\"}],\"unplaced\":[]}",
           "[{\"a\":{\"name\":\"a\"},\"b\":null,\"node\":\"a\",\"path\":\"\"},"
           "{\"a\":null,\"b\":{\"name\":\"c\"},\"node\":\"c\",\"path\":\"\"},"
           "{\"a\":{\"uid\":\"u\"},\"b\":null,\"node\":\"\",\"path\":\"unplaced[u]\"}]");
}
