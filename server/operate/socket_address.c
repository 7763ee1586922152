// SPDX-License-Identifier: Apache-2.0
// Addresses and waiting, for both sides.
#include "server/operate/socket_address.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <string.h>
#include <time.h>

#include "server/operate/socket.h"

bool socket_address(const char *folder, struct sockaddr_un *ret_address, int *ret_fd, struct fault *fault) {
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fault_set(fault, FAULT_IO, "\"%s\" cannot be opened: %s", folder, strerror(errno));
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "/proc/self/fd/%d/%s", fd,
             CONTROL_SOCKET_NAME);
    *ret_fd = fd;
    return true;
}

int64_t socket_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool socket_wait(int fd, short events, int64_t deadline_ms) {
    for (;;) {
        int64_t left_ms = deadline_ms - socket_now_ms();
        struct pollfd wanted = {.fd = fd, .events = events};
        if (left_ms <= 0) return false;
        int ready = poll(&wanted, 1, (int)left_ms);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}
