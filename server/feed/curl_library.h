// SPDX-License-Identifier: Apache-2.0
// libcurl, loaded when an API server is to be spoken to. It brings some twenty libraries of protocols that
// nobody here speaks, and with the folder feed, or none, it is not needed at all.
#ifndef DRAWBRIDGE_FEED_CURL_LIBRARY_H
#define DRAWBRIDGE_FEED_CURL_LIBRARY_H

#include <curl/curl.h>

#include "validators/core/fault.h"

// Every function of libcurl that is called, without the prefix.
#define CURL_LIBRARY_FUNCTIONS(FUNCTION)                                                                     \
    FUNCTION(easy_cleanup)                                                                                   \
    FUNCTION(easy_getinfo)                                                                                   \
    FUNCTION(easy_init)                                                                                      \
    FUNCTION(easy_perform)                                                                                   \
    FUNCTION(easy_reset)                                                                                     \
    FUNCTION(easy_setopt)                                                                                    \
    FUNCTION(easy_strerror)                                                                                  \
    FUNCTION(global_cleanup)                                                                                 \
    FUNCTION(global_init)                                                                                    \
    FUNCTION(multi_add_handle)                                                                               \
    FUNCTION(multi_cleanup)                                                                                  \
    FUNCTION(multi_info_read)                                                                                \
    FUNCTION(multi_init)                                                                                     \
    FUNCTION(multi_perform)                                                                                  \
    FUNCTION(multi_poll)                                                                                     \
    FUNCTION(multi_remove_handle)                                                                            \
    FUNCTION(multi_setopt)                                                                                   \
    FUNCTION(multi_wakeup)                                                                                   \
    FUNCTION(slist_append)                                                                                   \
    FUNCTION(slist_free_all)                                                                                 \
    FUNCTION(version_info)

struct curl_library {
#define CURL_LIBRARY_MEMBER(name) __typeof__(curl_##name) *name;
    CURL_LIBRARY_FUNCTIONS(CURL_LIBRARY_MEMBER)
#undef CURL_LIBRARY_MEMBER
};

// Its functions, once curl_library_load has told that they are there.
extern struct curl_library libcurl;

// What it does: loads the library and looks its functions up; once, whoever calls. It stays loaded.
// Errors: FAULT_IO, the same each time. Thread: any.
bool curl_library_load(struct fault *fault) __attribute__((warn_unused_result));

#endif
