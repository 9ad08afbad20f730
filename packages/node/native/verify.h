/*
 * Verifies packed signatures with libsecp256k1, many in one call: by tables of keys where the key recurs, otherwise as the library does.
 *
 * It is compiled as one unit with the library: the network's Schnorr signature and the tables need internal functions.
 */
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

#include "key-tables.h"
#include "sums.h"

/* Delegates and senders recur: a parsed key stays cached until four others of its set were used after it. */
enum { KEY_SETS = 1024, KEY_WAYS = 4 };
typedef struct {
  unsigned char compressed[KEY_BYTES];
  unsigned char is_point;
  secp256k1_ge point;
  /* Signatures of the key since it is here, and their number at which a table is built. */
  uint32_t uses, build_at;
  /* Number of signatures of the thread when it was used last. */
  uint64_t used_at;
  table_hint hint;
} known_key;

/* Fewer signatures of a call do not wait for a table to be built: the consensus thread verifies them. */
enum { MIN_BUILDING = 32 };

/* One of so many verdicts of tables is compared with that of the library. */
enum { COMPARED_EVERY = 1000 };

/* State of a thread. */
typedef struct {
  known_key keys[KEY_SETS][KEY_WAYS];
  uint64_t signatures, sum_verdicts;
  sum_batch sums;
} thread_state;

/* Tables of the library, shared by all threads: created once, when the addon is loaded. */
static secp256k1_context *context;
__attribute__((constructor)) static void create_context(void) {
  context = secp256k1_context_create(SECP256K1_CONTEXT_VERIFY);
}

