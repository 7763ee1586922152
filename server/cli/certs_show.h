// SPDX-License-Identifier: Apache-2.0
// Printing certificates and verdicts about them.
#ifndef DRAWBRIDGE_CLI_CERTS_SHOW_H
#define DRAWBRIDGE_CLI_CERTS_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

// What it does: prints every certificate of the files ("-" is standard input) on stdout, as text or as one
// JSON object. A file that cannot be read is told on stderr, the rest is still printed. Returns the exit
// code.
int certs_show_files(const char *const *files, size_t count, const char *const *more, size_t more_count,
                     bool as_json, time_t now);

// What it does: prints whether a certificate holds; an empty reason is yes. Errors: false when stdout is
// closed.
bool certs_print_verdict(const char *file, const char *reason, bool as_json);

// The time as RFC 3339. Returns the buffer.
const char *certs_time(time_t time, char *buffer, size_t size);

#endif
