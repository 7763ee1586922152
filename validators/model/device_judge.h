// SPDX-License-Identifier: Apache-2.0
// Judging the devices of slices that are stored already. The ledger keeps what rules found in a device's
// mappings, but must not know the rules: whoever starts a ledger hands it this table.
#ifndef DRAWBRIDGE_MODEL_DEVICE_JUDGE_H
#define DRAWBRIDGE_MODEL_DEVICE_JUDGE_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

// Faults of a device are bits: bit i is the rule with index i. Only the rules about mappings that need no
// cache are among them.
#define JUDGE_RULES_MAX 64u

struct judge_rule {
    const char *id;       // static text; NULL: there is no rule with this index
    enum severity action; // before any policy
    bool locked;          // policy may not change the action
};

struct device_judge {
    // A rule by its index.
    struct judge_rule (*rule)(size_t index);
    // What it does: one word of faults for each device of a slice. A device without mappings of this minor
    // has none. Rules that read the policy's NUMA spellings are left to judge_numa. Errors: false, memory;
    // the arena is for what is made in between.
    bool (*judge)(const struct object *slice, int minor, struct arena *arena, uint64_t *ret_faults);
    // What it does: the faults in the attributes of a device that has mappings, by the spellings in force
    // (empty: the built-in ones). Errors: as judge.
    bool (*judge_numa)(struct text driver, const struct device_attribute_map *attributes,
                       const struct text_list *spellings, struct arena *arena, uint64_t *ret_faults);
};

#endif
