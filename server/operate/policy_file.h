// SPDX-License-Identifier: Apache-2.0
// The LedgerPolicy of a folder of manifests: `freeze` and `resume` change it there.
#ifndef DRAWBRIDGE_OPERATE_POLICY_FILE_H
#define DRAWBRIDGE_OPERATE_POLICY_FILE_H

#include <limits.h>

#include "server/operate/policy_edit.h"

#define POLICY_FILE_NEW "ledgerpolicy.yaml" // made when no file of the folder holds the policy

// What it does: changes the policy in the file that holds it, or makes that file. The new text takes the
// place of the old one at once; two calls at a time follow each other. Owner of *ret_edit: the caller,
// policy_edit_release. *ret_file is the file's name. Errors: FAULT_IO, FAULT_INPUT, FAULT_STATE,
// FAULT_MEMORY; nothing is changed then.
bool policy_file_change(const char *folder, const struct policy_change *change, struct policy_edit *ret_edit,
                        char ret_file[NAME_MAX + 1], struct fault *fault) __attribute__((warn_unused_result));

#endif
