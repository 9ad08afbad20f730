/** Consensus, pool and forging of a node over one data base, as the composition root builds them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockToJson,
  builders,
  bytesOfBlock,
  genesisBlockFromJson,
  transactionToJson,
} from "@uniknode/protocol";
import { pino } from "pino";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Pin } from "../../../src/chain/assumption.ts";
import { seal } from "../../../src/dev-chain/network.ts";
import { SigningRecordError } from "../../../src/forger/signing/signing-file.ts";
import { soloTiming } from "../../../src/forger/slot-state.ts";
import type { Closing } from "../../../src/platform/lifecycle/closing.ts";
import { present } from "../../../src/platform/present.ts";
import { deadlineIn } from "../../../src/platform/threads/call.ts";
import { DEFAULT_POOL_OPTIONS } from "../../../src/pool/pool-options.ts";
import { createConsensus, createNodePool } from "../../../src/processes/node/core.ts";
import { openNodeEventLog } from "../../../src/processes/node/event-log.ts";
import { createNodeForging, createSubmitBlock } from "../../../src/processes/node/forging.ts";
import { createEnvironment } from "../../../src/processes/node/node-options.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { createWriteState, Writes } from "../../../src/store/engine/writes.ts";
import { SlotStore } from "../../../src/store/node/slots.ts";
import { cast, dev } from "../../../test-support/chain/forking.ts";

let closing: string[];
beforeEach(() => {
  closing = [];
});

type Given = { readonly assumeValid?: Pin; readonly signingRecord?: string; readonly database?: Database };

function open({ assumeValid, signingRecord, database = openDatabase(":memory:") }: Given = {}) {
  const onStop: Closing["add"] = (name, close) => {
    closing.push(name);
    onTestFinished(() => void close(deadlineIn(0)));
  };
  migrate(database);
  let nowMs = Date.now();
  const environment = createEnvironment({
    files: dev.files,
    nowMs: () => nowMs,
    logger: pino({ level: "silent" }),
  });
  const eventLog = openNodeEventLog(
    { webhooks: "off", feedBlocks: 0 },
    { database, logger: environment.logger },
    onStop,
  );
  eventLog.subscribedEvents.streamsChanged(["forger.failed"]);
  const parts = { ...environment, ...eventLog, database };
  const genesis = genesisBlockFromJson(blockToJson(dev.block), environment.network);
  const { chain, verifier, signatures } = createConsensus(
    { assumeValid, feedBlocks: 0, history: undefined },
    { ...parts, genesis },
    onStop,
  );
  const { pool, subscribeToPool } = createNodePool(
    DEFAULT_POOL_OPTIONS,
    { ...parts, chain, verifier, signatures },
    onStop,
  );
  const forging = createNodeForging(
    {
      timing: soloTiming,
      isOnDemand: false,
      signingRecord,
      watchRounds: undefined,
      delegates: new Map(cast.founders.map(({ publicKey, keys }) => [publicKey, keys])),
    },
    {
      ...parts,
      writes: new Writes(createWriteState()),
      chain,
      pool,
      peers: undefined,
      submitBlock: createSubmitBlock({ chain, peers: undefined, ...eventLog }),
      readiness: { reached: Promise.resolve() },
    },
    onStop,
  );
  const { forger } = forging;
  const { slots } = environment;
  return {
    ...parts,
    chain,
    pool,
    subscribeToPool,
    forging,
    advance(ms: number) {
      nowMs += ms;
    },
    /** Forges in the next slot of this node, as soon as it has started. */
    async forgeNext() {
      const slot = present(forger.nextSlot());
      nowMs = Math.max(nowMs, slots.unixMsOf(slots.slotTime(slot)));
      return forger.forgeSlot(slot);
    },
  };
}

test("The parts start at the genesis block and are closed in reverse, the chain before its verifier.", () => {
  const { chain, network } = open();
  expect(chain.head()).toMatchObject({ height: 1, payloadHash: network.description.nethash });
  expect(closing).toEqual(["event retention", "verifier", "chain", "pool", "signing record", "clock"]);
});

test("A forged block includes the pool's transactions and becomes the head.", async () => {
  const { chain, forging, pool, forgeNext } = open();
  expect(pool.select()).toEqual([]);
  const { header } = await forgeNext();
  expect(chain.head()).toEqual(header);
  expect(forging.figures()).toMatchObject({ forged: 1, missed: 0, keysUsedElsewhere: 0 });
});

test("A pending transaction is logged before other subscribers are notified, and fills the next block.", async () => {
  const { network, chain, pool, subscribeToPool, subscribedEvents, events, forgeNext } = open();
  // Version 2 is in force above the second block.
  await forgeNext();
  subscribedEvents.streamsChanged(["transaction.pool.added"]);
  const notified: [name: string, sequence: number][] = [];
  subscribeToPool(({ name }) => notified.push([name, events.lastSequence()]));
  const [sender, recipient] = cast.accounts;
  const body = builders.transfer({
    network,
    senderPublicKey: present(sender).publicKey,
    nonce: 1n,
    amount: 5n,
    recipientId: present(recipient).address,
  });
  const { data } = seal(body, present(sender));
  const result = await pool.submit([transactionToJson(data)]);
  expect(result.data.accept).toEqual([data.id]);
  expect(notified).toEqual([["transaction.pool.added", 1]]);
  expect(pool.select().map((transaction) => transaction.data.id)).toEqual([data.id]);
  const { header } = await forgeNext();
  expect(chain.head()).toMatchObject({ id: header.id, numberOfTransactions: 1 });
});

test("A clock that is days ahead for some minutes drops no event of a block at the head.", async () => {
  const block = await open().forgeNext();
  const { chain, events, subscribedEvents, advance } = open();
  subscribedEvents.streamsChanged(["block.applied"]);
  advance(2 * 86_400_000);
  await chain.acceptFetched([bytesOfBlock(block)]);
  expect(events.read(0, 9).map(({ name, blockId }) => [name, blockId])).toEqual([
    ["block.applied", block.header.id],
  ]);
});

test("A forger that cannot start is an event, which the next start delivers.", () => {
  const database = openDatabase(":memory:");
  const signingRecord = mkdtempSync(join(tmpdir(), "uniknode-signing-record-"));
  onTestFinished(() => rmSync(signingRecord, { recursive: true }));
  expect(() => open({ database, signingRecord })).toThrow(SigningRecordError);
  expect(database.prepare("SELECT name, data FROM events").all()).toEqual([
    { name: "forger.failed", data: expect.stringContaining(signingRecord) },
  ]);
});

test("A node with unchecked signatures in its chain does not forge.", async () => {
  const other = open();
  const block = await other.forgeNext();
  const { chain, forging, database, advance } = open({ assumeValid: { height: 10, id: "ab".repeat(32) } });
  const { forger } = forging;
  onTestFinished(() => forger.stop());
  await chain.acceptFetched([bytesOfBlock(block)]);
  expect(chain.assumption().uncheckedFrom).toBe(2);
  forger.start();
  const slots = new SlotStore(database);
  const reasons = () => {
    advance(100);
    return slots.missed(100).map(({ reason }) => reason);
  };
  const expected = expect.stringContaining("until block 10 of --assume-valid");
  await expect.poll(reasons).toContainEqual(expected);
  expect(forging.figures().forged).toBe(0);
});
