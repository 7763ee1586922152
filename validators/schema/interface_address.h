// SPDX-License-Identifier: Apache-2.0
// Addresses of network interfaces, such as "10.9.8.7/24" or "2001:db8::1/64".
#ifndef DRAWBRIDGE_SCHEMA_INTERFACE_ADDRESS_H
#define DRAWBRIDGE_SCHEMA_INTERFACE_ADDRESS_H

#include "validators/core/text.h"

// What it does: tells why a text is not an address with a prefix length in canonical form; NULL when it is.
// Canonical is what Go prints: IPv4 without leading zeros, IPv6 lowercase with the longest run of zeros cut
// out, IPv4 inside IPv6 written as IPv4.
// Source: k8s.io/apimachinery v0.36.3 pkg/util/validation/ip.go, IsValidInterfaceAddress.
const char *why_not_interface_address(struct text text);

#endif
