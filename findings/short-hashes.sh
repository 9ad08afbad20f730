#!/usr/bin/env bash
# Names of files with a short hash, and the number of files that a build may have
#
# One would guess: `[hash:6]` in the name of a file decides how probable it is that two versions of the file have one name. 65 files among
# 2^36 hashes are no problem, and a failed build leaves the last one in its folder.
# What happens: Rollup and Rolldown write a placeholder for the hash of each file first, which must be as long as the hash and has the
# number of the file in it. Six characters leave one digit of base 64: with about the 65th file the build fails, and asks for a longer hash. Vite
# has emptied the folder by then, so that a server of this folder has no files until somebody changes the configuration.
# Whom it hurts: sites that shorten names of files, of which each page is a file of its own: the build fails with the change that adds one
# page, which has nothing to do with names.
# Versions: vite 8.3.8 (rolldown), rollup 4.62.0; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts vite@8.3.8 rollup@4.62.0
cat > finding.mjs <<'JS'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rollup } from "rollup";
import { build } from "vite";

const versionOf = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
console.log("vite", versionOf("vite"), "rolldown", versionOf("rolldown"), "rollup", versionOf("rollup"));

/** Writes an entry that loads pages on demand, each of which becomes a file. */
function writePages(count) {
  mkdirSync("pages", { recursive: true });
  const loads = Array.from({ length: count }, (_, page) => {
    writeFileSync(`pages/${page}.js`, `export const text = "page ${page}";\n`);
    return `() => import("./pages/${page}.js")`;
  });
  writeFileSync("main.js", `globalThis.pages = [${loads.join(", ")}];\n`);
}

const names = { entryFileNames: "[name]-[hash:6].js", chunkFileNames: "[name]-[hash:6].js" };
const filesIn = (folder) => readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js")).length;
const outcomes = {
  async vite() {
    await build({
      ...{ logLevel: "silent", configFile: false },
      build: { outDir: "vite", emptyOutDir: true, modulePreload: false, rolldownOptions: { input: "main.js", output: names } },
    });
  },
  async rollup() {
    const bundle = await rollup({ input: "main.js", logLevel: "silent" });
    await bundle.write({ dir: "rollup", ...names });
  },
};
const seen = {};
for (const [name, run] of Object.entries(outcomes)) {
  writePages(50);
  await run();
  const before = filesIn(name);
  writePages(70);
  const error = await run().then(
    () => undefined,
    ({ message }) => message,
  );
  console.log(`${name}: ${before} files, then ${filesIn(name)} after: ${String(error).slice(0, 300)}`);
  seen[name] = { before, after: filesIn(name), hasFailed: error !== undefined && /hash/i.test(error) };
}
const isAsExpected =
  seen.vite.before > 45 && seen.vite.hasFailed && seen.vite.after === 0 && seen.rollup.before > 45 && seen.rollup.hasFailed;
if (!isAsExpected) throw new Error("the behaviour has changed");
JS
node finding.mjs
