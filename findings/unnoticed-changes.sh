#!/usr/bin/env bash
# Differences of two objects in which an amount (bigint) or a time (Date) has changed
#
# One would guess: packages that compare objects compare values that they do not know with `===` or `Object.is`, so that another bigint is a
# change; or they throw.
# What happens: jsondiffpatch 0.7.7 and json8-patch 1.0.6 find no difference between 5n and 6n: the patch is empty. rfc6902 5.4.0 and json8-patch
# find none between two times, and just-diff 6.0.2 none within a second. generate-json-patch 1.2.9 throws for bigints inside lists.
# deep-diff, microdiff, recursive-diff, fast-json-patch, json-diff-ts and diff-json notice all changes.
# Whom it hurts: audit logs, stores and screens that keep or send changes only: a balance goes from 5n to 6n, and no entry says so; a copy
# that is kept by patches stays wrong. Compare texts of amounts and times, or test the package with both.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts jsondiffpatch@0.7.7 json8-patch@1.0.6 just-diff@6.0.2 rfc6902@5.4.0 \
  generate-json-patch@1.2.9 deep-diff@1.0.2 microdiff@1.6.0 recursive-diff@1.0.9 fast-json-patch@3.1.1 json-diff-ts@4.10.4 diff-json@2.0.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { diff as jsonDiffTs } from "json-diff-ts";
import { diff as jsondiffpatch } from "jsondiffpatch";

const load = createRequire(import.meta.url);
const microdiff = await import("microdiff");
const diffJson = load("diff-json");
const PACKAGES = {
  "jsondiffpatch 0.7.7": jsondiffpatch,
  "json8-patch 1.0.6": load("json8-patch").diff,
  "just-diff 6.0.2": load("just-diff").diff,
  "rfc6902 5.4.0": load("rfc6902").createPatch,
  "generate-json-patch 1.2.9": load("generate-json-patch").generateJSONPatch,
  "deep-diff 1.0.2": load("deep-diff"),
  "microdiff 1.6.0": microdiff.default.default ?? microdiff.default,
  "recursive-diff 1.0.9": load("recursive-diff").getDiff,
  "fast-json-patch 3.1.1": load("fast-json-patch").compare,
  "json-diff-ts 4.10.4": jsonDiffTs,
  "diff-json 2.0.0": diffJson.diff ?? diffJson.default.diff,
};
const CHANGES = {
  text: [{ a: "5" }, { a: "6" }],
  number: [{ a: 5 }, { a: 6 }],
  bigint: [{ a: 5n }, { a: 6n }],
  "bigint in a list": [{ a: [{ id: 1, b: 5n }] }, { a: [{ id: 1, b: 6n }] }],
  "Date by a minute": [{ a: new Date(0) }, { a: new Date(60_000) }],
  "Date by a millisecond": [{ a: new Date(0) }, { a: new Date(1) }],
};
const isEmpty = (difference) => difference === undefined || difference === null || Object.keys(difference).length === 0;

console.log(`Node.js ${process.version}`);
const seen = {};
for (const [name, diff] of Object.entries(PACKAGES)) {
  seen[name] = Object.entries(CHANGES).map(([what, [before, after]]) => {
    try {
      return isEmpty(diff(before, after)) ? `${what} MISSED` : undefined;
    } catch {
      return `${what} throws`;
    }
  });
  console.log(`${name.padEnd(28)}${seen[name].filter(Boolean).join(", ") || "all noticed"}`);
}
const bigints = ["bigint MISSED", "bigint in a list MISSED"];
const dates = ["Date by a minute MISSED", "Date by a millisecond MISSED"];
const expected = {
  "jsondiffpatch 0.7.7": bigints.join(),
  "json8-patch 1.0.6": [...bigints, ...dates].join(),
  "just-diff 6.0.2": dates[1],
  "rfc6902 5.4.0": dates.join(),
  "generate-json-patch 1.2.9": "bigint in a list throws",
};
if (Object.entries(seen).some(([name, row]) => row.filter(Boolean).join() !== (expected[name] ?? ""))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
