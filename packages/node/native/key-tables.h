/*
 * Sums u1 * G + u2 * P for many signatures at once, where P is the key of a signer that recurs
 * (docs/decisions/0077-tables-of-recurring-keys.md).
 *
 * A table has the multiples d * 2^(w*i) * P for every window i of w bits and every digit d from 1 to 2^(w-1). A product is the sum of one
 * entry for each digit of the scalar: no doublings are left. The entries of all signatures of a batch are added in pairs, level by level;
 * the divisions of a level share one inversion. Where these formulas do not hold (two points with the same x, or no entry at all), there
 * is no sum, and the library verifies that signature.
 *
 * Tables are shared by all threads. No thread waits for one that publishes a table: it verifies with the library meanwhile.
 */
#include <sched.h>

/* Signatures that share their inversions, and the largest number of entries of one: all windows of both tables. */
enum { BATCH = 64, MAX_ENTRIES = 24 + 64 };

/* Widths of the windows in bits: of the base point, and of keys after some signatures and after many. */
enum { BASE_WIDTH = 11, WIDE = 8, NARROW = 4 };
/* A table pays after about 10 and 330 signatures of the key, which two threads count, each its own. */
enum { NARROW_AFTER = 8, WIDE_AFTER = 200 };
/* 32 kB and 256 kB each: 57 MB with that of the base point. */
enum { MAX_NARROW = 1024, MAX_WIDE = 96 };
/* A table is replaced if it was not used for so many signatures. */
enum { IDLE_SIGNATURES = 100000 };

typedef struct {
  int width, windows;
  secp256k1_ge_storage *entries;
} key_table;

typedef struct {
  unsigned char compressed[KEY_BYTES];
  /* Number of signatures of all threads when it was used last. */
  uint64_t used_at;
  key_table table;
} table_slot;

typedef struct {
  table_slot *slots;
  int count, max;
} table_list;

static table_slot narrow_slots[MAX_NARROW], wide_slots[MAX_WIDE];
static struct {
  /* Threads that read, and whether one is about to publish. */
  int readers, is_changing;
  key_table base;
  table_list narrow, wide;
  uint64_t signatures;
} tables = {.narrow = {narrow_slots, 0, MAX_NARROW}, .wide = {wide_slots, 0, MAX_WIDE}};

static void end_reading(void) { __atomic_sub_fetch(&tables.readers, 1, __ATOMIC_SEQ_CST); }

/* Returns 0 while a thread publishes a table. */
static int begin_reading(void) {
  __atomic_add_fetch(&tables.readers, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&tables.is_changing, __ATOMIC_SEQ_CST)) return 1;
  end_reading();
  return 0;
}

static void end_changing(void) { __atomic_store_n(&tables.is_changing, 0, __ATOMIC_SEQ_CST); }

