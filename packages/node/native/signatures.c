/* The addon of Node.js: verify.h as a function (docs/guides/signatures.md). */
#include <node_api.h>

#include "verify.h"

/* verify(packed: Uint8Array, verdicts: Uint8Array): one byte for each entry, 1 if it is valid. */
static napi_value verify(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  size_t count = 2, packed_bytes, verdict_bytes;
  napi_typedarray_type packed_type, verdict_type;
  unsigned char *packed, *verdicts;
  void *state;
  napi_get_instance_data(env, &state);
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
  if (!verify_packed(state, packed, verdicts, verdict_bytes))
    /* No caller can go on with verdicts that others may not share. */
    napi_fatal_error("uniknode signatures", NAPI_AUTO_LENGTH,
                     "the table of a key and libsecp256k1 differ about a signature", NAPI_AUTO_LENGTH);
  return NULL;
}

static void free_state(napi_env env, void *state, void *hint) {
  (void)env;
  (void)hint;
  free(state);
}

NAPI_MODULE_INIT() {
  thread_state *state = calloc(1, sizeof(thread_state));
  napi_value function;
  if (state == NULL || context == NULL || napi_set_instance_data(env, state, free_state, NULL) != napi_ok ||
      napi_create_function(env, "verify", NAPI_AUTO_LENGTH, verify, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "verify", function) != napi_ok) {
    napi_throw_error(env, NULL, "the curve has no memory");
    return NULL;
  }
  return exports;
}