/* Returns the key from the cache, or parses it. */
static known_key *key_of(thread_state *state, const unsigned char *compressed) {
  known_key *set = state->keys[(compressed[KEY_BYTES - 1] | compressed[KEY_BYTES - 2] << 8) % KEY_SETS];
  known_key *key = &set[0];
  int way;
  for (way = 0; way < KEY_WAYS; way++) {
    if (memcmp(set[way].compressed, compressed, KEY_BYTES) == 0) {
      key = &set[way];
      break;
    }
    if (set[way].used_at < key->used_at) key = &set[way];
  }
  if (way == KEY_WAYS) {
    memcpy(key->compressed, compressed, KEY_BYTES);
    key->is_point = (compressed[0] == 2 || compressed[0] == 3) &&
                    secp256k1_eckey_pubkey_parse(&key->point, compressed, KEY_BYTES);
    key->uses = 0;
    key->build_at = NARROW_AFTER;
  }
  key->uses++;
  key->used_at = ++state->signatures;
  return key;
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

/* A well-formed signature. It is valid if the sum of u1 * G and u2 * P is the point that it names. */
typedef struct {
  unsigned char *verdict;
  const unsigned char *compressed;
  known_key *key;
  /* Another key of the same batch may take the place of `key`. */
  secp256k1_ge point;
  int is_schnorr;
  /* ECDSA: u1 = message / s, u2 = r / s. */
  secp256k1_scalar r, s, message;
  /* Schnorr: u1 = s, u2 = -e. */
  secp256k1_scalar minus_e;
  /* Schnorr: the x of the point. */
  secp256k1_fe x;
} signature_check;

/* Strict DER and low s (identities.md 6). */
static int read_ecdsa(signature_check *check, const unsigned char *entry) {
  size_t length = entry[LENGTH_AT];
  const unsigned char *signature = entry + SIGNATURE_AT, *end = signature + length, *at;
  if (length < 8 || signature[0] != 0x30 || signature[1] != length - 2) return 0;
  at = read_integer(&check->r, signature + 2, end);
  if (at == NULL || read_integer(&check->s, at, end) != end || secp256k1_scalar_is_high(&check->s)) return 0;
  secp256k1_scalar_set_b32(&check->message, entry, NULL);
  return !secp256k1_scalar_is_zero(&check->r) && !secp256k1_scalar_is_zero(&check->s);
}

/* identities.md 7: r < p, s < n, and e = int(H(rx || P || m)) mod n. */
static int read_schnorr(signature_check *check, const unsigned char *entry) {
  const unsigned char *signature = entry + SIGNATURE_AT;
  secp256k1_sha256 sha;
  unsigned char digest[32];
  int overflow = 0;
  if (entry[LENGTH_AT] != SCHNORR_BYTES || !secp256k1_fe_set_b32(&check->x, signature)) return 0;
  secp256k1_scalar_set_b32(&check->s, signature + 32, &overflow);
  if (overflow) return 0;
  secp256k1_sha256_initialize(&sha);
  secp256k1_sha256_write(&sha, signature, 32);
  secp256k1_sha256_write(&sha, entry + KEY_AT, KEY_BYTES);
  secp256k1_sha256_write(&sha, entry, HASH_BYTES);
  secp256k1_sha256_finalize(&sha, digest);
  secp256k1_scalar_set_b32(&check->minus_e, digest, NULL);
  secp256k1_scalar_negate(&check->minus_e, &check->minus_e);
  return 1;
}

/* Returns 0 if the signature is invalid, whatever its sum is. */
static int read_check(signature_check *check, thread_state *state, const unsigned char *entry) {
  check->compressed = entry + KEY_AT;
  check->key = key_of(state, check->compressed);
  check->point = check->key->point;
  check->is_schnorr = entry[SCHEME_AT] == SCHEME_SCHNORR;
  if (!check->key->is_point || entry[LENGTH_AT] > MAX_SIGNATURE_BYTES) return 0;
  return check->is_schnorr ? read_schnorr(check, entry) : read_ecdsa(check, entry);
}

/* Verifies with the library, as if the key were new. */
static int verify_alone(const signature_check *check) {
  secp256k1_gej point, sum;
  if (!check->is_schnorr)
    return secp256k1_ecdsa_sig_verify(&context->ecmult_ctx, &check->r, &check->s, &check->point,
                                      &check->message);
  secp256k1_gej_set_ge(&point, &check->point);
  secp256k1_ecmult(&context->ecmult_ctx, &sum, &point, &check->minus_e, &check->s);
  return !secp256k1_gej_is_infinity(&sum) && secp256k1_gej_eq_x_var(&check->x, &sum) &&
         secp256k1_gej_has_quad_y_var(&sum);
}

/* ECDSA: x = r, or x = r + n if that is below p. Schnorr: the x of the signature, and a y that is a square. */
static int is_valid_sum(const signature_check *check, const affine_point *sum) {
  secp256k1_fe x;
  unsigned char bytes[32];
  if (check->is_schnorr)
    return secp256k1_fe_equal_var(&check->x, &sum->x) && secp256k1_fe_is_quad_var(&sum->y);
  secp256k1_scalar_get_b32(bytes, &check->r);
  secp256k1_fe_set_b32(&x, bytes);
  if (secp256k1_fe_equal_var(&x, &sum->x)) return 1;
  if (secp256k1_fe_cmp_var(&x, &secp256k1_ecdsa_const_p_minus_order) >= 0) return 0;
  secp256k1_fe_add(&x, &secp256k1_ecdsa_const_order_as_fe);
  secp256k1_fe_normalize_weak(&x);
  return secp256k1_fe_equal_var(&x, &sum->x);
}

/* Adds the products of all checks to their sums. One inversion serves all s of ECDSA. */
static void add_products(sum_batch *sums, signature_check *const *checks, const key_table *const *of_keys) {
  secp256k1_scalar products[BATCH], rest, inverse, u1, u2;
  int ecdsa[BATCH], count = 0, index, at;
  for (index = 0; index < sums->count; index++) {
    const signature_check *check = checks[index];
    if (check->is_schnorr) {
      add_product(sums, index, &tables.base, &check->s);
      add_product(sums, index, of_keys[index], &check->minus_e);
      continue;
    }
    if (count == 0) products[0] = check->s;
    else secp256k1_scalar_mul(&products[count], &products[count - 1], &check->s);
    ecdsa[count++] = index;
  }
  if (count == 0) return;
  secp256k1_scalar_inverse_var(&rest, &products[count - 1]);
  /* From the last s to the first one: `rest` is the inverse of the product up to it. */
  for (at = count - 1; at >= 0; at--) {
    const signature_check *check = checks[ecdsa[at]];
    inverse = rest;
    if (at > 0) {
      secp256k1_scalar_mul(&inverse, &rest, &products[at - 1]);
      secp256k1_scalar_mul(&rest, &rest, &check->s);
    }
    secp256k1_scalar_mul(&u1, &inverse, &check->message);
    secp256k1_scalar_mul(&u2, &inverse, &check->r);
    add_product(sums, ecdsa[at], &tables.base, &u1);
    add_product(sums, ecdsa[at], of_keys[ecdsa[at]], &u2);
  }
}

/*
 * Writes the verdicts: by sums if two or more keys have tables, alone for the others and for unusual sums. Returns 0 if a compared verdict
 * differs.
 */
static int verify_checks(thread_state *state, signature_check *checks, int count) {
  sum_batch *sums = &state->sums;
  signature_check *summed[BATCH], *alone[BATCH];
  const key_table *of_keys[BATCH];
  int is_reading = begin_reading(), is_same = 1, alone_count = 0, index;
  __atomic_add_fetch(&tables.signatures, count, __ATOMIC_RELAXED);
  begin_sums(sums);
  for (index = 0; index < count; index++) {
    known_key *key = checks[index].key;
    /* Another thread may have built it: it is searched from time to time. */
    const int is_searched = key->uses % NARROW_AFTER == 0;
    const key_table *table =
        is_reading ? find_table(&key->hint, checks[index].compressed, is_searched) : NULL;
    if (table == NULL) {
      alone[alone_count++] = &checks[index];
    } else {
      of_keys[sums->count] = table;
      summed[sums->count++] = &checks[index];
    }
  }
  /* The inversions of one signature cost more than its table saves. */
  if (sums->count == 1) {
    alone[alone_count++] = summed[0];
    sums->count = 0;
  }
  add_products(sums, summed, of_keys);
  if (is_reading) end_reading();
  sum_all(sums);
  for (index = 0; index < sums->count; index++) {
    const affine_point *sum = sum_of(sums, index);
    signature_check *check = summed[index];
    if (sum == NULL) {
      alone[alone_count++] = check;
      continue;
    }
    *check->verdict = is_valid_sum(check, sum);
    if (++state->sum_verdicts % COMPARED_EVERY == 0 && *check->verdict != verify_alone(check)) is_same = 0;
  }
  for (index = 0; index < alone_count; index++) *alone[index]->verdict = verify_alone(alone[index]);
  return is_same;
}

/* Builds the tables that pay by now. */
static void build_tables(const signature_check *checks, int count) {
  int index;
  for (index = 0; index < count; index++) {
    known_key *key = checks[index].key;
    if (key->uses < key->build_at || memcmp(key->compressed, checks[index].compressed, KEY_BYTES) != 0) continue;
    add_table(key->compressed, &key->point, key->uses < WIDE_AFTER ? NARROW : WIDE, &key->hint);
    /* Again later, if all tables are in use now. */
    key->build_at = key->uses < WIDE_AFTER ? WIDE_AFTER : key->uses + WIDE_AFTER;
  }
}

/* Writes a verdict for each entry. Returns 0 if a verdict of a table differs from that of the library. */
static int verify_packed(thread_state *state, const unsigned char *packed, unsigned char *verdicts, size_t count) {
  signature_check checks[BATCH];
  size_t index;
  int ready = 0, is_same = 1;
  for (index = 0; index < count; index++) {
    verdicts[index] = 0;
    checks[ready].verdict = &verdicts[index];
    if (read_check(&checks[ready], state, packed + index * ENTRY_BYTES)) ready++;
    if (ready < BATCH && index + 1 < count) continue;
    is_same &= verify_checks(state, checks, ready);
    if (count >= MIN_BUILDING) build_tables(checks, ready);
    ready = 0;
  }
  return is_same;
}
