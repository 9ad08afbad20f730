import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { type Checkpoint, TRUSTING_PERIOD_MS } from "../../src/proofs/checkpoint.ts";
import { verifyProof } from "../../src/proofs/index.ts";
import {
  checkpointOf,
  createWorld,
  idOf,
  keysOf,
  proofOf,
  startOf,
  type TestBlock,
} from "../../test-support/proofs/world.ts";

const SIZE = 23;
const world = createWorld(SIZE);
const delegates = keysOf("delegate", SIZE);

/** Four rounds of the same delegates, of which one misses its slots in the second. */
const chain: TestBlock[] = [];
for (let round = 0; round < 4; round++) {
  const ranked = [...delegates.slice(round), ...delegates.slice(0, round)];
  const misses = (_slot: number, key: unknown) => round === 1 && key === delegates[5];
  chain.push(...world.round(chain.at(-1) ?? startOf(world), ranked, misses));
}
const checkpoint = checkpointOf(world, chain.slice(0, SIZE));
const block = present(chain[30]);
const nowMs = world.unixMs(present(chain.at(-1)).slot);
const headersFrom = (index: number, count: number) => chain.slice(index, index + count);

test("A transaction is final when 16 of 23 trusted keys have signed at or above its block.", () => {
  const proof = proofOf(world, { blocks: headersFrom(30, 16), transaction: 0 });
  const id = idOf(present(block.transactions[0]));
  expect(verifyProof(proof, checkpoint, { nowMs, id })).toMatchObject({
    verdict: "final",
    block: { id: block.id, height: block.height, unixMs: world.unixMs(block.slot), ids: [id] },
    transaction: { id, bytes: proof.transaction },
    signers: 16,
    quorum: 16,
    checkpoint,
  });
});

test("It is included, but not final, with one signer less.", () => {
  const proof = proofOf(world, { blocks: headersFrom(30, 15), transaction: 0 });
  expect(verifyProof(proof, checkpoint, { nowMs })).toMatchObject({ verdict: "included", signers: 15 });
});

test("A block below the checkpoint is final if the headers lead to it, or if trusted keys signed.", () => {
  const led = proofOf(world, { blocks: headersFrom(SIZE - 2, 2) });
  expect(verifyProof(led, checkpoint, { nowMs })).toMatchObject({ verdict: "final", signers: 2 });
  const signed = proofOf(world, { blocks: headersFrom(0, 16) });
  expect(verifyProof(signed, checkpoint, { nowMs })).toMatchObject({ verdict: "final", signers: 16 });
});

test("The trusted keys advance by a complete final round, and the checkpoint moves to its end.", () => {
  const changed: TestBlock[] = [...chain];
  const entering = keysOf("entering", 14);
  for (let round = 0; round < 6; round++) {
    const ranked = [...entering.slice(0, round < 3 ? 7 : 14), ...delegates].slice(0, SIZE);
    changed.push(...world.round(present(changed.at(-1)), ranked));
  }
  const advances = [changed.slice(4 * SIZE, 6 * SIZE), changed.slice(7 * SIZE, 9 * SIZE)];
  const blocks = changed.slice(8 * SIZE + 3, 8 * SIZE + 3 + 20);
  const now = world.unixMs(present(changed.at(-1)).slot);
  const proven = verifyProof(proofOf(world, { blocks, advances }), checkpoint, { nowMs: now });
  const last = checkpointOf(world, changed.slice(7 * SIZE, 8 * SIZE));
  expect(proven).toMatchObject({ verdict: "final", checkpoint: last });
  // Without the first one, more than a third would be new at once.
  const skipped = verifyProof(proofOf(world, { blocks, advances: advances.slice(1) }), checkpoint, {
    nowMs: now,
  });
  expect(skipped).toMatchObject({ verdict: "refused", step: "ADVANCE_QUORUM" });
  const stored: Checkpoint = JSON.parse(JSON.stringify(last));
  expect(verifyProof(proofOf(world, { blocks }), stored, { nowMs: now })).toMatchObject({ verdict: "final" });
});

test("A checkpoint is trusted for 30 days.", () => {
  const proof = proofOf(world, { blocks: headersFrom(30, 16) });
  const endMs = checkpoint.timestamp * 1_000 + Date.parse(world.network.epoch) + TRUSTING_PERIOD_MS;
  expect(verifyProof(proof, checkpoint, { nowMs: endMs })).toMatchObject({ verdict: "final" });
  const old = verifyProof(proof, checkpoint, { nowMs: endMs + 1 });
  expect(old).toMatchObject({ verdict: "refused", step: "CHECKPOINT_AGE" });
  const early = verifyProof(proof, checkpoint, { nowMs: world.unixMs(0) });
  expect(early).toMatchObject({ verdict: "refused", step: "CHECKPOINT_AGE" });
});

test("A proof of another transaction or block than the requested one is refused.", () => {
  const blocks = headersFrom(30, 16);
  for (const transaction of [0, undefined]) {
    const proof = proofOf(world, { blocks, ...(transaction !== undefined && { transaction }) });
    const verdict = verifyProof(proof, checkpoint, { nowMs, id: "0".repeat(64) });
    expect(verdict).toMatchObject({ verdict: "refused", step: "ID" });
  }
});

test("Values that are not proofs are refused without an exception.", () => {
  const proof = proofOf(world, { blocks: headersFrom(30, 16) });
  const others = [
    undefined,
    null,
    [],
    "proof",
    {},
    { ...proof, nethash: 1 },
    { ...proof, headers: [] },
    { ...proof, headers: proof.headers.concat(Array(2_000).fill(proof.headers[0])) },
    { ...proof, headers: ["00"] },
    { ...proof, advances: [[]] },
    { ...proof, ids: Array(10_001).fill("0".repeat(64)) },
    { ...proof, ids: ["X".repeat(64)] },
    { ...proof, rounds: [{ round: 1.5, delegates: [null] }] },
    { ...proof, transaction: "0" },
    { ...proof, transaction: "" },
  ];
  for (const other of others) {
    expect(verifyProof(other, checkpoint, { nowMs })).toMatchObject({
      verdict: "refused",
      step: expect.stringMatching(/^(FORM|HEADER)$/),
    });
  }
});

test("A proof of another network is refused.", () => {
  const proof = { ...proofOf(world, { blocks: headersFrom(30, 16) }), nethash: "0".repeat(64) };
  expect(verifyProof(proof, checkpoint, { nowMs })).toMatchObject({ verdict: "refused", step: "NETWORK" });
});
