// SPDX-License-Identifier: Apache-2.0
// The control socket: how the command line asks a running server. A Unix socket, 0600, in the ledger folder.
//
// One request per connection: one line with a JSON object, {"command":"show",…}. The answer is JSON Lines;
// the last line is {"end":true}, or {"error":"…"}. One client at a time, by a thread of its own; a client has
// a deadline for its request, for each line that it takes, and in all, so that none holds the next one for
// long.
#ifndef DRAWBRIDGE_OPERATE_SOCKET_H
#define DRAWBRIDGE_OPERATE_SOCKET_H

#include <jansson.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

#define CONTROL_SOCKET_NAME   "drawbridge.sock"
#define CONTROL_REQUEST_BYTES 4096u // the longest request
#define CONTROL_REQUEST_MS    2000  // until it is there
#define CONTROL_STALL_MS      5000  // that a client may take nothing
#define CONTROL_ANSWER_MS     60000 // for the whole answer

// ---- the server's side

struct control_answer;

// What it does: sends one line, without its end. False when the client is gone or late: the command ends.
bool control_line(struct control_answer *answer, struct text line) __attribute__((warn_unused_result));

struct control_command {
    const char *name;
    // What it does: answers with control_line. Errors: false; a fault with a code becomes the error line.
    bool (*run)(void *context, const json_t *request, struct control_answer *answer, struct fault *fault);
};

struct control_options {
    const char *folder;
    const struct control_command *commands; // must outlive the socket
    size_t command_count;
    void *context;
    // 0: the defaults above.
    int request_ms;
    int stall_ms;
    int answer_ms;
};

struct control_socket;

// What it does: listens, in a thread of its own. The caller has the folder's lock: a socket that is there is
// left over and replaced. Owner: the caller, control_socket_free. Errors: FAULT_IO, FAULT_MEMORY.
bool control_socket_new(const struct control_options *options, struct control_socket **ret_socket,
                        struct fault *fault) __attribute__((warn_unused_result));

// Ends the thread, also in the middle of an answer, and removes the socket. NULL is allowed.
void control_socket_free(struct control_socket *socket);

// ---- the client's side

// What it does: sends a request and hands out each line of the answer but the last. Errors:
// FAULT_UNREACHABLE when no server answers there; FAULT_STATE what the server says; what the receiver says.
bool control_call(const char *folder, struct text request,
                  bool (*receive)(void *context, struct text line, struct fault *fault), void *context,
                  struct fault *fault) __attribute__((warn_unused_result));

#endif
