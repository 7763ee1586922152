// SPDX-License-Identifier: Apache-2.0
// The LedgerPolicy in the text of a manifest: finds it, and puts new lists of freezes and resumes into it.
// Only the lines of those two lists change, so that comments elsewhere stay. What comes out is read again and
// compared before it is handed out: a form of YAML that cannot be edited so is refused, never spoilt.
#ifndef DRAWBRIDGE_OPERATE_POLICY_TEXT_H
#define DRAWBRIDGE_OPERATE_POLICY_TEXT_H

#include "server/operate/policy_edit.h"
#include "validators/core/text.h"

// What it does: the policy `default` in a file's text; *ret_policy is NULL when it holds none. Owner: the
// caller, json_decref. Errors: FAULT_INPUT with the place when the text cannot be read or holds two.
bool policy_text_find(const char *file, struct text bytes, json_t **ret_policy, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: the same text with the lists of `edit`. Owner: the caller, free. Errors: FAULT_STATE when the
// policy stands in a form that cannot be edited, FAULT_MEMORY.
bool policy_text_edit(const char *file, struct text bytes, const struct policy_edit *edit, char **ret_bytes,
                      size_t *ret_len, struct fault *fault) __attribute__((warn_unused_result));

// What it does: the text of a new file with a policy. Owner and errors as policy_text_edit.
bool policy_text_new(const struct policy_edit *edit, char **ret_bytes, size_t *ret_len, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
