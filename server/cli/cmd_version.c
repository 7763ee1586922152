// SPDX-License-Identifier: Apache-2.0
// `drawbridge version`: the program, the Kubernetes minors it knows, the libraries it runs with.
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <yaml.h>

#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/print_string.h"
#include "server/feed/curl_library.h"
#include "validators/model/object.h"

struct library {
    const char *name;
    const char *version;
};

static void print_text(const struct library *libraries, size_t count) {
    printf("drawbridge %s\nKubernetes", DRAWBRIDGE_VERSION);
    for (int minor = MINOR_OLDEST; minor <= MINOR_NEWEST; minor++) printf(" 1.%d", minor);
    putchar('\n');
    for (size_t i = 0; i < count; i++) printf("%s %s\n", libraries[i].name, libraries[i].version);
}

static void print_json(const struct library *libraries, size_t count) {
    printf("{\"version\":\"%s\",\"kubernetes\":[", DRAWBRIDGE_VERSION);
    for (int minor = MINOR_OLDEST; minor <= MINOR_NEWEST; minor++)
        printf("%s\"1.%d\"", minor > MINOR_OLDEST ? "," : "", minor);
    fputs("],\"libraries\":{", stdout);
    for (size_t i = 0; i < count; i++) {
        printf("%s\"%s\":", i > 0 ? "," : "", libraries[i].name);
        print_json_string(stdout, text_of(libraries[i].version));
    }
    puts("}}");
}

int cmd_version(int argc, char **argv) {
    struct options options;
    int code;
    if (!options_start(&options, "version", argc, argv, &code)) return code;
    struct fault fault;
    bool has_curl = curl_library_load(&fault);
    const struct library libraries[] = {
        {"libmicrohttpd", MHD_get_version()},
        {"gnutls", gnutls_check_version(NULL)},
        {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
        {"jansson", jansson_version_str()},
        {"libyaml", yaml_get_version_string()},
        {"libcurl", has_curl ? libcurl.version_info(CURLVERSION_NOW)->version : fault.text},
        {"sqlite", sqlite3_libversion()},
    };
    size_t count = sizeof libraries / sizeof libraries[0];
    if (options_choice(&options, OPTION_OUTPUT) == 1)
        print_json(libraries, count);
    else
        print_text(libraries, count);
    options_release(&options);
    return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_UNREADABLE;
}
