// SPDX-License-Identifier: Apache-2.0
// Addresses to listen on.
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "server/http/listen.h"

Test(listen, addresses_are_parted) {
    static const struct {
        const char *text;
        const char *address;
        uint16_t port;
    } cases[] = {{"127.0.0.1:9402", "127.0.0.1", 9402},
                 {":9402", "0.0.0.0", 9402},
                 {"[::1]:0", "::1", 0},
                 {"0.0.0.0:65535", "0.0.0.0", 65535}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char address[LISTEN_ADDRESS_BYTES];
        uint16_t port;
        struct fault fault;
        cr_assert(listen_parse(cases[i].text, address, &port, &fault), "%s", cases[i].text);
        cr_expect_str_eq(address, cases[i].address);
        cr_expect_eq(port, cases[i].port);
    }
}

Test(listen, sockets_say_where_they_are) {
    static const char *const addresses[] = {"127.0.0.1", "::1"};
    for (size_t i = 0; i < 2; i++) {
        int fd = -1;
        struct fault fault;
        char text[LISTEN_ADDRESS_BYTES];
        char want[LISTEN_ADDRESS_BYTES];
        if (!listen_open(addresses[i], 0, &fd, &fault)) {
            cr_expect_eq(i, 1, "%s", fault.text); // a machine without IPv6
            continue;
        }
        listen_describe(fd, text);
        snprintf(want, sizeof want, i == 0 ? "127.0.0.1:%u" : "[::1]:%u", listen_port(fd));
        cr_expect_str_eq(text, want);
        cr_expect_neq(listen_port(fd), 0);
        close(fd);
    }
}

Test(listen, what_is_no_address_is_a_usage_error) {
    int fd = -1;
    struct fault fault;
    cr_expect_not(listen_open("localhost", 0, &fd, &fault));
    cr_expect_eq(fault.code, FAULT_USAGE);
    cr_expect_not(listen_open("192.0.2.1", 0, &fd, &fault));
    cr_expect_eq(fault.code, FAULT_IO, "an address of another machine");
    cr_expect_eq(fd, -1);
}
