/* The module for WebAssembly: verify.h as a function of one buffer (docs/guides/signatures.md). Nothing is imported. */
#include "verify.h"

/* Largest number of signatures of a call. */
enum { MAX_CALL = 128 };

static thread_state state;
static struct {
  unsigned char packed[MAX_CALL * ENTRY_BYTES], verdicts[MAX_CALL];
} buffer;

/* Returns the address of the packed signatures, which the verdicts follow. */
__attribute__((export_name("buffer"))) unsigned char *buffer_address(void) { return buffer.packed; }

/* verify(count): one byte for each entry, 1 if it is valid. Returns 0 if a verdict of a table differs from that of the library. */
__attribute__((export_name("verify"))) int verify(unsigned count) {
  if (context == NULL || count > MAX_CALL) __builtin_trap();
  return verify_packed(&state, buffer.packed, buffer.verdicts, count);
}

/* Functions that would be imported: an instance has one thread, and no output. */
int sched_yield(void) { return 0; }
void secp256k1_default_illegal_callback_fn(const char *text, void *data) { __builtin_trap(); }
void secp256k1_default_error_callback_fn(const char *text, void *data) { __builtin_trap(); }
