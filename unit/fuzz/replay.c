// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer where that is not built in: gives every file named on the command line, and every
// file of every folder named there, to the target once. Words that begin with - are libFuzzer's options and
// are passed over. Nothing to replay is an error, so that a lost corpus shows.
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed_count;

static bool replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    // A block of exactly the size, so that a sanitizer sees a byte too far.
    uint8_t *data = NULL;
    size_t size = 0;
    if (fseek(file, 0, SEEK_END) == 0) {
        long end = ftell(file);
        if (end >= 0) {
            size = (size_t)end;
            data = malloc(size == 0 ? 1 : size);
        }
    }
    rewind(file);
    bool read = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    if (read) {
        LLVMFuzzerTestOneInput(data, size);
        replayed_count++;
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(data);
    return read;
}

static bool replay_folder(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        return false;
    }
    bool fine = true;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        char inner[4096];
        int len = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        fine = len > 0 && (size_t)len < sizeof inner && replay_file(inner) && fine;
    }
    closedir(folder);
    return fine;
}

int main(int argc, char **argv) {
    bool fine = true;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') continue;
        struct stat status;
        bool is_folder = stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode);
        fine = (is_folder ? replay_folder(argv[i]) : replay_file(argv[i])) && fine;
    }
    if (replayed_count == 0) fprintf(stderr, "nothing to replay: name a folder of inputs\n");
    return fine && replayed_count > 0 ? 0 : 1;
}
