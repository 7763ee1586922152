// SPDX-License-Identifier: Apache-2.0
// Opening listening sockets.
#include "server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "validators/core/text.h"

static bool fail_io(struct fault *fault, const char *address, uint16_t port) {
    return fault_set(fault, FAULT_IO, "cannot listen on %s port %u: %s", address, port, strerror(errno));
}

bool listen_open(const char *address, uint16_t port, int *ret_fd, struct fault *fault) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    char port_text[8];
    snprintf(port_text, sizeof port_text, "%u", port);
    if (getaddrinfo(address, port_text, &hints, &found) != 0 || found == NULL)
        return fault_set(fault, FAULT_USAGE, "\"%s\" is not a numeric address to listen on", address);
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    bool open = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0;
    freeaddrinfo(found);
    if (!open) {
        fail_io(fault, address, port);
        if (fd >= 0) close(fd);
        return false;
    }
    *ret_fd = fd;
    return true;
}

bool listen_parse(const char *text, char ret_address[LISTEN_ADDRESS_BYTES], uint16_t *ret_port,
                  struct fault *fault) {
    struct text whole = text_of(text);
    size_t colon = whole.len;
    while (colon > 0 && whole.ptr[colon - 1] != ':') colon--;
    struct text host = text_slice(whole, 0, colon > 0 ? colon - 1 : 0);
    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = text_slice(host, 1, host.len - 1);
    int64_t port;
    if (colon == 0 || !text_to_int64(text_slice(whole, colon, whole.len), &port) || port < 0 ||
        port > 65535 || host.len >= LISTEN_ADDRESS_BYTES)
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not HOST:PORT", text);
    if (host.len == 0) host = TEXT("0.0.0.0");
    memcpy(ret_address, host.ptr, host.len);
    ret_address[host.len] = '\0';
    *ret_port = (uint16_t)port;
    return true;
}

static bool name_of(int fd, struct sockaddr_storage *ret_name) {
    socklen_t len = sizeof *ret_name;
    return getsockname(fd, (struct sockaddr *)ret_name, &len) == 0;
}

uint16_t listen_port(int fd) {
    struct sockaddr_storage name;
    if (!name_of(fd, &name)) return 0;
    if (name.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&name)->sin6_port);
    return ntohs(((struct sockaddr_in *)&name)->sin_port);
}

void listen_describe(int fd, char ret_text[LISTEN_ADDRESS_BYTES]) {
    struct sockaddr_storage name;
    char host[INET6_ADDRSTRLEN] = "?";
    if (!name_of(fd, &name)) {
        snprintf(ret_text, LISTEN_ADDRESS_BYTES, "?");
        return;
    }
    bool six = name.ss_family == AF_INET6;
    const void *address = six ? (const void *)&((struct sockaddr_in6 *)&name)->sin6_addr
                              : (const void *)&((struct sockaddr_in *)&name)->sin_addr;
    inet_ntop(name.ss_family, address, host, sizeof host);
    snprintf(ret_text, LISTEN_ADDRESS_BYTES, six ? "[%s]:%u" : "%s:%u", host, listen_port(fd));
}
