// SPDX-License-Identifier: Apache-2.0
// Text from tenants in the quotes of JSON, in XML and on a terminal, where it must not do anything.
#ifndef DRAWBRIDGE_CLI_PRINT_STRING_H
#define DRAWBRIDGE_CLI_PRINT_STRING_H

#include <stdio.h>

#include "validators/core/text.h"

// What it does: a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void print_json_string(FILE *out, struct text text);

// What it does: XML text, fit for attributes too. What XML cannot hold becomes U+FFFD.
void print_xml_text(FILE *out, struct text text);

// What it does: text for a terminal or a pipe: controls, direction marks and bytes that are no UTF-8 become
// \xNN or \uNNNN. Returns how many columns it took.
size_t print_plain_text(FILE *out, struct text text);

#endif
