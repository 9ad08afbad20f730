import fc from "fast-check";
import { expect, test } from "vitest";
import {
  consistencyProof,
  hashLeaves,
  inclusionProof,
  isConsistent,
  isIncluded,
  leafHash,
  rootOf,
} from "../../src/facts/merkle/proofs.ts";
import { readTilePath, tilePath } from "../../src/facts/merkle/tiles.ts";
import { FactTree } from "../../src/facts/tree/store.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { plainConsistency, plainPath, plainRoot } from "../../test-support/facts/plain-tree.ts";

const leavesOf = (count: number, from = 0, kind = "leaf") =>
  Array.from({ length: count }, (_, index) => `${kind} ${from + index}`);

function openTree() {
  const database = openDatabase(":memory:");
  migrate(database);
  const tree = new FactTree(database);
  let height = 0;
  return {
    database,
    tree,
    nodes: () => tree.nodes(),
    append(leaves: readonly string[]) {
      height = (tree.last()?.height ?? 0) + 1;
      const mark = { height, blockId: `block ${height}`, size: leaves.length };
      database.transaction(() => tree.append([mark], hashLeaves(leaves)));
    },
  };
}

/** Hashes of one tree that was built in one step, for the proofs below. */
const LEAVES = leavesOf(700);
const grown = openTree();
grown.append(LEAVES);

test("A tree that grows in steps of any size has the root of its definition after each of them.", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 6 }), (steps) => {
      const { tree, nodes, append } = openTree();
      const leaves: string[] = [];
      for (const count of steps) {
        const added = leavesOf(count, leaves.length);
        leaves.push(...added);
        append(added);
        expect(tree.last()?.size).toBe(leaves.length);
        expect(Buffer.from(rootOf(leaves.length, nodes()))).toEqual(plainRoot(leaves));
      }
    }),
    { numRuns: 25 },
  );
});

test("A tree above complete tiles of tiles has the root of its definition.", () => {
  const { nodes, append } = openTree();
  const leaves = leavesOf(66_000);
  append(leaves.slice(0, 65_000));
  append(leaves.slice(65_000));
  for (const size of [65_535, 65_536, 65_537, 66_000]) {
    expect(Buffer.from(rootOf(size, nodes()))).toEqual(plainRoot(leaves.slice(0, size)));
  }
});

test("A tree that was truncated and extended again equals one that was never longer.", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 5 }),
      fc.nat(),
      (steps, choice) => {
        const [kept, other] = [choice % steps.length, openTree()];
        const truncated = openTree();
        const leaves: string[] = [];
        for (const [index, count] of steps.entries()) {
          const added = leavesOf(count, leaves.length, index < kept ? "leaf" : "lost");
          truncated.append(added);
          if (index < kept) {
            other.append(added);
            leaves.push(...added);
          }
        }
        const { database, tree } = truncated;
        database.transaction(() => tree.truncate(tree.markAt(kept)));
        expect(tree.last()).toEqual(other.tree.last());
        for (const each of [truncated, other]) each.append(leavesOf(300, leaves.length));
        const rows = (of: typeof database) => of.prepare("SELECT * FROM fact_tiles ORDER BY position").all();
        expect(rows(database)).toEqual(rows(other.database));
      },
    ),
    { numRuns: 25 },
  );
});

test("Inclusion is proven by the proof of the definition only.", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: LEAVES.length }), fc.nat(), fc.nat(), (size, at, change) => {
      const index = at % size;
      const proof = inclusionProof(index, size, grown.nodes());
      expect(proof.map((hash) => Buffer.from(hash))).toEqual(plainPath(index, LEAVES.slice(0, size)));
      const root = rootOf(size, grown.nodes());
      const leaf = leafHash(present(LEAVES[index], "an item of LEAVES"));
      expect(isIncluded({ leaf, index, size }, root, proof)).toBe(true);
      for (const altered of alteredProofs(proof, change)) {
        expect(isIncluded({ leaf, index, size }, root, altered)).toBe(false);
      }
      expect(isIncluded({ leaf: leafHash("another"), index, size }, root, proof)).toBe(false);
      expect(isIncluded({ leaf, index, size }, leafHash("another"), proof)).toBe(false);
      expect(isIncluded({ leaf, index: size, size }, root, proof)).toBe(false);
      if (size > 1) {
        expect(isIncluded({ leaf, index: (index + 1) % size, size }, root, proof)).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});

test("Consistency is proven by the proof of the definition only.", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: LEAVES.length }), fc.nat(), fc.nat(), (size, at, change) => {
      const first = 1 + (at % size);
      const proof = consistencyProof(first, size, grown.nodes());
      expect(proof.map((hash) => Buffer.from(hash))).toEqual(plainConsistency(first, LEAVES.slice(0, size)));
      const from = { size: first, root: rootOf(first, grown.nodes()) };
      const to = { size, root: rootOf(size, grown.nodes()) };
      expect(isConsistent(from, to, proof)).toBe(true);
      for (const altered of alteredProofs(proof, change)) expect(isConsistent(from, to, altered)).toBe(false);
      const another = leafHash("another");
      expect(isConsistent({ ...from, root: another }, to, proof)).toBe(false);
      expect(isConsistent(from, { ...to, root: another }, proof)).toBe(false);
      expect(isConsistent({ ...from, size: size + 1 }, to, proof)).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("The tree without leaves is the beginning of every other, and proves nothing itself.", () => {
  const to = { size: 700, root: rootOf(700, grown.nodes()) };
  expect(consistencyProof(0, 700, grown.nodes())).toEqual([]);
  expect(isConsistent({ size: 0, root: plainRoot([]) }, to, [])).toBe(true);
  expect(isConsistent({ size: 0, root: to.root }, to, [])).toBe(false);
  expect(isIncluded({ leaf: leafHash("leaf 0"), index: 0, size: 0 }, plainRoot([]), [])).toBe(false);
});

/** Invalid proofs: another hash, one more, one less, or another order. */
function alteredProofs(proof: readonly Uint8Array[], change: number): Uint8Array[][] {
  const longer = [...proof, leafHash("more")];
  if (proof.length === 0) return [longer];
  const place = change % proof.length;
  const flipped = proof.map((hash, index) => {
    if (index !== place) return hash;
    const copy = Buffer.from(hash);
    copy[change % 32] = present(copy[change % 32], "an item of copy") ^ 1;
    return copy;
  });
  return [longer, proof.slice(0, -1), flipped, ...(proof.length > 1 ? [proof.toReversed()] : [])];
}

test("Tiles have exactly the paths of their specification.", () => {
  expect(tilePath(0, 1_234_067)).toBe("0/x001/x234/067");
  expect(tilePath(2, 5, 12)).toBe("2/005.p/12");
  expect(tilePath("entries", 1_000, 255)).toBe("entries/x001/000.p/255");
  fc.assert(
    fc.property(
      fc.constantFrom(0, 1, 6, "entries" as const),
      fc.nat(),
      fc.integer({ min: 1, max: 256 }),
      (level, number, width) => {
        expect(readTilePath(tilePath(level, number, width))).toEqual({ level, number, width });
      },
    ),
  );
  for (const path of [
    ...["", "0", "0/1", "0/0001", "0/x000/001", "7/001", "data/001", "0/001.p/0", "0/001.p/256", "0/001.p/"],
    ...[
      "0/001.p/012",
      "-1/001",
      "0/../001",
      "0/x001/x234/x067",
      `0/${"x999/".repeat(6)}999`,
      "x".repeat(1e5),
    ],
  ]) {
    expect([path, readTilePath(path)]).toEqual([path, undefined]);
  }
});
