// SPDX-License-Identifier: Apache-2.0
// Making keys and naming them.
#include "certs/key.h"

#include <string.h>

#include <openssl/ec.h>
#include <openssl/objects.h>
#include <openssl/rsa.h>

#include "certs/pem.h"

static const char *const algorithm_names[KEY_ALGORITHMS] = {"ecdsa-p256", "ecdsa-p384", "rsa-2048",
                                                            "rsa-3072", "ed25519"};

const char *key_algorithm_name(enum key_algorithm algorithm) {
    return algorithm < KEY_ALGORITHMS ? algorithm_names[algorithm] : "unknown";
}

bool key_algorithm_find(const char *name, enum key_algorithm *ret_algorithm) {
    for (unsigned i = 0; i < KEY_ALGORITHMS; i++)
        if (strcmp(algorithm_names[i], name) == 0) {
            *ret_algorithm = (enum key_algorithm)i;
            return true;
        }
    return false;
}

bool key_new(enum key_algorithm algorithm, EVP_PKEY **ret_key, struct fault *fault) {
    EVP_PKEY *key = NULL;
    switch (algorithm) {
    case KEY_ECDSA_P256: key = EVP_EC_gen("P-256"); break;
    case KEY_ECDSA_P384: key = EVP_EC_gen("P-384"); break;
    case KEY_RSA_2048: key = EVP_RSA_gen(2048); break;
    case KEY_RSA_3072: key = EVP_RSA_gen(3072); break;
    case KEY_ED25519: key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); break;
    case KEY_ALGORITHMS: return fault_set(fault, FAULT_USAGE, "no such kind of key");
    }
    if (key == NULL) return openssl_fault(fault, FAULT_STATE, "a key could not be made");
    *ret_key = key;
    return true;
}

static int curve_of(const EVP_PKEY *key) {
    char group[64];
    size_t len;
    if (EVP_PKEY_get_group_name(key, group, sizeof group, &len) != 1) return NID_undef;
    int curve = OBJ_sn2nid(group);
    return curve == NID_undef ? EC_curve_nist2nid(group) : curve;
}

const EVP_MD *key_digest(const EVP_PKEY *key) {
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_ED25519: return NULL;
    case EVP_PKEY_EC:
        if (curve_of(key) == NID_secp384r1) return EVP_sha384();
        if (curve_of(key) == NID_secp521r1) return EVP_sha512();
        return EVP_sha256();
    default: return EVP_sha256();
    }
}

const char *key_describe(const EVP_PKEY *key, char *buffer, size_t size) {
    int kind = EVP_PKEY_get_base_id(key);
    if (kind == EVP_PKEY_ED25519) {
        snprintf(buffer, size, "Ed25519");
    } else if (kind == EVP_PKEY_EC) {
        int curve = curve_of(key);
        const char *nist = EC_curve_nid2nist(curve);
        snprintf(buffer, size, "ECDSA %s",
                 nist != NULL         ? nist
                 : curve == NID_undef ? "?"
                                      : OBJ_nid2sn(curve));
    } else {
        const char *name = EVP_PKEY_get0_type_name(key);
        snprintf(buffer, size, "%s %d", name == NULL ? "unknown" : name, EVP_PKEY_get_bits(key));
    }
    return buffer;
}

bool key_is_servable(const EVP_PKEY *key, struct fault *fault) {
    int bits = EVP_PKEY_get_bits(key);
    int curve;
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_ED25519: return true;
    case EVP_PKEY_RSA:
        if (bits >= 2048 && bits <= 8192) return true;
        break;
    case EVP_PKEY_EC:
        curve = curve_of(key);
        if (curve == NID_X9_62_prime256v1 || curve == NID_secp384r1 || curve == NID_secp521r1) return true;
        break;
    default: break;
    }
    char name[80];
    return fault_set(
        fault, FAULT_INPUT,
        "%s keys cannot be served; use ECDSA P-256, P-384 or P-521, RSA 2048 to 8192, or Ed25519",
        key_describe(key, name, sizeof name));
}
