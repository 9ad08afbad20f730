#!/usr/bin/env bash
# The same leaves in a Merkle tree of Lisk, given at once or appended one after the other
#
# One would guess: a tree has one root and one proof per leaf, however it was filled. `append` of the class `MerkleTree` leads to the
# root that `init` calculates from the same leaves, as an append-only log needs it.
# What happens: in @liskhq/lisk-tree 0.5.0, `init` and `calculateMerkleRootWithLeaves` give the root of RFC 6962 for any number of leaves.
# `append` gives it up to 6 leaves, and another root from 7 leaves on. It depends on how many leaves `init` got: after `init` with 6,
# sizes 7 to 10 are right. After some appends, `generateProof` throws "Invalid tree state" for some leaves of a small tree. The function
# `calculateMerkleRoot`, which appends to a list of hashes instead of an object, is right for all sizes.
# Whom it hurts: logs and bridges that fill a tree while events arrive, and compare its root with that of an auditor who builds it at once.
# Tests with a few leaves pass. Build the tree with `init`, or keep the append path and use `calculateMerkleRoot`.
# Versions: @liskhq/lisk-tree 0.5.0; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @liskhq/lisk-tree@0.5.0
cat > finding.mjs <<'JS'
import { createHash } from "node:crypto";
import tree from "@liskhq/lisk-tree";

const { MerkleTree, regularMerkleTree } = tree;
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const leafHash = (leaf) => sha256(Buffer.from([0]), leaf);
const leaves = Array.from({ length: 40 }, (_, index) => sha256(Buffer.from(`leaf ${index}`)));

/** Root as RFC 6962 2.1 defines it. */
function rootOf(list) {
  if (list.length === 0) return sha256();
  if (list.length === 1) return leafHash(list[0]);
  const left = 2 ** Math.ceil(Math.log2(list.length) - 1);
  return sha256(Buffer.from([1]), rootOf(list.slice(0, left)), rootOf(list.slice(left)));
}

/** Sizes at which the root is right, when the tree starts with some leaves and the others are appended. */
async function rightAfterAppend(start) {
  const subject = new MerkleTree();
  await subject.init(leaves.slice(0, start));
  const right = [];
  for (let size = start + 1; size <= leaves.length; size++) {
    await subject.append(leaves[size - 1]);
    if (subject.root.equals(rootOf(leaves.slice(0, size)))) right.push(size);
  }
  return right.join(" ");
}

async function rightAtOnce() {
  for (let size = 1; size <= leaves.length; size++) {
    const subject = new MerkleTree();
    await subject.init(leaves.slice(0, size));
    const root = rootOf(leaves.slice(0, size));
    if (!subject.root.equals(root)) return `wrong at ${size}`;
    if (!regularMerkleTree.calculateMerkleRootWithLeaves(leaves.slice(0, size)).equals(root)) return `wrong at ${size}`;
  }
  return `right up to ${leaves.length}`;
}

function rightByPath() {
  let state = { root: sha256(), appendPath: [], size: 0 };
  for (let size = 1; size <= leaves.length; size++) {
    state = regularMerkleTree.calculateMerkleRoot({ value: leaves[size - 1], appendPath: state.appendPath, size: state.size });
    if (!state.root.equals(rootOf(leaves.slice(0, size)))) return `wrong at ${size}`;
  }
  return `right up to ${leaves.length}`;
}

async function proofs(fill) {
  const subject = new MerkleTree();
  await fill(subject, leaves.slice(0, 5));
  let verified = 0;
  for (const leaf of leaves.slice(0, 5)) {
    const query = [leafHash(leaf)];
    try {
      if (regularMerkleTree.verifyProof(query, await subject.generateProof(query), subject.root)) verified++;
    } catch (error) {
      return error.message.replace(/ for .*/, "");
    }
  }
  return `${verified} of 5`;
}

const seen = {
  "init": await rightAtOnce(),
  "calculateMerkleRoot": rightByPath(),
  "append, from 0": await rightAfterAppend(0),
  "append, from 3": await rightAfterAppend(3),
  "append, from 6": await rightAfterAppend(6),
  "append, from 8": await rightAfterAppend(8),
  "append, from 12": await rightAfterAppend(12),
  "proofs of 5 leaves after init": await proofs((subject, list) => subject.init(list)),
  "proofs of 5 leaves after append": await proofs(async (subject, list) => {
    for (const leaf of list) await subject.append(leaf);
  }),
};
console.log(`Node.js ${process.version}, right sizes out of 1 to ${leaves.length}:`);
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(34)}${value}`);
const expected = {
  "init": "right up to 40",
  "calculateMerkleRoot": "right up to 40",
  "append, from 0": "1 2 3 4 5 6",
  "append, from 3": "4 5 6",
  "append, from 6": "7 8 9 10",
  "append, from 8": "9 10",
  "append, from 12": "13 14",
  "proofs of 5 leaves after init": "5 of 5",
  "proofs of 5 leaves after append": "Invalid tree state",
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
