// SPDX-License-Identifier: Apache-2.0
// Addresses of interfaces.
#include <criterion/criterion.h>

#include "validators/schema/interface_address.h"

Test(interface_address, canonical) {
    static const char *const fine[] = {"10.9.8.7/24",
                                       "0.0.0.0/0",
                                       "255.255.255.255/32",
                                       "1.2.3.4/8",
                                       "::/0",
                                       "::1/128",
                                       "1::/16",
                                       "2001:db8::1/64",
                                       "1::2:0:0:3:4/64",
                                       "1:0:0:2::3/64",
                                       "1:2:3:4:5:6:7:8/64",
                                       "1:2:3:4:5:6:7:0/9",
                                       "0:2:3:4:5:6:7:8/1",
                                       "1:0:3:4:5:6:7:8/64",
                                       "64:ff9b::/96",
                                       "::102:304/100",
                                       "a:b:c:d:e:f::/64"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        cr_assert_null(why_not_interface_address(text_of(fine[i])), "%s", fine[i]);
}

Test(interface_address, not_canonical) {
    static const char *const wrong[] = {
        "",
        "/24",
        "10.9.8.7",
        "10.9.8.7/",
        "10.9.8.7/33",
        "10.9.8.7/024",
        "10.9.8.7/+8",
        "10.9.8.7/-1",
        "10.9.8.7/8 ",
        "10.9.8.07/24",
        "256.1.1.1/8",
        "1000.1.1.1/8",
        "1.2.3/8",
        "1.2.3.4.5/8",
        "1..2.3/8",
        "a.b.c.d/8",
        "1.2.3.4/8/8",
        "2001:DB8::1/64",
        "2001:0db8::1/64",
        "2001:db8:0:0:0:0:0:1/64",
        "1:2:3:4:5:6:7::/64",
        "::2:3:4:5:6:7:8/64",
        "1::3:4:5:6:7:8/64",
        "1::2:3:4:5:6:7:8/64",
        "::ffff:102:304/120",
        "::ffff:ffff:1/64",
        "::ffff:1.2.3.4/120",
        "::1.2.3.4/100",
        "fe80::1%eth0/64",
        "1:2:3/64",
        "1::2::3/64",
        ":::/64",
        ":1::/64",
        "1:/64",
        "::g/64",
        "12345::/64",
        "::1/129",
        "::/00",
        "1:2:3:4:5:6:7:8:9/64",
        "1:2:3:4:5:6:7:8:/64",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_assert_not_null(why_not_interface_address(text_of(wrong[i])), "%s", wrong[i]);
}
