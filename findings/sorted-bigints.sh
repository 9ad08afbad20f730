#!/usr/bin/env bash
# Sorted lists, sets and heaps with bigints, in their default order
#
# One would guess: a container that sorts numbers and texts by itself sorts bigints, or throws.
# What happens: of 22 containers, `SortedArray`, `SortedArraySet` and `Heap` of collections 5.1.13, and sorted-array-type 1.2.1, keep bigints
# unsorted, without an error, so that the first one is not the smallest, and searches miss what is there. `SortedSet` and `SortedMap` of
# collections throw. The other 16 sort them.
# Whom it hurts: pools of transactions by fee, order books and schedules by nanoseconds, after numbers became bigints.
# Pass a comparison that returns -1, 0 or 1.
# Versions: see below; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts collections@5.1.13 sorted-array-type@1.2.1 sorted-btree@2.1.0 functional-red-black-tree@1.0.1 \
  splaytree@3.2.3 js-sdsl@4.4.2 typescript-collections@1.3.3 buckets-js@1.98.2 tinyqueue@3.0.0 heap-js@2.7.1 heap@0.2.7 mnemonist@0.40.8 \
  fastpriorityqueue@0.8.0 @datastructures-js/priority-queue@6.4.0 sorted-array@2.0.4 binary-search-tree@0.2.6 binarysearch@1.0.1 \
  priorityqueuejs@2.0.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
const defaultOf = (loaded) => loaded.default ?? loaded;

/** Adds values in turns, as keys and values of a map or as elements, and returns the container. */
function filled(container, values, add = "add") {
  for (const value of values) container[add](...(add === "set" ? [value, value] : [value]));
  return container;
}

/** Empties a queue, from its first element on. */
function drained(queue, take, isEmpty) {
  const values = [];
  while (!isEmpty(queue)) values.push(queue[take]());
  return values;
}

const withLength = (queue) => queue.length === 0;
const isEmpty = (queue) => queue.isEmpty();
const TinyQueue = defaultOf(await import("tinyqueue"));

/** Each takes values, and returns them in its order. */
const CONTAINERS = {
  "collections 5.1.13, SortedArray": (values) => filled(new (load("collections/sorted-array"))(), values).toArray(),
  "collections 5.1.13, SortedArraySet": (values) => filled(new (load("collections/sorted-array-set"))(), values).toArray(),
  "collections 5.1.13, Heap": (values) => drained(filled(new (load("collections/heap"))(), values, "push"), "pop", withLength).reverse(),
  "collections 5.1.13, SortedSet": (values) => filled(new (load("collections/sorted-set"))(), values).toArray(),
  "collections 5.1.13, SortedMap": (values) => [...filled(new (load("collections/sorted-map"))(), values, "set").keys()],
  "sorted-array-type 1.2.1": (values) => [...filled(new (defaultOf(load("sorted-array-type")))(), values, "push")],
  "sorted-btree 2.1.0": (values) => filled(new (defaultOf(load("sorted-btree")))(), values, "set").keysArray(),
  "functional-red-black-tree 1.0.1": (values) => values.reduce((tree, value) => tree.insert(value, value), load("functional-red-black-tree")()).keys,
  "splaytree 3.2.3": (values) => filled(new (defaultOf(load("splaytree")))(), values, "insert").keys(),
  "js-sdsl 4.4.2, OrderedSet": (values) => [...filled(new (load("js-sdsl").OrderedSet)(), values, "insert")],
  "typescript-collections 1.3.3, BSTree": (values) => filled(new (load("typescript-collections").BSTree)(), values).toArray(),
  "buckets-js 1.98.2, BSTree": (values) => filled(load("buckets-js").BSTree(), values).toArray(),
  "tinyqueue 3.0.0": (values) => drained(filled(new TinyQueue(), values, "push"), "pop", withLength),
  "heap-js 2.7.1": (values) => drained(filled(new (load("heap-js").Heap)(), values, "push"), "pop", withLength),
  "heap 0.2.7": (values) => drained(filled(new (load("heap"))(), values, "push"), "pop", (queue) => queue.empty()),
  "mnemonist 0.40.8, Heap": (values) => filled(new (load("mnemonist/heap"))(), values, "push").consume(),
  "fastpriorityqueue 0.8.0": (values) => drained(filled(new (load("fastpriorityqueue"))(), values), "poll", isEmpty),
  "@datastructures-js/priority-queue 6.4.0": (values) =>
    drained(filled(new (load("@datastructures-js/priority-queue").MinPriorityQueue)(), values, "enqueue"), "dequeue", isEmpty),
  "sorted-array 2.0.4": (values) => filled(new (load("sorted-array"))([]), values, "insert").array,
  "binary-search-tree 0.2.6": (values) => {
    const tree = new (load("binary-search-tree").AVLTree)();
    for (const value of values) tree.insert(value, value);
    return tree.betweenBounds({ $gte: 0n });
  },
  "binarysearch 1.0.1": (values) => {
    const list = [];
    for (const value of values) load("binarysearch").insert(list, value);
    return list;
  },
  "priorityqueuejs 2.0.0": (values) => drained(filled(new (load("priorityqueuejs"))(), values, "enq"), "deq", isEmpty).reverse(),
};

const VALUES = Array.from({ length: 200 }, (_, index) => 10n ** 18n + BigInt((index * 7_919) % 200));
const SORTED = VALUES.toSorted((a, b) => (a < b ? -1 : 1));
const stateOf = (fill) => {
  try {
    const values = fill(VALUES);
    return values.length === 200 && SORTED.every((value, index) => value === values[index]) ? "sorted" : "unsorted";
  } catch {
    return "throws";
  }
};
console.log(`Node.js ${process.version}; 200 bigints above 10^18`);
const seen = Object.entries(CONTAINERS).map(([name, fill]) => [name, stateOf(fill)]);
for (const [name, state] of seen) console.log(`${name.padEnd(42)}${state}`);
const expected = (name) =>
  /Sorted(Set|Map)/.test(name) ? "throws" : name.startsWith("collections") || name.startsWith("sorted-array-type") ? "unsorted" : "sorted";
if (seen.some(([name, state]) => state !== expected(name))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
