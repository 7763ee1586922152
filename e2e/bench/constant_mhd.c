// SPDX-License-Identifier: Apache-2.0
// Our own limit: libmicrohttpd over TLS that reads the body and answers a constant AdmissionReview, nothing
// else.
//
//     constant_mhd PORT CERT KEY
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char answer[] =
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"response\":"
    "{\"uid\":\"7f0c1f6e-0000-4000-8000-000000000001\",\"allowed\":true}}";
static struct MHD_Response *response;

static enum MHD_Result answer_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data, size_t *size,
                                      void **state) {
    (void)context, (void)url, (void)method, (void)version, (void)data;
    static int seen;
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, response);
}

static char *read_file(const char *path) {
    static char buffers[2][65536];
    static int next;
    char *buffer = buffers[next++ & 1];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    size_t len = fread(buffer, 1, sizeof buffers[0] - 1, file);
    buffer[len] = '\0';
    fclose(file);
    return buffer;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    char *cert = read_file(argv[2]);
    char *key = read_file(argv[3]);
    if (cert == NULL || key == NULL) return 3;
    response =
        MHD_create_response_from_buffer(sizeof answer - 1, (void *)(uintptr_t)answer, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Content-Type", "application/json");
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TLS, (uint16_t)strtoul(argv[1], NULL, 10), NULL, NULL,
        answer_request, NULL, MHD_OPTION_HTTPS_MEM_CERT, cert, MHD_OPTION_HTTPS_MEM_KEY, key,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_END);
    if (daemon == NULL) return 4;
    alarm(3600); // never outlives a forgotten benchmark
    pause();
    MHD_stop_daemon(daemon);
    return 0;
}
