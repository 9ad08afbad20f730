/*
 * Compares the verdicts of tables with those of the library, on valid and altered signatures of recurring keys:
 *   sh packages/node/native/compare.sh FOLDER_OF_LIBSECP256K1 [CASES] [SEED]
 *
 * The expected verdict uses nothing of verify.h: public functions of the library for ECDSA, the definition for Schnorr.
 *
 * Scalars of the sums are random, or next to 0, n/2 and n; keys are random, or small multiples of the base point and their negatives, so
 * that entries of both tables are equal or opposite. Prints the number of cases of each kind, and ends with 1 at the first difference.
 * At the end it damages the tables: the comparison of every thousandth verdict must notice it.
 */
#include <stdio.h>

#include "verify.h"

enum { KEYS = 40, SMALL_KEYS = 16, FIRST_OF_ONE_SET = 33, MAX_CALL = 130 };

static uint64_t random_state;
static uint32_t draw(uint32_t limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 32) % limit;
}

static void draw_scalar(secp256k1_scalar *scalar) {
  static const unsigned char half[32] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4,
                                         0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0};
  unsigned char bytes[32];
  secp256k1_scalar near;
  int at, kind = draw(8);
  for (at = 0; at < 32; at++) bytes[at] = (unsigned char)draw(256);
  secp256k1_scalar_set_int(&near, draw(4));
  if (kind == 0) memset(bytes, 0, 32);
  if (kind == 1) memcpy(bytes, half, 32);
  /* A power of two: one digit of a window. */
  if (kind == 2) {
    memset(bytes, 0, 32);
    at = (int)draw(255);
    bytes[31 - at / 8] = (unsigned char)(1 << at % 8);
  }
  secp256k1_scalar_set_b32(scalar, bytes, NULL);
  if (kind > 2) return;
  if (draw(2)) secp256k1_scalar_negate(&near, &near);
  secp256k1_scalar_add(scalar, scalar, &near);
  if (draw(4) == 0) secp256k1_scalar_negate(scalar, scalar);
}

static secp256k1_scalar secrets[KEYS];
static secp256k1_ge points[KEYS];
static unsigned char compressed[KEYS][KEY_BYTES];

static void multiply(secp256k1_ge *product, const secp256k1_ge *point, const secp256k1_scalar *of_point,
                     const secp256k1_scalar *of_base) {
  secp256k1_gej start, sum;
  secp256k1_gej_set_ge(&start, point);
  secp256k1_ecmult(&context->ecmult_ctx, &sum, &start, of_point, of_base);
  secp256k1_ge_set_gej_var(product, &sum);
}

static int set_of(int key) { return (compressed[key][KEY_BYTES - 1] | compressed[key][KEY_BYTES - 2] << 8) % KEY_SETS; }

static void make_keys(void) {
  secp256k1_scalar zero, step;
  size_t length;
  int key;
  secp256k1_scalar_set_int(&zero, 0);
  for (key = 0; key < KEYS; key++) {
    step = zero;
    do draw_scalar(&secrets[key]);
    while (secp256k1_scalar_is_zero(&secrets[key]));
    if (key < SMALL_KEYS) secp256k1_scalar_set_int(&secrets[key], 1 + key / 2);
    if (key < SMALL_KEYS && key % 2) secp256k1_scalar_negate(&secrets[key], &secrets[key]);
    do {
      secp256k1_scalar_add(&secrets[key], &secrets[key], &step);
      multiply(&points[key], &secp256k1_ge_const_g, &zero, &secrets[key]);
      length = KEY_BYTES;
      secp256k1_eckey_pubkey_serialize(&points[key], compressed[key], &length, 1);
      secp256k1_scalar_set_int(&step, 1);
      /* The last keys share one set of the cache, which has no place for all of them. */
    } while (key > FIRST_OF_ONE_SET && set_of(key) != set_of(FIRST_OF_ONE_SET));
  }
}

/* Writes the strict DER of two scalars. */
static size_t write_der(unsigned char *der, const secp256k1_scalar *r, const secp256k1_scalar *s) {
  size_t length = MAX_SIGNATURE_BYTES;
  secp256k1_ecdsa_sig_serialize(der, &length, r, s);
  return length;
}

