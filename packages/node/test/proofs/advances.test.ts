/** Proofs of long chains whose delegates change: the node finds the advances, and the verifier accepts them. */
import { verifyProof } from "@uniknode/client/proofs";
import { createNetwork, livenet } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { createRandom, createScene } from "../../../client/test-support/proofs/scene.ts";
import {
  checkpointOf,
  idOf,
  type Key,
  keysOf,
  rankingOf,
  type TestBlock,
} from "../../../client/test-support/proofs/world.ts";
import { present } from "../../src/platform/present.ts";
import { buildProof } from "../../src/proofs/request.ts";
import type { Snapshot } from "../../src/read/port.ts";
import type { StoredBlock } from "../../src/read/rows.ts";

const SIZE = 7;
const ROUNDS = 160;
const random = createRandom(7);
const scene = createScene(random, SIZE);
const { world } = scene;

/** One delegate changes in each eighth round: after 19 rounds, more than a third are others. */
function electedDelegates(): Key[][] {
  let keys = [...scene.honest, ...scene.bought];
  return Array.from({ length: ROUNDS }, (_, round) => {
    if (round % 8 === 7) keys = [...keys.slice(1), ...keysOf(`elected ${round}`, 1)];
    return keys;
  });
}
const rounds = scene.rounds(electedDelegates(), () => random.below(40) === 0);
const chain = rounds.flat();
const network = createNetwork({
  ...livenet,
  milestones: [{ ...present(livenet.milestones[0]), activeDelegates: SIZE, block: { idFullSha256: true } }],
});
const firstHeight = present(chain[0]).height;
const head = present(chain.at(-1));

/** Number of blocks that were read. */
let reads = 0;

const toStored = ({ id, header, height, slot, generator, transactions }: TestBlock): StoredBlock => ({
  id,
  height,
  version: 0,
  timestamp: 8 * slot,
  previousBlock: header.slice(24, 88),
  numberOfTransactions: transactions.length,
  totalAmount: "0",
  totalFee: "0",
  reward: "200000000",
  payloadLength: 32 * transactions.length,
  payloadHash: header.slice(152, 216),
  generatorPublicKey: generator.publicKey,
  blockSignature: header.slice(282),
  username: null,
});

const snapshot = {
  head: { id: head.id, height: head.height, timestamp: 8 * head.slot },
  blocks: {
    async list({ height }: { height: { from: number; to: number } }) {
      const rows = chain
        .slice(Math.max(0, height.from - firstHeight), height.to - firstHeight + 1)
        .map(toStored);
      reads += rows.length;
      return { rows, totalCount: rows.length };
    },
  },
  rounds: {
    async delegates(round: number) {
      const [first] = rounds[round - present(chain[0]).round] ?? [];
      return first && rankedIn(first.round).map((publicKey) => ({ publicKey, voteBalance: "0" }));
    },
  },
  transactions: { idsInBlock: async () => [] },
} as unknown as Snapshot;

/** Ranks the delegates of a round so that the shuffle gives the generators. */
function rankedIn(round: number): string[] {
  const blocks = rounds[round - present(chain[0]).round] ?? [];
  return rankingOf(round, blocks, SIZE).map((key) => key ?? `02${"0".repeat(64)}`);
}

async function proveFrom(height: number, from: number) {
  const block = toStored(present(chain[height - firstHeight]));
  let checkpoint = checkpointOf(world, present(rounds[from]));
  for (let requests = 1; ; requests++) {
    const proof = await buildProof(snapshot, network, { block, checkpoint: checkpoint.height });
    const verdict = verifyProof({ ...proof, ids: idsOf(height) }, checkpoint, {
      nowMs: world.unixMs(head.slot),
    });
    if (verdict.verdict === "refused") return { ...verdict, requests };
    if (verdict.verdict === "final" || verdict.checkpoint.height === checkpoint.height) {
      return { ...verdict, requests };
    }
    checkpoint = verdict.checkpoint;
  }
}

const idsOf = (height: number): string[] => present(chain[height - firstHeight]).transactions.map(idOf);

test("Blocks are final with every older checkpoint, in a few requests of bounded cost.", async () => {
  let most = 0;
  for (let index = 0; index < 60; index++) {
    const from = random.below(ROUNDS - 10);
    const height = firstHeight + SIZE * from + random.below(SIZE * (ROUNDS - from - 4));
    reads = 0;
    const verdict = await proveFrom(height, from);
    expect(verdict, `${height} from round ${from}`).toMatchObject({ verdict: "final" });
    most = Math.max(most, verdict.requests);
    expect(reads / verdict.requests).toBeLessThan(4 * 12 * 3 * SIZE);
  }
  expect(most).toBeGreaterThan(1);
});

test("Headers lead from a block to the checkpoint above it, if its delegates have changed since.", async () => {
  const from = ROUNDS - 10;
  const checkpoint = checkpointOf(world, present(rounds[from]));
  const distant = await proveFrom(checkpoint.height - 400, from);
  expect(distant).toMatchObject({ verdict: "final", checkpoint });
  // Beyond the maximum, only three rounds of headers are returned.
  expect(await proveFrom(checkpoint.height - 600, from)).toMatchObject({ verdict: "included", signers: 0 });
});

test("A checkpoint that is older than a week is renewed, even if the block is final without it.", async () => {
  const from = ROUNDS - 20;
  const checkpoint = checkpointOf(world, present(rounds[from]));
  const block = toStored(present(chain[checkpoint.height + 1 - firstHeight]));
  const { timestamp } = toStored(present(chain[checkpoint.height - firstHeight]));
  const advancesAfter = async (days: number) => {
    const aged = { ...snapshot, head: { ...snapshot.head, timestamp: timestamp + days * 86_400 } };
    return present(await buildProof(aged, network, { block, checkpoint: checkpoint.height })).advances;
  };
  expect(await advancesAfter(7)).toEqual([]);
  expect(await advancesAfter(8)).toHaveLength(1);
});
