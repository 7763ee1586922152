// SPDX-License-Identifier: Apache-2.0
// Cuts an object down to what the ledger reads, as text: the journal keeps no more than that. What may hold
// secrets (environments, opaque parameters, annotations) goes first. Pure.
#ifndef DRAWBRIDGE_LEDGER_PRUNE_H
#define DRAWBRIDGE_LEDGER_PRUNE_H

#include "validators/model/object.h"

// What it does: the object without the members that the ledger does not read; what stays is byte for byte as
// it was, only the order of members is kept and blanks between them go. Owner: the arena. Errors: empty when
// it is no well-formed object, or when memory ran out.
struct text prune_object(struct arena *arena, enum object_kind kind, struct text json);

#endif