/* A valid ECDSA signature whose sum is u1 * G + u2 * P, for any u1 and u2. */
static void write_ecdsa(unsigned char *entry, int key) {
  secp256k1_scalar u1, u2, r, s, message;
  secp256k1_ge sum;
  unsigned char x[32];
  draw_scalar(&u1);
  do draw_scalar(&u2);
  while (secp256k1_scalar_is_zero(&u2));
  multiply(&sum, &points[key], &u2, &u1);
  if (secp256k1_ge_is_infinity(&sum)) {
    draw_scalar(&r);
  } else {
    secp256k1_fe_normalize_var(&sum.x);
    secp256k1_fe_get_b32(x, &sum.x);
    secp256k1_scalar_set_b32(&r, x, NULL);
  }
  secp256k1_scalar_inverse_var(&s, &u2);
  secp256k1_scalar_mul(&s, &s, &r);
  secp256k1_scalar_mul(&message, &u1, &s);
  /* With -s, the sum is the negative of that point, which has the same x. */
  if (secp256k1_scalar_is_high(&s)) secp256k1_scalar_negate(&s, &s);
  if (draw(8) == 0) secp256k1_scalar_negate(&message, &message);
  secp256k1_scalar_get_b32(entry, &message);
  entry[LENGTH_AT] = (unsigned char)write_der(entry + SIGNATURE_AT, &r, &s);
}

/* e = int(H(rx || P || m)) mod n (identities.md 7). */
static void read_challenge(secp256k1_scalar *e, const unsigned char *entry) {
  secp256k1_sha256 sha;
  unsigned char digest[32];
  secp256k1_sha256_initialize(&sha);
  secp256k1_sha256_write(&sha, entry + SIGNATURE_AT, 32);
  secp256k1_sha256_write(&sha, entry + KEY_AT, KEY_BYTES);
  secp256k1_sha256_write(&sha, entry, 32);
  secp256k1_sha256_finalize(&sha, digest);
  secp256k1_scalar_set_b32(e, digest, NULL);
}

/* A valid Schnorr signature: R = k * G with a y that is a square, s = k + e * secret. */
static void write_schnorr(unsigned char *entry, int key) {
  secp256k1_scalar zero, k, s, e;
  secp256k1_ge nonce;
  int at;
  for (at = 0; at < HASH_BYTES; at++) entry[at] = (unsigned char)draw(256);
  secp256k1_scalar_set_int(&zero, 0);
  do draw_scalar(&k);
  while (secp256k1_scalar_is_zero(&k));
  multiply(&nonce, &secp256k1_ge_const_g, &zero, &k);
  if (!secp256k1_fe_is_quad_var(&nonce.y)) secp256k1_scalar_negate(&k, &k);
  secp256k1_fe_normalize_var(&nonce.x);
  secp256k1_fe_get_b32(entry + SIGNATURE_AT, &nonce.x);
  memset(entry + SIGNATURE_AT + 32, 0, 32);
  entry[LENGTH_AT] = SCHNORR_BYTES;
  read_challenge(&e, entry);
  secp256k1_scalar_mul(&s, &e, &secrets[key]);
  secp256k1_scalar_add(&s, &s, &k);
  if (draw(8) == 0) draw_scalar(&s);
  secp256k1_scalar_get_b32(entry + SIGNATURE_AT + 32, &s);
}

static void write_entry(unsigned char *entry) {
  int key = (int)draw(KEYS);
  memset(entry, 0, ENTRY_BYTES);
  memcpy(entry + KEY_AT, compressed[key], KEY_BYTES);
  entry[SCHEME_AT] = (unsigned char)draw(2);
  if (entry[SCHEME_AT] == 1) write_schnorr(entry, key);
  else write_ecdsa(entry, key);
  if (draw(6) == 0) entry[draw(ENTRY_BYTES)] ^= (unsigned char)(1 << draw(8));
  /* The beginning of a signature in DER: tags and lengths. */
  if (draw(12) == 0) entry[LENGTH_AT + draw(6)] = (unsigned char)draw(256);
}

