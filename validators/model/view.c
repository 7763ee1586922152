// SPDX-License-Identifier: Apache-2.0
// Keys by which the ledger is asked.
#include "validators/model/view.h"

struct pool_key pool_key_of(const struct resource_slice *slice) {
    struct pool_key key = {.driver = slice->driver, .pool = slice->pool.name};
    if (slice->node_name.set && slice->node_name.value.len > 0)
        key.scope = (struct node_scope){SCOPE_NODE, slice->node_name.value};
    else if (slice->node_selector != NULL)
        key.scope = (struct node_scope){SCOPE_SELECTOR, slice->node_selector->raw};
    else if (slice->all_nodes.set && slice->all_nodes.value)
        key.scope = (struct node_scope){SCOPE_ALL_NODES, {NULL, 0}};
    else
        key.scope = (struct node_scope){SCOPE_PER_DEVICE, {NULL, 0}};
    return key;
}
