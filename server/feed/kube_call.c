// SPDX-License-Identifier: Apache-2.0
// libcurl, set up so that nothing but the API server is ever spoken to.
#include "server/feed/kube_call.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <openssl/crypto.h>

#include "server/feed/kube.h"

#define STATUS_ARENA_BYTES ((size_t)1024 * 1024)
#define FIRST_BYTES        ((size_t)64 * 1024)
#define URL_BYTES          (LISTWATCH_PATH_BYTES + 1024u)

static int64_t elapsed_ms(const struct kube_call *call) {
    return feed_now_ms() - call->began_ms;
}

static bool fail(struct kube_call *call, enum watch_end end) {
    call->stopped = true;
    call->end = end;
    return false;
}

static bool keep_body(struct kube_call *call, struct text bytes) {
    bool refusal = call->http_code != 200;
    size_t limit_bytes = refusal ? KUBE_REFUSAL_BYTES : KUBE_BODY_BYTES;
    if (bytes.len > limit_bytes - call->body_len) {
        if (refusal) return true;
        fault_set(&call->fault, FAULT_LIMIT, "an answer of more than %zu bytes", limit_bytes);
        return fail(call, WATCH_END_LIMIT);
    }
    size_t wanted = call->body_len + bytes.len;
    if (wanted > call->body_cap_bytes) {
        size_t cap_bytes = call->body_cap_bytes == 0 ? FIRST_BYTES : call->body_cap_bytes * 2;
        while (cap_bytes < wanted) cap_bytes *= 2;
        char *grown = heap_resize(call->heap, call->body, call->body_cap_bytes, cap_bytes);
        if (grown == NULL) {
            fault_set(&call->fault, FAULT_MEMORY, "no memory for an answer");
            return fail(call, WATCH_END_MEMORY);
        }
        call->body = grown;
        call->body_cap_bytes = cap_bytes;
    }
    if (bytes.len > 0) memcpy(call->body + call->body_len, bytes.ptr, bytes.len);
    call->body_len += bytes.len;
    return true;
}

static size_t on_bytes(char *ptr, size_t size, size_t count, void *context) {
    struct kube_call *call = context;
    struct text bytes = {ptr, size * count};
    call->heard_ms = feed_now_ms();
    if (call->http_code == 0) libcurl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &call->http_code);
    bool fine =
        call->http_code == 200 && call->is_stream ? call->take(call->context, bytes) : keep_body(call, bytes);
    return fine ? bytes.len : 0;
}

static size_t on_header(char *ptr, size_t size, size_t count, void *context) {
    struct kube_call *call = context;
    (void)ptr;
    call->heard_ms = feed_now_ms();
    return size * count;
}

// A peer that vanished without a word ends the connection, however idle the watch is.
static int on_socket(void *context, curl_socket_t fd, curlsocktype purpose) {
    (void)context;
    (void)purpose;
    const int on = 1, idle_s = KUBE_KEEPALIVE_S, step_s = KUBE_KEEPALIVE_STEP_S;
    const int timeout_ms = KUBE_USER_TIMEOUT_MS;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &step_s, sizeof step_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    return CURL_SOCKOPT_OK;
}

bool kube_call_init(struct kube_call *call, struct heap *heap, struct fault *fault) {
    *call = (struct kube_call){.heap = heap};
    if (!curl_library_load(fault)) return false;
    call->easy = libcurl.easy_init();
    return call->easy != NULL || fault_set(fault, FAULT_MEMORY, "no memory for a connection");
}

static void drop_lists(struct kube_call *call) {
    // The header holds the token.
    for (struct curl_slist *item = call->headers; item != NULL; item = item->next)
        OPENSSL_cleanse(item->data, strlen(item->data));
    // Without libcurl there are none.
    if (call->headers != NULL) libcurl.slist_free_all(call->headers);
    if (call->connect_to != NULL) libcurl.slist_free_all(call->connect_to);
    call->headers = NULL;
    call->connect_to = NULL;
}

void kube_call_clear(struct kube_call *call) {
    heap_free(call->heap, call->body, call->body_cap_bytes);
    call->body = NULL;
    call->body_len = 0;
    call->body_cap_bytes = 0;
    drop_lists(call);
}

void kube_call_release(struct kube_call *call) {
    if (call->easy != NULL) libcurl.easy_cleanup(call->easy);
    call->easy = NULL;
    kube_call_clear(call);
}

static bool add_header(struct kube_call *call, const char *header) {
    struct curl_slist *longer = libcurl.slist_append(call->headers, header);
    if (longer == NULL) return false;
    call->headers = longer;
    return true;
}

static bool set_headers(struct kube_call *call, const struct kubeconfig *config) {
    if (!add_header(call, "Accept: application/json")) return false;
    if (config->token == NULL) return true;
    size_t room = strlen(config->token) + sizeof "Authorization: Bearer ";
    char *header = heap_alloc(call->heap, room);
    if (header == NULL) return false;
    snprintf(header, room, "Authorization: Bearer %s", config->token);
    bool fine = add_header(call, header);
    OPENSSL_cleanse(header, room);
    heap_free(call->heap, header, room);
    return fine;
}

static void set_blob(CURL *easy, CURLoption option, const struct kube_blob *blob) {
    // Not copied: the configuration outlives the handle.
    struct curl_blob view = {.data = blob->ptr, .len = blob->len, .flags = CURL_BLOB_NOCOPY};
    libcurl.easy_setopt(easy, option, &view);
}

