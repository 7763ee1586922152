// SPDX-License-Identifier: Apache-2.0
// The certificate that the server shows at the next handshake. A pair of files is followed (by notification
// on the folder, and by reading again every few seconds); a new pair takes over only when it can be read and
// the key belongs to the certificate, else the old one stays. Established connections are never touched.
#ifndef DRAWBRIDGE_CERTS_SOURCE_H
#define DRAWBRIDGE_CERTS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

struct source;

// What happened to the pair, told from the source's own thread: log it, count it, do not block.
enum source_event {
    SOURCE_ROTATED, // a new pair is in force
    SOURCE_REFUSED, // the new files were not taken; the fault says why; the old pair (if any) stays
};

struct source_files {
    const char *cert_file; // PEM, leaf first, then its chain; NULL: none, pairs come from source_put
    const char *key_file;
    int64_t handshake_deadline_ms; // a retired pair lives for two of these
    int64_t poll_ms;               // how often to read again without notification; 0: FILE_WATCH_POLL_MS
    void (*told)(void *context, enum source_event event, const struct fault *fault); // may be NULL
    void *context;
};

// What it does: loads the pair and starts to follow the files in a thread of its own. When the first load
// fails the source exists all the same and keeps trying: source_facts says `usable` false and why; the caller
// decides whether to go on. Texts of `files` are copied. Owner: the caller, source_free.
// Errors: FAULT_USAGE (no paths), FAULT_MEMORY, FAULT_IO (no thread).
bool source_new(const struct source_files *files, struct source **ret_source, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: ends the thread, wipes and frees all pairs. Call it after the last handshake. NULL is
// allowed.
void source_free(struct source *source);

// Exactly what MHD's callback (MHD_OPTION_HTTPS_CERT_CALLBACK) hands on: *pcert, *pcert_length, *pkey.
struct source_pair {
    gnutls_pcert_st *chain;
    unsigned chain_count;
    gnutls_privkey_t key;
};

// What it does: the pair in force. Owner: the source; what is returned stays valid for two handshake
// deadlines after it was replaced. Errors: false when there is no pair yet (the handshake must then fail).
// Thread: any; takes a mutex for a moment.
bool source_current(struct source *source, struct source_pair *ret_pair) __attribute__((warn_unused_result));

// What it does: puts a pair in force that did not come from files, with the same checks.
// Errors: FAULT_INPUT, FAULT_LIMIT; the old pair stays.
bool source_put(struct source *source, struct text certificate_pem, struct text key_pem, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: wipes and frees the retired pairs that are due. For who uses source_put; files do it by
// themselves. Thread: any.
void source_tidy(struct source *source);

struct source_facts {
    bool of_files;               // somebody else writes the pairs; we never do
    bool usable;                 // a pair is in force (it may have expired: compare not_after)
    time_t not_before;           // of the leaf
    time_t not_after;            // of the leaf
    time_t chain_not_after;      // the earliest end in the chain
    uint64_t rotations_ok_count; // pairs taken after the first
    uint64_t rotations_failed_count;
    uint64_t retired_count;     // replaced pairs that are not freed yet
    bool refused;               // the files as they are now are not in force …
    char why[FAULT_TEXT_BYTES]; // … because of this
};

void source_facts(struct source *source, struct source_facts *ret_facts);

#endif
