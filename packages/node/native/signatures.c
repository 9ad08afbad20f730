/*
 * Verifies packed signatures with libsecp256k1, many in one call (docs/guides/accelerator.md).
 *
 * It is compiled as one unit with the library, because the network's Schnorr signature needs internal functions: no public
 * function returns a point together with the quadratic residue of its y.
 */
#include <node_api.h>
#include <stdlib.h>
#include <string.h>

#include "secp256k1.c"

/* hash | scheme | length of the signature, 0 if it is too long to be valid | signature | public key */
enum {
  HASH_BYTES = 32,
  SCHEME_AT = 32,
  LENGTH_AT = 33,
  SIGNATURE_AT = 34,
  MAX_SIGNATURE_BYTES = 72,
  KEY_AT = SIGNATURE_AT + MAX_SIGNATURE_BYTES,
  KEY_BYTES = 33,
  ENTRY_BYTES = KEY_AT + KEY_BYTES
};
enum { SCHEME_SCHNORR = 1, SCHNORR_BYTES = 64 };

/* Delegates and senders recur: a parsed key stays cached until another key needs its slot. */
enum { KEY_PLACES = 4096 };
typedef struct {
  unsigned char compressed[KEY_BYTES];
  unsigned char is_point;
  secp256k1_ge point;
} known_key;

/* Tables of the library, shared by all threads: created once, when the addon is loaded. */
static secp256k1_context *context;
__attribute__((constructor)) static void create_context(void) {
  context = secp256k1_context_create(SECP256K1_CONTEXT_VERIFY);
}

/* Returns NULL if the bytes are not a point of the curve. */
static const secp256k1_ge *point_of(known_key *keys, const unsigned char *compressed) {
  /* Keys that share a slot are parsed again: collisions cost time but do not affect the result. */
  unsigned place = (compressed[KEY_BYTES - 1] | compressed[KEY_BYTES - 2] << 8) % KEY_PLACES;
  known_key *key = &keys[place];
  if (memcmp(key->compressed, compressed, KEY_BYTES) != 0) {
    memcpy(key->compressed, compressed, KEY_BYTES);
    key->is_point = (compressed[0] == 2 || compressed[0] == 3) &&
                    secp256k1_eckey_pubkey_parse(&key->point, compressed, KEY_BYTES);
  }
  return key->is_point ? &key->point : NULL;
}

/* A positive integer of strict DER in minimal form (identities.md 6). Returns the byte after it, or NULL. */
static const unsigned char *read_integer(secp256k1_scalar *value, const unsigned char *at,
                                         const unsigned char *end) {
  unsigned char bytes[32] = {0};
  size_t length;
  int overflow = 0;
  if (end - at < 3 || at[0] != 0x02) return NULL;
  length = at[1];
  at += 2;
  if (length == 0 || length > 33 || (size_t)(end - at) < length || at[0] > 0x7f) return NULL;
  if (at[0] == 0) {
    if (length < 2 || at[1] <= 0x7f) return NULL;
    at++;
    length--;
  } else if (length > 32) {
    return NULL;
  }
  memcpy(bytes + 32 - length, at, length);
  secp256k1_scalar_set_b32(value, bytes, &overflow);
  return overflow ? NULL : at + length;
}

/* Strict DER and low s (identities.md 6); zero is refused by the library. */
static int verify_ecdsa(const unsigned char *hash, const unsigned char *signature, size_t length,
                        const secp256k1_ge *key) {
  secp256k1_scalar r, s, message;
  const unsigned char *end = signature + length;
  const unsigned char *at;
  if (length < 8 || signature[0] != 0x30 || signature[1] != length - 2) return 0;
  at = read_integer(&r, signature + 2, end);
  if (at == NULL || read_integer(&s, at, end) != end || secp256k1_scalar_is_high(&s)) return 0;
  secp256k1_scalar_set_b32(&message, hash, NULL);
  return secp256k1_ecdsa_sig_verify(&context->ecmult_ctx, &r, &s, key, &message);
}