static void set_tls(CURL *easy, const struct kubeconfig *config) {
    libcurl.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    libcurl.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    libcurl.easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    libcurl.easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L); // a rotated CA counts at the next connection
    if (config->ca_file != NULL || config->ca_data.ptr != NULL) {
        // That CA and no other.
        libcurl.easy_setopt(easy, CURLOPT_CAPATH, NULL);
        libcurl.easy_setopt(easy, CURLOPT_CAINFO, config->ca_file);
        if (config->ca_data.ptr != NULL) set_blob(easy, CURLOPT_CAINFO_BLOB, &config->ca_data);
    }
    if (config->cert_file != NULL) libcurl.easy_setopt(easy, CURLOPT_SSLCERT, config->cert_file);
    if (config->cert_data.ptr != NULL) set_blob(easy, CURLOPT_SSLCERT_BLOB, &config->cert_data);
    if (config->key_file != NULL) libcurl.easy_setopt(easy, CURLOPT_SSLKEY, config->key_file);
    if (config->key_data.ptr != NULL) set_blob(easy, CURLOPT_SSLKEY_BLOB, &config->key_data);
}

// The URL; with a name of its own for the certificate, the connection still goes to the server's address.
static bool set_url(struct kube_call *call, const struct kubeconfig *config, const char *path) {
    char url[URL_BYTES];
    const char *server = config->server;
    if (config->server_name == NULL) {
        snprintf(url, sizeof url, "%s%s", server, path);
        return libcurl.easy_setopt(call->easy, CURLOPT_URL, url) == CURLE_OK;
    }
    const char *host = strstr(server, "://") + 3;
    size_t host_len = strcspn(host, "/");
    char to[1024];
    const char *port = host;
    for (const char *at = host; at < host + host_len; at++)
        if (*at == ':' || *at == ']') port = at;
    bool has_port = *port == ':';
    int port_len = has_port ? (int)(host + host_len - port - 1) : 3;
    int name_len = has_port ? (int)(port - host) : (int)host_len;
    snprintf(to, sizeof to, "::%.*s:%.*s", name_len, host, port_len, has_port ? port + 1 : "443");
    call->connect_to = libcurl.slist_append(NULL, to);
    snprintf(url, sizeof url, "https://%s:%.*s%s%s", config->server_name, port_len,
             has_port ? port + 1 : "443", host + host_len, path);
    return call->connect_to != NULL &&
           libcurl.easy_setopt(call->easy, CURLOPT_CONNECT_TO, call->connect_to) == CURLE_OK &&
           libcurl.easy_setopt(call->easy, CURLOPT_URL, url) == CURLE_OK;
}

bool kube_call_begin(struct kube_call *call, const struct kubeconfig *config, const char *path,
                     struct fault *fault) {
    CURL *easy = call->easy;
    kube_call_clear(call);
    call->http_code = 0;
    call->stopped = false;
    call->error[0] = '\0';
    call->fault = (struct fault){.code = FAULT_NONE};
    libcurl.easy_reset(easy);
    libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    libcurl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    libcurl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    libcurl.easy_setopt(easy, CURLOPT_PROXY, "");
    libcurl.easy_setopt(easy, CURLOPT_NOPROXY, "*");
    libcurl.easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    libcurl.easy_setopt(easy, CURLOPT_USERAGENT, "drawbridge/" DRAWBRIDGE_VERSION);
    libcurl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)KUBE_CONNECT_MS);
    libcurl.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, call);
    libcurl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    libcurl.easy_setopt(easy, CURLOPT_HEADERDATA, call);
    libcurl.easy_setopt(easy, CURLOPT_PRIVATE, call);
    libcurl.easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
    set_tls(easy, config);
    if (!set_headers(call, config) || !set_url(call, config, path) ||
        libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers) != CURLE_OK)
        return fault_set(fault, FAULT_MEMORY, "no memory for a request");
    call->began_ms = feed_now_ms();
    call->heard_ms = call->began_ms;
    return true;
}

static enum watch_end refusal(struct kube_call *call, int64_t *retry_after_s) {
    struct arena arena;
    struct frame_status status;
    curl_off_t wanted_s = 0;
    arena_init(&arena, STATUS_ARENA_BYTES);
    frame_read_status(&arena, (struct text){call->body, call->body_len}, &status);
    if (libcurl.easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &wanted_s) == CURLE_OK && wanted_s > 0)
        *retry_after_s = wanted_s;
    else
        *retry_after_s = status.retry_after_s;
    fault_set(&call->fault, FAULT_UNREACHABLE, "the API server answers %ld%s%.*s", call->http_code,
              status.message.len > 0 ? ": " : "", TEXT_ARG(text_printable(&arena, status.message, 160)));
    enum watch_end end = listwatch_refusal((int)call->http_code, &status);
    arena_release(&arena);
    return end;
}

enum watch_end kube_call_end(struct kube_call *call, CURLcode result, int64_t *ret_retry_after_s) {
    *ret_retry_after_s = 0;
    if (call->stopped) return call->end;
    if (call->http_code == 0) libcurl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &call->http_code);
    if (call->http_code != 0 && call->http_code != 200) return refusal(call, ret_retry_after_s);
    if (result == CURLE_OK && call->http_code == 200) return WATCH_END_EOF;
    // A stream that breaks off in a chunk is no more than an end.
    if (call->http_code == 200 && call->is_stream && result == CURLE_PARTIAL_FILE) return WATCH_END_CUT;
    fault_set(&call->fault, FAULT_UNREACHABLE, "no connection to the API server after %lld ms: %s",
              (long long)elapsed_ms(call),
              call->error[0] == '\0' ? libcurl.easy_strerror(result) : call->error);
    return WATCH_END_CONNECTION;
}
