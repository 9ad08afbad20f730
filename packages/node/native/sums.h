/*
 * Sums u1 * G + u2 * P for many signatures at once, from the entries of tables.
 *
 * The entries of all signatures of a batch are added in pairs, level by level; the divisions of a level share one inversion. Where these
 * formulas do not hold (two points with the same x, or no entry at all), there is no sum, and the library verifies that signature.
 */
/* Signatures that share their inversions, and the largest number of entries of one: all windows of both tables. */
enum { BATCH = 64, MAX_ENTRIES = 24 + 64 };

/* Largest magnitude of the y of a point, as the library counts it: that of an entry may be negated. */
enum { MAX_Y = 2 };

typedef struct {
  secp256k1_fe x, y;
} affine_point;

/* Signatures whose sums are computed together; one for each thread. */
typedef struct {
  int count;
  int entries[BATCH];
  /* The formulas did not hold. */
  unsigned char is_unusual[BATCH];
  affine_point points[BATCH][MAX_ENTRIES];
  /* Differences of the x of two points, and the products of those up to each. */
  secp256k1_fe differences[BATCH * MAX_ENTRIES / 2], products[BATCH * MAX_ENTRIES / 2];
} sum_batch;

static void begin_sums(sum_batch *batch) {
  batch->count = 0;
  memset(batch->entries, 0, sizeof(batch->entries));
  memset(batch->is_unusual, 0, sizeof(batch->is_unusual));
}

/*
 * Adds the entries of scalar * point, or of its negative, to a sum. A scalar above n/2 is replaced by its negative, so that no digit is
 * left over.
 */
static void add_product(sum_batch *batch, int index, const key_table *table, const secp256k1_scalar *scalar) {
  const int width = table->width, half = half_of(width), is_high = secp256k1_scalar_is_high(scalar);
  const secp256k1_ge_storage *entries[MAX_ENTRIES];
  unsigned char is_negative[MAX_ENTRIES], big_endian[32], bytes[36] = {0};
  secp256k1_scalar small = *scalar;
  int carry = 0, count = 0, window, at;
  if (is_high) secp256k1_scalar_negate(&small, &small);
  secp256k1_scalar_get_b32(big_endian, &small);
  for (at = 0; at < 32; at++) bytes[at] = big_endian[31 - at];
  for (window = 0; window < table->windows; window++) {
    const int bit = window * width, byte = bit >> 3;
    const unsigned word = bytes[byte] | bytes[byte + 1] << 8 | bytes[byte + 2] << 16;
    int digit = (int)(word >> (bit & 7) & ((1u << width) - 1)) + carry;
    carry = digit > half;
    if (carry) digit -= 1 << width;
    if (digit == 0) continue;
    is_negative[count] = (digit < 0) != is_high;
    entries[count] = entry_of(table, window, digit < 0 ? -digit : digit);
    /* The tables are larger than the cache of a processor. */
    __builtin_prefetch(entries[count++]);
  }
  for (at = 0; at < count; at++) {
    affine_point *point = &batch->points[index][batch->entries[index]++];
    secp256k1_ge entry;
    secp256k1_ge_from_storage(&entry, entries[at]);
    point->x = entry.x;
    point->y = entry.y;
    if (is_negative[at]) secp256k1_fe_negate(&point->y, &entry.y, 1);
  }
}

/* Fills in the differences and products of the pairs of a level. Returns the number of pairs. */
static int prepare_level(sum_batch *batch) {
  int pairs = 0, index, at;
  for (index = 0; index < batch->count; index++) {
    affine_point *points = batch->points[index];
    for (at = 0; at + 1 < batch->entries[index]; at += 2) {
      secp256k1_fe *difference = &batch->differences[pairs];
      secp256k1_fe_negate(difference, &points[at].x, 1);
      secp256k1_fe_add(difference, &points[at + 1].x);
      if (secp256k1_fe_normalizes_to_zero_var(difference)) {
        /* Equal or opposite points: any other difference keeps the product invertible. */
        batch->is_unusual[index] = 1;
        secp256k1_fe_set_int(difference, 1);
      }
      if (pairs == 0) batch->products[0] = *difference;
      else secp256k1_fe_mul(&batch->products[pairs], &batch->products[pairs - 1], difference);
      pairs++;
    }
  }
  return pairs;
}

/* Replaces the second point by the sum of both, whose x differ. */
static void add_points(const affine_point *first, affine_point *second, const secp256k1_fe *inverse) {
  secp256k1_fe slope, x, y, term;
  secp256k1_fe_negate(&term, &first->y, MAX_Y);
  secp256k1_fe_add(&term, &second->y);
  secp256k1_fe_mul(&slope, &term, inverse);
  secp256k1_fe_sqr(&x, &slope);
  secp256k1_fe_negate(&term, &first->x, 1);
  secp256k1_fe_add(&x, &term);
  secp256k1_fe_negate(&term, &second->x, 1);
  secp256k1_fe_add(&x, &term);
  secp256k1_fe_normalize_weak(&x);
  secp256k1_fe_negate(&term, &x, 1);
  secp256k1_fe_add(&term, &first->x);
  secp256k1_fe_mul(&y, &term, &slope);
  secp256k1_fe_negate(&term, &first->y, MAX_Y);
  secp256k1_fe_add(&y, &term);
  secp256k1_fe_normalize_weak(&y);
  second->x = x;
  second->y = y;
}

/* Adds the points of each signature in pairs, until at most one is left. */
static void sum_all(sum_batch *batch) {
  int pairs;
  while ((pairs = prepare_level(batch)) > 0) {
    secp256k1_fe rest;
    int index, at;
    secp256k1_fe_inv_var(&rest, &batch->products[pairs - 1]);
    /* From the last pair to the first one: `rest` is the inverse of the product up to the pair. */
    for (index = batch->count - 1; index >= 0; index--) {
      affine_point *points = batch->points[index];
      int whole = batch->entries[index] & ~1;
      for (at = whole - 2; at >= 0; at -= 2) {
        secp256k1_fe inverse = rest;
        pairs--;
        if (pairs > 0) {
          secp256k1_fe_mul(&inverse, &rest, &batch->products[pairs - 1]);
          secp256k1_fe_mul(&rest, &rest, &batch->differences[pairs]);
        }
        add_points(&points[at], &points[at + 1], &inverse);
      }
      for (at = 0; at < whole / 2; at++) points[at] = points[2 * at + 1];
      if (batch->entries[index] > whole) points[whole / 2] = points[whole];
      batch->entries[index] = (batch->entries[index] + 1) / 2;
    }
  }
}

/* Returns the sum of a signature, or NULL if the library must compute it. */
static affine_point *sum_of(sum_batch *batch, int index) {
  return batch->is_unusual[index] || batch->entries[index] != 1 ? NULL : &batch->points[index][0];
}
