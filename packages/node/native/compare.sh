#!/bin/sh
# Compares the verdicts of tables of keys with those of the library, with sanitizers and the library's own checks, first with the limbs of the
# addon and then with those of the module for WebAssembly:
#   sh packages/node/native/compare.sh FOLDER_OF_LIBSECP256K1 [CASES] [SEED]
set -eu
library=${1:?the folder of libsecp256k1}
cases=${2:-1000000}
seed=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compare() {
  cc -O1 -g -std=gnu99 -fsanitize=address,undefined -fno-sanitize-recover=all -DVERIFY \
    -Wall -Wno-unused-function -Wno-nonnull-compare \
    -DECMULT_GEN_PREC_BITS=4 -DECMULT_WINDOW_SIZE=15 -DUSE_ENDOMORPHISM=1 -DUSE_NUM_NONE=1 \
    -DUSE_FIELD_INV_BUILTIN=1 -DUSE_SCALAR_INV_BUILTIN=1 "$@" \
    -I"$library" -I"$library/src" -I"$library/include" \
    "$here/compare.c" -o "$folder/compare"
  "$folder/compare" "$cases" "$seed"
}
compare -DHAVE___INT128=1 -DUSE_ASM_X86_64=1 -DUSE_FIELD_5X52=1 -DUSE_SCALAR_4X64=1
compare -DUSE_FIELD_10X26=1 -DUSE_SCALAR_8X32=1
