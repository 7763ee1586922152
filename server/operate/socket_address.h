// SPDX-License-Identifier: Apache-2.0
// The address of the control socket, for folders whose path is longer than a socket's may be.
#ifndef DRAWBRIDGE_OPERATE_SOCKET_ADDRESS_H
#define DRAWBRIDGE_OPERATE_SOCKET_ADDRESS_H

#include <stdint.h>
#include <sys/un.h>

#include "validators/core/fault.h"

// What it does: the address, by way of the opened folder, which *ret_fd holds: to be closed after the call
// that uses the address. Errors: FAULT_IO.
bool socket_address(const char *folder, struct sockaddr_un *ret_address, int *ret_fd, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: waits until a descriptor is ready for these events of poll. False at the deadline.
// Units: a monotonic time in milliseconds.
bool socket_wait(int fd, short events, int64_t deadline_ms);
int64_t socket_now_ms(void);

#endif
