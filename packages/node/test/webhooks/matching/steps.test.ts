/** Deliveries do not depend on how the log is divided into steps, nor on restarts between them. */
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../../../src/events/catalogue.ts";
import {
  always,
  createService,
  createTestClock,
  databasePath,
  type Service,
} from "../../../test-support/webhooks/support.ts";

type Block = { readonly height: number; readonly blockId: string };

const transactionApplied = ({ height, blockId }: Block): Event => ({
  id: `transaction.applied:${blockId}:0`,
  name: "transaction.applied",
  ...{ height, blockId },
  data: { id: `t${blockId}` },
});
const walletSaved = ({ height, blockId }: Block): Event => ({
  id: `wallet.saved:${blockId}:A`,
  name: "wallet.saved",
  ...{ height, blockId },
  data: { address: "A" },
});
const blockApplied = ({ height, blockId }: Block): Event => ({
  id: `block.applied:${blockId}`,
  name: "block.applied",
  ...{ height, blockId },
  data: { id: blockId, height },
});
const retraction = (fact: Event, name: string): Event => ({
  ...fact,
  id: `${name}:${fact.id}`,
  name,
  reverts: fact.id,
});

const eventsOf = (block: Block): Event[] => [
  transactionApplied(block),
  walletSaved(block),
  blockApplied(block),
];
const revertsOf = (block: Block): Event[] => [
  retraction(transactionApplied(block), "transaction.reverted"),
  retraction(blockApplied(block), "block.reverted"),
  retraction(walletSaved(block), "wallet.saved"),
];

/** `undo`: number of blocks to revert; `isSame`: whether the next block is the one that was reverted last. */
const change = fc.record({ undo: fc.integer({ min: 0, max: 3 }), isSame: fc.boolean() });

/** Returns the events of a chain that grows by a block with each change. */
function logOf(changes: readonly { readonly undo: number; readonly isSame: boolean }[]): Event[] {
  const chain: Block[] = [];
  const log: Event[] = [];
  for (const [index, { undo, isSame }] of changes.entries()) {
    const reverted = chain.splice(Math.max(0, chain.length - undo)).reverse();
    log.push(...reverted.flatMap(revertsOf));
    const height = chain.length + 1;
    const before = reverted.at(-1);
    const block = isSame && before ? before : { height, blockId: `b${height}.${index}` };
    chain.push(block);
    log.push(...eventsOf(block));
  }
  return log;
}

const WEBHOOKS = [
  { events: ["*"] },
  { events: ["transaction.applied"], confirmations: 1 },
  { confirmations: 3 },
  { events: ["block.reverted", "wallet.saved"], confirmations: 2 },
  { event: "block.reverted" },
  { event: "wallet.saved", order: "strict" },
];

/** Returns what every delivery contains, by webhook and sequence. */
const deliveriesOf = ({ database }: Service): unknown[] =>
  database
    .prepare(
      `SELECT webhook, sequence, id, deliveries.event, height, block_id, reverts, data
       FROM deliveries JOIN contents ON contents.number = content ORDER BY webhook, sequence`,
    )
    .all();

async function register({ webhooks }: Service, list: readonly object[]): Promise<void> {
  for (const fields of list) await webhooks.register.create({ ...always(), ...fields });
}

async function finish({ eventLog, database, webhooks, clock }: Service): Promise<void> {
  const waiting = database.prepare("SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT 1");
  webhooks.notify();
  for (let turn = 0; turn < 1_000; turn++) {
    await clock.advance(5);
    if (eventLog.cursor("webhooks") === eventLog.lastSequence() && !waiting.get()) return;
  }
  throw new Error("events remain");
}

test("A log that is matched event by event, at once, or with restarts gives the same deliveries.", async () => {
  const property = fc.asyncProperty(
    fc.array(change, { minLength: 1, maxLength: 8 }),
    fc.array(fc.nat(), { maxLength: 3 }),
    fc.subarray(WEBHOOKS, { minLength: 1 }),
    async (changes, cuts, list) => {
      const log = logOf(changes);
      const stepwise = createService();
      await register(stepwise, list);
      for (const event of log) await stepwise.emit(event);
      await finish(stepwise);

      const atOnce = createService();
      await register(atOnce, list);
      await atOnce.emit(...log);
      await finish(atOnce);

      const options = { path: databasePath(), clock: createTestClock() };
      let restarted = createService(options);
      await register(restarted, list);
      restarted.database.transaction(() => restarted.eventLog.append(log));
      for (const cut of cuts) {
        restarted.webhooks.notify();
        for (let turn = 0; turn < cut % 8; turn++) await setImmediate();
        await restarted.close();
        restarted = createService(options);
      }
      await finish(restarted);

      const expected = deliveriesOf(stepwise);
      expect(deliveriesOf(atOnce)).toEqual(expected);
      expect(deliveriesOf(restarted)).toEqual(expected);
      for (const service of [stepwise, atOnce, restarted]) await service.close();
    },
  );
  await fc.assert(property, { numRuns: 15 });
});
