/** The right edge of a Merkle tree has the root of all its leaves. */
import { expect, test } from "vitest";
import { EMPTY_ROOT, HASH_BYTES, hashLeaves } from "../../src/facts/merkle/proofs.ts";
import { type Edge, EMPTY_EDGE, edgeRoot, extendEdge } from "../../src/facts/merkle/tiles.ts";
import { plainRoot } from "../../test-support/facts/plain-tree.ts";

const leaves = Array.from({ length: 300 }, (_, index) => `leaf ${index}`);

test("The edge of the empty tree has its root.", () => {
  expect(edgeRoot(EMPTY_EDGE)).toEqual(EMPTY_ROOT);
  expect(extendEdge(EMPTY_EDGE, hashLeaves([]))).toMatchObject({ size: 0 });
});

test.each([1, 2, 7, 64, 100])("An edge that grows by %i leaves has the root of every size.", (step) => {
  let edge: Edge = EMPTY_EDGE;
  while (edge.size < leaves.length) {
    edge = extendEdge(edge, hashLeaves(leaves.slice(edge.size, edge.size + step)));
    const bits = edge.size.toString(2).replaceAll("0", "").length;
    expect(edge.hashes.length).toBe(bits * HASH_BYTES);
    expect(Buffer.from(edgeRoot(edge))).toEqual(Buffer.from(plainRoot(leaves.slice(0, edge.size))));
  }
});
