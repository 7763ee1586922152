// SPDX-License-Identifier: Apache-2.0
// build_info and what Prometheus expects of every process. Source: prometheus/client_golang v1.20
// prometheus/process_collector_linux.go for the names.
#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/http/metrics.h"
#include "server/log.h"

static void gauge(struct exposition *out, const char *name, const char *help, double value) {
    exposition_family(out, name, "gauge", help);
    exposition_sample(out, name, NULL, 0, value);
}

static long count_open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return -1;
    long count = -3; // ".", "..", and the folder's own
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

// Pages of /proc/self/statm: the first two numbers are the whole size and the resident one.
static bool read_pages(unsigned long ret_pages[2]) {
    char line[256];
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return false;
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!read) return false;
    char *end = NULL;
    ret_pages[0] = strtoul(line, &end, 10);
    ret_pages[1] = strtoul(end, NULL, 10);
    return true;
}

// Seconds since the epoch when the process began: field 22 of /proc/self/stat counts ticks since the boot.
static double start_time_s(void) {
    char line[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    if (file == NULL) return 0;
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    char *at = read ? strrchr(line, ')') : NULL; // the name before it may hold anything
    for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
    if (at == NULL) return 0;
    double since_boot_s = (double)strtoull(at + 1, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
    struct timespec real;
    struct timespec boot;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (double)(real.tv_sec - boot.tv_sec) + (double)(real.tv_nsec - boot.tv_nsec) / 1e9 + since_boot_s;
}

void process_collect(void *state, struct exposition *out) {
    (void)state;
    struct exposition_label labels[] = {{"version", TEXT(DRAWBRIDGE_VERSION)},
                                        {"compiler", TEXT(__VERSION__)}};
    exposition_family(out, "drawbridge_build_info", "gauge", "1, with the version in the labels.");
    exposition_sample(out, "drawbridge_build_info", labels, 2, 1);
    exposition_family(out, "drawbridge_log_lines_dropped_total", "counter",
                      "Log lines over the limit, or for which stderr had no room.");
    exposition_count(out, "drawbridge_log_lines_dropped_total", NULL, 0, log_dropped_count());

    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    exposition_family(out, "process_cpu_seconds_total", "counter", "User and system CPU time.");
    exposition_sample(out, "process_cpu_seconds_total", NULL, 0,
                      (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    unsigned long pages[2];
    if (read_pages(pages)) {
        double page_bytes = (double)sysconf(_SC_PAGESIZE);
        gauge(out, "process_virtual_memory_bytes", "Virtual memory.", (double)pages[0] * page_bytes);
        gauge(out, "process_resident_memory_bytes", "Resident memory.", (double)pages[1] * page_bytes);
    }
    struct rlimit limit;
    long open_count = count_open_files();
    if (open_count >= 0) gauge(out, "process_open_fds", "Open files.", (double)open_count);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        gauge(out, "process_max_fds", "Most open files.", (double)limit.rlim_cur);
    gauge(out, "process_start_time_seconds", "When the process began, since the epoch.", start_time_s());
}