static int is_valid_ecdsa(const unsigned char *entry) {
  secp256k1_pubkey key;
  secp256k1_ecdsa_signature signature;
  return entry[LENGTH_AT] <= MAX_SIGNATURE_BYTES && secp256k1_ec_pubkey_parse(context, &key, entry + KEY_AT, KEY_BYTES) &&
         secp256k1_ecdsa_signature_parse_der(context, &signature, entry + SIGNATURE_AT, entry[LENGTH_AT]) &&
         secp256k1_ecdsa_verify(context, &signature, entry, &key);
}

/* R = s * G - e * P has the x of the signature, and a y that is a square. */
static int is_valid_schnorr(const unsigned char *entry) {
  secp256k1_scalar s, e;
  secp256k1_fe x;
  secp256k1_ge key, nonce;
  int overflow;
  if (entry[LENGTH_AT] != 64 || !secp256k1_fe_set_b32(&x, entry + SIGNATURE_AT)) return 0;
  if (!secp256k1_eckey_pubkey_parse(&key, entry + KEY_AT, KEY_BYTES)) return 0;
  secp256k1_scalar_set_b32(&s, entry + SIGNATURE_AT + 32, &overflow);
  if (overflow) return 0;
  read_challenge(&e, entry);
  secp256k1_scalar_negate(&e, &e);
  multiply(&nonce, &key, &e, &s);
  return !secp256k1_ge_is_infinity(&nonce) && secp256k1_fe_equal_var(&nonce.x, &x) && secp256k1_fe_is_quad_var(&nonce.y);
}

static int expected_verdict(const unsigned char *entry) {
  return entry[SCHEME_AT] == 1 ? is_valid_schnorr(entry) : is_valid_ecdsa(entry);
}

/* Returns 0 if verdicts of damaged tables are never compared. */
static int notices_damage(thread_state *state) {
  unsigned char packed[BATCH * ENTRY_BYTES], verdicts[BATCH];
  int slot, call, index;
  for (slot = 0; slot < tables.wide.count; slot++)
    for (index = 0; index < half_of(WIDE); index++) entry_of(&tables.wide.slots[slot].table, 0, index + 1)->x.n[0] ^= 2;
  for (call = 0; call < 2000; call++) {
    for (index = 0; index < BATCH; index++) write_entry(packed + index * ENTRY_BYTES);
    if (!verify_packed(state, packed, verdicts, BATCH)) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, done = 0, counts[2][2] = {{0}}, unusual = 0;
  unsigned char packed[MAX_CALL * ENTRY_BYTES], verdicts[MAX_CALL];
  thread_state *with_tables = calloc(1, sizeof(thread_state));
  random_state = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * 0x9e3779b97f4a7c15u;
  if (with_tables == NULL) return 1;
  make_keys();
  while (done < cases) {
    int count = 1 + (int)draw(MAX_CALL), index;
    for (index = 0; index < count; index++) write_entry(packed + index * ENTRY_BYTES);
    if (!verify_packed(with_tables, packed, verdicts, (size_t)count)) return 1;
    for (index = 0; index < with_tables->sums.count; index++) unusual += sum_of(&with_tables->sums, index) == NULL;
    for (index = 0; index < count; index++) {
      const unsigned char *entry = packed + index * ENTRY_BYTES;
      int expected = expected_verdict(entry), at;
      counts[entry[SCHEME_AT] == 1][expected]++;
      if (verdicts[index] == expected) continue;
      printf("case %llu: the library says %d\n", (unsigned long long)(done + index), expected);
      for (at = 0; at < ENTRY_BYTES; at++) printf("%02x", entry[at]);
      printf("\n");
      return 1;
    }
    done += (uint64_t)count;
  }
  printf("%llu cases without a difference: ECDSA %llu valid, %llu invalid; Schnorr %llu valid, %llu invalid; %llu unusual sums\n",
         (unsigned long long)done, (unsigned long long)counts[0][1], (unsigned long long)counts[0][0],
         (unsigned long long)counts[1][1], (unsigned long long)counts[1][0], (unsigned long long)unusual);
  const int is_noticed = notices_damage(with_tables);
  if (!is_noticed) printf("damaged tables were not noticed\n");
  free(with_tables);
  return !is_noticed;
}
