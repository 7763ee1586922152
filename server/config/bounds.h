// SPDX-License-Identifier: Apache-2.0
// Every bound of the server, named once. Those that a flag may change are the defaults of that flag
// (server/cli/options.def holds the same numbers as text; a unit test compares the two).
#ifndef DRAWBRIDGE_CONFIG_BOUNDS_H
#define DRAWBRIDGE_CONFIG_BOUNDS_H

#include "validators/core/json_reader.h"

// The API server takes bodies of 3 MiB, and a review carries the object twice, as JSON, plus the user.
#define BOUND_REQUEST_BYTES   (8ll << 20)
#define BOUND_IN_FLIGHT_BYTES (64ll << 20)
// Reviews up to here have a reserve of their own and are never shed.
#define BOUND_SMALL_REVIEW_BYTES (64ll << 10)
// Request line and headers of one connection; beyond it the answer is 431.
#define BOUND_CONNECTION_BYTES (64ll << 10)
// What one review may take while it is judged.
#define BOUND_REVIEW_MEMORY_BYTES (64ll << 20)

#define BOUND_CONNECTIONS        512
#define BOUND_CONNECTIONS_PER_IP 0 // 0: none; API servers share few addresses

// Absolute deadlines: from accept until TLS has begun, from accept to the handler, from the handler to the
// whole answer (when ?timeout= is absent, and at most), from one answer to the next request.
#define BOUND_TLS_BEGIN_MS       5000
#define BOUND_HEADER_MS          10000
#define BOUND_REQUEST_MS         10000
#define BOUND_REQUEST_MOST_MS    30000
#define BOUND_REQUEST_RESERVE_MS 500 // kept back from ?timeout=, so that an answer beats the caller's timeout
#define BOUND_IDLE_CONNECTION_MS 130000 // longer than the API server keeps an idle connection
#define BOUND_SHUTDOWN_DELAY_MS  10000

// Nesting of what decoders read, and of raw subtrees; keys of one map that is not sorted. Fixed.
#define BOUND_JSON_TYPED_DEPTH JSON_TYPED_DEPTH_LIMIT
#define BOUND_JSON_RAW_DEPTH   JSON_RAW_DEPTH_LIMIT
#define BOUND_JSON_KEYS        JSON_KEYS_LIMIT

// What a tenant sees of a denial. Fixed.
#define BOUND_DENIAL_BYTES    4096
#define BOUND_DENIAL_FINDINGS 10

// The configuration file. Fixed.
#define BOUND_CONFIG_BYTES (256ll << 10)

#endif
