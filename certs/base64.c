// SPDX-License-Identifier: Apache-2.0
// OpenSSL's block coder skips blanks and counts the padding, so alphabet and length are looked at here.
#include "certs/base64.h"

#include <limits.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

void secret_bytes_release(struct secret_bytes *bytes) {
    if (bytes == NULL) return;
    if (bytes->ptr != NULL) OPENSSL_cleanse(bytes->ptr, bytes->len);
    free(bytes->ptr);
    *bytes = (struct secret_bytes){0};
}

static bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

// How many bytes of padding end the text; 3 when it is no base64.
static size_t padding_of(struct text text) {
    size_t padding = 0;
    if (text.len % 4 != 0) return 3;
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=') padding++;
    for (size_t i = 0; i < text.len - padding; i++)
        if (!is_letter(text.ptr[i])) return 3;
    return padding;
}

bool base64_decode(struct text text, size_t limit_bytes, struct secret_bytes *ret_bytes,
                   struct fault *fault) {
    if (text.len / 4 * 3 > limit_bytes + 2 || text.len > INT_MAX)
        return fault_set(fault, FAULT_LIMIT, "about %zu bytes; at most %zu are read", text.len / 4 * 3,
                         limit_bytes);
    size_t padding = padding_of(text);
    if (padding > 2) return fault_set(fault, FAULT_INPUT, "no base64");
    char *bytes = malloc(text.len / 4 * 3 + 1);
    if (bytes == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    int len = text.len == 0
                  ? 0
                  : EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)text.ptr, (int)text.len);
    if (len < 0) {
        free(bytes);
        return fault_set(fault, FAULT_INPUT, "no base64");
    }
    struct secret_bytes decoded = {bytes, (size_t)len - padding};
    bytes[decoded.len] = '\0';
    *ret_bytes = decoded;
    return true;
}

bool base64_encode(struct text bytes, struct secret_bytes *ret_text, struct fault *fault) {
    if (bytes.len > INT_MAX / 2) return fault_set(fault, FAULT_LIMIT, "more bytes than can be encoded");
    size_t len = (bytes.len + 2) / 3 * 4;
    char *text = malloc(len + 1);
    if (text == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)(bytes.len == 0 ? "" : bytes.ptr),
                    (int)bytes.len);
    *ret_text = (struct secret_bytes){text, len};
    return true;
}
