/*
 * Tables of the keys of signers that recur (docs/decisions/0077-tables-of-recurring-keys.md).
 *
 * A table has the multiples d * 2^(w*i) * P for every window i of w bits and every digit d from 1 to 2^(w-1). A product is the sum of one
 * entry for each digit of the scalar: no doublings are left.
 *
 * Tables are shared by all threads. No thread waits for one that publishes a table: it verifies with the library meanwhile.
 */
#include <sched.h>

/* Widths of the windows in bits: of the base point, and of keys after some signatures and after many. */
enum { BASE_WIDTH = 11, WIDE = 8, NARROW = 4 };
/* A table pays after about 10 and 330 signatures of the key, which two threads count, each its own. */
enum { NARROW_AFTER = 8, WIDE_AFTER = 200 };
/* 32 kB and 256 kB each: 57 MB with that of the base point. Each of two instances of WebAssembly has its own. */
#ifdef __wasm__
enum { MAX_NARROW = 512, MAX_WIDE = 48 };
#else
enum { MAX_NARROW = 1024, MAX_WIDE = 96 };
#endif
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

/* Entries that share an inversion, unless a window has more; and the windows of the narrowest table. */
enum { SHARED_ENTRIES = 512, MAX_WINDOWS = 256 / NARROW };

/* Returns 0 if there is no memory. */
static int build_table(key_table *table, const secp256k1_ge *point, int width) {
  const int half = half_of(width), windows = (256 + width - 1) / width;
  const int together = half < SHARED_ENTRIES ? SHARED_ENTRIES / half : 1;
  secp256k1_gej *multiples = malloc(together * half * sizeof(secp256k1_gej)), multiple;
  secp256k1_ge *affine = malloc(together * half * sizeof(secp256k1_ge)), firsts[MAX_WINDOWS];
  int from, window, digit, at;
  table->width = width;
  table->windows = windows;
  /* One line of the cache for each entry. */
  if (posix_memalign((void **)&table->entries, sizeof(secp256k1_ge_storage),
                     (size_t)windows * half * sizeof(secp256k1_ge_storage)) != 0)
    table->entries = NULL;
  if (multiples == NULL || affine == NULL || table->entries == NULL) {
    free(multiples);
    free(affine);
    free(table->entries);
    table->entries = NULL;
    return 0;
  }
  /* The first entry of each window. There are fewer windows than entries that share an inversion. */
  secp256k1_gej_set_ge(&multiple, point);
  for (window = 0; window < windows; window++) {
    multiples[window] = multiple;
    for (digit = 0; digit < width; digit++) secp256k1_gej_double_var(&multiple, &multiple, NULL);
  }
  secp256k1_ge_set_all_gej_var(firsts, multiples, windows);
  for (from = 0; from < windows; from += together) {
    int count = 0;
    for (window = from; window < from + together && window < windows; window++) {
      secp256k1_gej_set_ge(&multiple, &firsts[window]);
      for (digit = 1; digit <= half; digit++) {
        multiples[count++] = multiple;
        secp256k1_gej_add_ge_var(&multiple, &multiple, &firsts[window], NULL);
      }
    }
    secp256k1_ge_set_all_gej_var(affine, multiples, count);
    for (at = 0; at < count; at++) secp256k1_ge_to_storage(entry_of(table, from, 1) + at, &affine[at]);
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
