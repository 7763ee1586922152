// SPDX-License-Identifier: Apache-2.0
// Listening sockets. They are opened here and not by MHD, so that what is wrong can be said.
#ifndef DRAWBRIDGE_HTTP_LISTEN_H
#define DRAWBRIDGE_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/fault.h"

#define LISTEN_BACKLOG       4096 // callers that wait while the connections are all taken
#define LISTEN_ADDRESS_BYTES 72

// What it does: opens a listening TCP socket on a numeric address. port 0 lets the system choose.
// Owner: the caller, close. Errors: FAULT_USAGE for what is not an address, FAULT_IO with the system's words.
bool listen_open(const char *address, uint16_t port, int *ret_fd, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: parts HOST:PORT ([HOST]:PORT for IPv6). Errors: FAULT_USAGE.
bool listen_parse(const char *text, char ret_address[LISTEN_ADDRESS_BYTES], uint16_t *ret_port,
                  struct fault *fault) __attribute__((warn_unused_result));

// What it does: where a socket listens, as HOST:PORT. "?" when the system does not say.
void listen_describe(int fd, char ret_text[LISTEN_ADDRESS_BYTES]);

// The port of a socket, 0 when the system does not say.
uint16_t listen_port(int fd);

#endif
