// SPDX-License-Identifier: Apache-2.0
// What the control socket answers: show, export, state. The context of all of them is struct serve_ledger. A
// node is copied per hold of the store's mutex; nothing is sent while it is held.
//
// Requests: {"command":"show","output":"json"|"text","node":NAME,"all":BOOL} (all: differences that are not
// settled count too), {"command":"export"}, {"command":"state"}.
// Lines of answers: show {"kubernetesVersion"}, {"node":{…}} each, {"rest":{…}}, or {"text":"…"} each; export
// the events; state one object.
#ifndef DRAWBRIDGE_CLI_CONTROL_COMMANDS_H
#define DRAWBRIDGE_CLI_CONTROL_COMMANDS_H

#include "server/ledger/report.h"
#include "server/operate/socket.h"

extern const struct control_command control_commands[];
extern const size_t control_command_count;

// What it does: the names of all nodes, copied, so that they outlive changes of the ledger. Errors: false,
// memory.
bool control_copy_names(const struct ledger *ledger, struct arena *arena, struct text_list *ret_names)
    __attribute__((warn_unused_result));

#endif
