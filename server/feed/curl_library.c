// SPDX-License-Identifier: Apache-2.0
// Looking libcurl up by its name in the system's library path.
#include "server/feed/curl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define LIBRARY_NAME "libcurl.so.4"

struct curl_library libcurl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fault problem;

struct function {
    const char *name;
    size_t offset; // of its pointer in struct curl_library
};

static const struct function functions[] = {
#define CURL_LIBRARY_ROW(name) {"curl_" #name, offsetof(struct curl_library, name)},
    CURL_LIBRARY_FUNCTIONS(CURL_LIBRARY_ROW)
#undef CURL_LIBRARY_ROW
};

static void load(void) {
    void *library = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fault_set(&problem, FAULT_IO, "an API server needs " LIBRARY_NAME ", which cannot be loaded: %s",
                  dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL) {
            fault_set(&problem, FAULT_IO, LIBRARY_NAME " has no %s", functions[i].name);
            return;
        }
        *(void **)((char *)&libcurl + functions[i].offset) = address;
    }
}

bool curl_library_load(struct fault *fault) {
    pthread_once(&once, load);
    return problem.code == FAULT_NONE || fault_set(fault, problem.code, "%s", problem.text);
}
