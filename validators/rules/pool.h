// SPDX-License-Identifier: Apache-2.0
// What the rules that compare a slice with the live ones share.
#ifndef DRAWBRIDGE_RULES_POOL_H
#define DRAWBRIDGE_RULES_POOL_H

#include "validators/rules/mapping.h"

// The live slices of the pool that the slice under review is of, without itself. Errors: not VIEW_KNOWN.
enum view_answer pool_of(const struct rule_input *input, struct pool_state *ret_state);

// Whether a device takes of its node just what a live one takes.
bool mapping_same(const struct device *device, const struct view_mapping_list *live, int minor);

// Whether a device takes anything of its node in this minor.
bool mapping_present(const struct device *device, int minor);

// The paths of spec.pool.FIELD, and of the index-th device's name; `room` must outlive them.
struct path_room {
    struct path spec;
    struct path list;
    struct path item;
};
struct path pool_path(struct path_room *room, struct text field);
struct path device_path(struct path_room *room, size_t index);

// The claims in a list of holders that are bound, as text for a message: at most three UIDs, "and N more".
// *ret_count is how many there are. Owner: the input's arena.
struct text bound_claims(const struct rule_input *input, const struct device_holder_list *holders,
                         size_t *ret_count);

#endif
