/** The checkpoint that a browser keeps: it advances with proofs, and is replaced when it has expired. */
import type { Client } from "@uniknode/client";
import { CheckpointError, verifyProof } from "@uniknode/client/proofs";
import { present } from "@uniknode/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  checkpointOf,
  createWorld,
  keysOf,
  proofOf,
  startOf,
  type TestBlock,
} from "../../../client/test-support/proofs/world.ts";
import { keepCheckpoint, keptCheckpoint } from "../../src/proofs/checkpoint.ts";
import { verifySubject } from "../../src/proofs/verify.ts";

const SIZE = 7;
const world = createWorld(SIZE);
const delegates = keysOf("delegate", SIZE);
const chain: TestBlock[] = [];
for (let round = 0; round < 5; round++) {
  chain.push(...world.round(chain.at(-1) ?? startOf(world), delegates));
}
const first = checkpointOf(world, chain.slice(0, SIZE));
const block = present(chain[3 * SIZE]);
const subject = { kind: "block", id: block.id } as const;
const nowMs = world.unixMs(present(chain.at(-1)).slot);
const SINCE_MS = 1_700_000_000_000;

/** The storage of a browser. */
beforeEach(() => {
  const items = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => items.set(name, text),
    removeItem: (name: string) => items.delete(name),
  });
});
afterEach(() => vi.unstubAllGlobals());

/** A node that proves one block; it has no checkpoint for a new browser. */
const nodeWith = (proof: unknown) => {
  const noCheckpoint = async () => {
    throw new CheckpointError("CHECKPOINT_UNAVAILABLE", "the chain has no final round near its head");
  };
  const api = {
    blocks: { proof: async () => ({ data: proof }) },
    blockchain: { get: noCheckpoint },
    node: { cryptoConfiguration: noCheckpoint },
  } as unknown as Client;
  return { api, verify: async (...given: Parameters<typeof verifyProof>) => verifyProof(...given) };
};

const headers = chain.slice(3 * SIZE, 4 * SIZE);
const advance = chain.slice(2 * SIZE, 4 * SIZE);
const kept = { nowMs, keepsCheckpoint: true };

test("The kept checkpoint advances with each proof, and its first time stays.", async () => {
  keepCheckpoint({ checkpoint: first, sinceMs: SINCE_MS });
  const proof = proofOf(world, { blocks: headers, advances: [advance] });
  const seal = await verifySubject(nodeWith(proof), subject, kept);
  expect(seal).toEqual({ state: "final", signers: SIZE, quorum: 5, sinceMs: SINCE_MS });
  expect(keptCheckpoint()).toEqual({
    checkpoint: checkpointOf(world, chain.slice(2 * SIZE, 3 * SIZE)),
    sinceMs: SINCE_MS,
  });
});

test("A proof of other delegates is refused, and the checkpoint stays.", async () => {
  keepCheckpoint({ checkpoint: first, sinceMs: SINCE_MS });
  const others = world.round(present(chain.at(-1)), keysOf("other", SIZE));
  const last = present(others[0]);
  const imitated = { kind: "block", id: last.id } as const;
  const seal = await verifySubject(nodeWith(proofOf(world, { blocks: others })), imitated, {
    ...kept,
    nowMs: world.unixMs(present(others.at(-1)).slot),
  });
  expect(seal).toMatchObject({ state: "included", signers: 0 });
  const stolen = { ...proofOf(world, { blocks: headers }), ids: [] };
  expect(await verifySubject(nodeWith(stolen), subject, kept)).toMatchObject({ state: "refused" });
  expect(keptCheckpoint()?.checkpoint).toEqual(first);
});

test("An expired checkpoint is forgotten.", async () => {
  keepCheckpoint({ checkpoint: first, sinceMs: SINCE_MS });
  const later = { ...kept, nowMs: nowMs + 31 * 86_400_000 };
  const seal = await verifySubject(nodeWith(proofOf(world, { blocks: headers })), subject, later);
  expect(seal).toEqual({ state: "unavailable" });
  expect(keptCheckpoint()).toBeUndefined();
});

test("A text that is not a checkpoint is not used.", () => {
  localStorage.setItem("uniknode.checkpoint", '{"checkpoint":{"height":7},"sinceMs":1}');
  expect(keptCheckpoint()).toBeUndefined();
  localStorage.setItem("uniknode.checkpoint", "{");
  expect(keptCheckpoint()).toBeUndefined();
});