/* Returns 0 while another thread publishes. Waits for readers, which read for less than a millisecond. */
static int begin_changing(void) {
  int expected = 0;
  if (!__atomic_compare_exchange_n(&tables.is_changing, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 0;
  while (__atomic_load_n(&tables.readers, __ATOMIC_SEQ_CST) > 0) sched_yield();
  return 1;
}

/* Where the tables of a key were found last. */
typedef struct {
  int narrow, wide;
} table_hint;

static int half_of(int width) { return 1 << (width - 1); }

static secp256k1_ge_storage *entry_of(const key_table *table, int window, int digit) {
  return &table->entries[(size_t)window * half_of(table->width) + digit - 1];
}

/* Returns 0 if there is no memory. */
static int build_table(key_table *table, const secp256k1_ge *point, int width) {
  int half = half_of(width), window, digit;
  secp256k1_gej *multiples = malloc(half * sizeof(secp256k1_gej));
  secp256k1_ge *affine = malloc(half * sizeof(secp256k1_ge));
  secp256k1_gej base;
  table->width = width;
  table->windows = (256 + width - 1) / width;
  /* One line of the cache for each entry. */
  if (posix_memalign((void **)&table->entries, sizeof(secp256k1_ge_storage),
                     (size_t)table->windows * half * sizeof(secp256k1_ge_storage)) != 0)
    table->entries = NULL;
  if (multiples == NULL || affine == NULL || table->entries == NULL) {
    free(multiples);
    free(affine);
    free(table->entries);
    table->entries = NULL;
    return 0;
  }
  secp256k1_gej_set_ge(&base, point);
  for (window = 0; window < table->windows; window++) {
    secp256k1_gej multiple = base;
    secp256k1_ge first;
    secp256k1_ge_set_gej_var(&first, &multiple);
    secp256k1_gej_set_ge(&multiple, &first);
    for (digit = 1; digit <= half; digit++) {
      multiples[digit - 1] = multiple;
      secp256k1_gej_add_ge_var(&multiple, &multiple, &first, NULL);
    }
    secp256k1_ge_set_all_gej_var(affine, multiples, half);
    for (digit = 1; digit <= half; digit++)
      secp256k1_ge_to_storage(entry_of(table, window, digit), &affine[digit - 1]);
    for (digit = 0; digit < width; digit++) secp256k1_gej_double_var(&base, &base, NULL);
  }
  free(multiples);
  free(affine);
  return 1;
}

static int is_slot_of(const table_list *list, int slot, const unsigned char *compressed) {
  return slot >= 0 && slot < list->count && memcmp(list->slots[slot].compressed, compressed, KEY_BYTES) == 0;
}

/* Returns the position of the table of a key, or -1. */
static int find_slot(const table_list *list, const unsigned char *compressed) {
  int slot = list->count - 1;
  while (slot >= 0 && !is_slot_of(list, slot, compressed)) slot--;
  return slot;
}

static uint64_t signatures_so_far(void) { return __atomic_load_n(&tables.signatures, __ATOMIC_RELAXED); }

static uint64_t used_at(const table_list *list, int slot) {
  return __atomic_load_n(&list->slots[slot].used_at, __ATOMIC_RELAXED);
}

/* Returns a free position, or that of a table which is not used any longer, or -1. */
static int free_slot(const table_list *list) {
  int slot, oldest = 0;
  if (list->count < list->max) return list->count;
  for (slot = 1; slot < list->max; slot++)
    if (used_at(list, slot) < used_at(list, oldest)) oldest = slot;
  return used_at(list, oldest) + IDLE_SIGNATURES < signatures_so_far() ? oldest : -1;
}

/* Returns the table of a key in a list, or NULL. Only while reading. */
static const key_table *find_in(const table_list *list, int *hint, const unsigned char *compressed, int is_searched) {
  if (is_searched && !is_slot_of(list, *hint, compressed)) *hint = find_slot(list, compressed);
  if (!is_slot_of(list, *hint, compressed)) return NULL;
  __atomic_store_n(&list->slots[*hint].used_at, signatures_so_far(), __ATOMIC_RELAXED);
  return &list->slots[*hint].table;
}

/* Returns the widest table of a key, or NULL: at the hint, or anywhere if it is searched. Only while reading. */
static const key_table *find_table(table_hint *hint, const unsigned char *compressed, int is_searched) {
  const key_table *table = find_in(&tables.wide, &hint->wide, compressed, is_searched);
  return table != NULL ? table : find_in(&tables.narrow, &hint->narrow, compressed, is_searched);
}

/*
 * Builds and publishes the table of a key, unless there is one, all positions are in use, another thread publishes, or there is no
 * memory.
 */
static void add_table(const unsigned char *compressed, const secp256k1_ge *point, int width, table_hint *hint) {
  table_list *list = width == WIDE ? &tables.wide : &tables.narrow;
  int *own = width == WIDE ? &hint->wide : &hint->narrow;
  key_table base = {0}, table = {0};
  secp256k1_ge_storage *unused;
  int slot, is_first;
  if (!begin_reading()) return;
  slot = find_slot(list, compressed) == -1 ? free_slot(list) : -1;
  is_first = tables.base.entries == NULL;
  end_reading();
  if (slot == -1 || (is_first && !build_table(&base, &secp256k1_ge_const_g, BASE_WIDTH))) return;
  if (!build_table(&table, point, width) || !begin_changing()) {
    free(table.entries);
    free(base.entries);
    return;
  }
  if (tables.base.entries == NULL) {
    tables.base = base;
    base.entries = NULL;
  }
  unused = table.entries;
  /* Another thread may have added it, or taken the position. */
  slot = find_slot(list, compressed) == -1 ? free_slot(list) : -1;
  if (slot != -1) {
    table_slot *position = &list->slots[slot];
    unused = position->table.entries;
    memcpy(position->compressed, compressed, KEY_BYTES);
    position->used_at = signatures_so_far();
    position->table = table;
    if (slot == list->count) list->count++;
    *own = slot;
  }
  end_changing();
  free(unused);
  free(base.entries);
}

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
