// SPDX-License-Identifier: Apache-2.0
// What to write instead, for wrong shapes that people often write.
#ifndef DRAWBRIDGE_CODEC_HINTS_H
#define DRAWBRIDGE_CODEC_HINTS_H

#include <stddef.h>
#include <stdint.h>

#include "validators/core/finding.h"

// What it does: gives a hint to each finding from index first on that has none and is a known mistake. `when`
// is that of the reader (model/object.h): which minor, which version. Owner of the hints: static text, or the
// list's arena.
void hints_add(struct finding_list *findings, size_t first, uint8_t when);

#endif
