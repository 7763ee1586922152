// SPDX-License-Identifier: Apache-2.0
// The objects of one manifest file, as the folder feed keeps them.
#ifndef DRAWBRIDGE_FEED_MANIFESTS_H
#define DRAWBRIDGE_FEED_MANIFESTS_H

#include "server/feed/kinds.h"
#include "validators/core/fault.h"

#define MANIFEST_NAME_BYTES 512u // longest name, namespace or UID

struct manifest {
    const struct feed_kind *row;
    struct text namespace; // "default" where a namespaced object names none
    struct text name;
    struct text uid;  // as written, else made of kind, namespace and name
    struct text json; // with uid and namespace, and with resourceVersion "0"
};

struct manifest_list {
    struct manifest *items;
    size_t count;
    int64_t written_version; // the highest resourceVersion that stood in the file
    struct arena arena;      // behind all texts
};

// What it does: reads the objects of the kinds that are followed; others are passed over. All or nothing: one
// object that cannot be read keeps the whole file out. `file` is how the fault calls it. Owner: the caller,
// manifest_list_release. Errors: FAULT_INPUT with file and line, FAULT_MEMORY.
bool manifests_read(const char *file, struct text bytes, int minor, struct manifest_list *ret_list,
                    struct fault *fault) __attribute__((warn_unused_result));

void manifest_list_release(struct manifest_list *list);

// The order of objects: by kind in the order of feed_kinds, by namespace, by name.
int manifest_compare(const struct manifest *a, const struct manifest *b);

#endif
