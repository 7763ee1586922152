// SPDX-License-Identifier: Apache-2.0
// What each rule is, in plain English: the head comment of its file. The table is written at build time by
// rule_texts.cmake.
#ifndef DRAWBRIDGE_REGISTRY_RULE_TEXTS_H
#define DRAWBRIDGE_REGISTRY_RULE_TEXTS_H

// What it does: the text of the rule with this ID, or of "schema"; lines end in '\n'. NULL: no such rule.
// Owner: static.
const char *rule_text(const char *id);

#endif