/* The steps of identities.md 7. */
static int verify_schnorr(const unsigned char *hash, const unsigned char *signature,
                          const unsigned char *compressed, const secp256k1_ge *key) {
  secp256k1_sha256 sha;
  unsigned char digest[32];
  secp256k1_fe rx;
  secp256k1_scalar s, e;
  secp256k1_gej point, result;
  int overflow = 0;
  /* r < p and s < n */
  if (!secp256k1_fe_set_b32(&rx, signature)) return 0;
  secp256k1_scalar_set_b32(&s, signature + 32, &overflow);
  if (overflow) return 0;
  /* e = int(H(rx || P || m)) mod n */
  secp256k1_sha256_initialize(&sha);
  secp256k1_sha256_write(&sha, signature, 32);
  secp256k1_sha256_write(&sha, compressed, KEY_BYTES);
  secp256k1_sha256_write(&sha, hash, HASH_BYTES);
  secp256k1_sha256_finalize(&sha, digest);
  secp256k1_scalar_set_b32(&e, digest, NULL);
  secp256k1_scalar_negate(&e, &e);
  /* R = s*G - e*P is not infinity, has the x of the signature, and a y that is a square */
  secp256k1_gej_set_ge(&point, key);
  secp256k1_ecmult(&context->ecmult_ctx, &result, &point, &e, &s);
  return !secp256k1_gej_is_infinity(&result) && secp256k1_gej_eq_x_var(&rx, &result) &&
         secp256k1_gej_has_quad_y_var(&result);
}

static unsigned char verify_entry(known_key *keys, const unsigned char *entry) {
  const unsigned char *signature = entry + SIGNATURE_AT;
  size_t length = entry[LENGTH_AT];
  const secp256k1_ge *key = point_of(keys, entry + KEY_AT);
  if (key == NULL || length > MAX_SIGNATURE_BYTES) return 0;
  if (entry[SCHEME_AT] != SCHEME_SCHNORR) return verify_ecdsa(entry, signature, length, key);
  return length == SCHNORR_BYTES && verify_schnorr(entry, signature, entry + KEY_AT, key);
}

/* verify(packed: Uint8Array, verdicts: Uint8Array): one byte for each entry, 1 if it is valid. */
static napi_value verify(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  size_t count = 2, packed_bytes, verdict_bytes, index;
  napi_typedarray_type packed_type, verdict_type;
  unsigned char *packed, *verdicts;
  void *keys;
  napi_get_instance_data(env, &keys);
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 2 ||
      napi_get_typedarray_info(env, arguments[0], &packed_type, &packed_bytes, (void **)&packed, NULL, NULL) !=
          napi_ok ||
      napi_get_typedarray_info(env, arguments[1], &verdict_type, &verdict_bytes, (void **)&verdicts, NULL,
                               NULL) != napi_ok ||
      packed_type != napi_uint8_array || verdict_type != napi_uint8_array ||
      packed_bytes != verdict_bytes * ENTRY_BYTES) {
    napi_throw_type_error(env, NULL, "two byte arrays are needed: packed signatures, and a byte for each");
    return NULL;
  }
  for (index = 0; index < verdict_bytes; index++)
    verdicts[index] = verify_entry(keys, packed + index * ENTRY_BYTES);
  return NULL;
}

static void free_keys(napi_env env, void *keys, void *hint) {
  (void)env;
  (void)hint;
  free(keys);
}

NAPI_MODULE_INIT() {
  known_key *keys = calloc(KEY_PLACES, sizeof(known_key));
  napi_value function;
  if (keys == NULL || context == NULL || napi_set_instance_data(env, keys, free_keys, NULL) != napi_ok ||
      napi_create_function(env, "verify", NAPI_AUTO_LENGTH, verify, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "verify", function) != napi_ok) {
    napi_throw_error(env, NULL, "the curve has no memory");
    return NULL;
  }
  return exports;
}
