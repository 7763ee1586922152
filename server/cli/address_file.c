// SPDX-License-Identifier: Apache-2.0
// Written beside its place, then moved there.
#include "server/cli/address_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "validators/core/banned.h"

bool address_file_write(const char *path, const char *webhook, const char *status, struct fault *fault) {
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
        return fault_set(fault, FAULT_USAGE, "%.120s: the path is too long", path);
    FILE *file = fopen(beside, "we");
    if (file == NULL) return fault_set(fault, FAULT_IO, "%.120s: %s", beside, strerror(errno));
    bool fine = fprintf(file, "webhook %s\n", webhook) > 0;
    if (fine && status[0] != '\0') fine = fprintf(file, "status %s\n", status) > 0;
    fine = fclose(file) == 0 && fine;
    if (fine && rename(beside, path) == 0) return true;
    fault_set(fault, FAULT_IO, "%.120s: %s", path, strerror(errno));
    (void)unlink(beside);
    return false;
}
