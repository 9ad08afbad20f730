import type { Block, BlockHeader } from "@uniknode/protocol";
import { beforeEach, expect, test } from "vitest";
import type { ChainChange } from "../../../src/chain/outcome.ts";
import { Subscribers } from "../../../src/platform/notifier.ts";
import type { PoolEvent } from "../../../src/pool/events.ts";
import { connectParts } from "../../../src/processes/node/node.ts";

const errors: unknown[] = [];
const chain = new Subscribers<ChainChange>((error) => void errors.push(error));
const pool = new Subscribers<PoolEvent>();
const headers = new Subscribers<BlockHeader>();
const calls: string[] = [];
const call = (text: string) => void calls.push(text);
let isPoolBroken = false;

connectParts({
  chain,
  pool: {
    blocksReverted: (transactions) => call(`pool: ${transactions.length} returned`),
    blockApplied: (_, addresses) => {
      if (isPoolBroken) throw new Error("a wallet cannot be read");
      call(`pool: applied, changed ${[...addresses]}`);
    },
  },
  subscribeToPool: (listener) => pool.subscribe(listener),
  subscribeToHeaders: (listener) => headers.subscribe(listener),
  forging: {
    blockApplied: ({ height }) => call(`forging: applied ${height}`),
    blockArrived: ({ height }) => call(`forging: arrived ${height}`),
    forger: { demand: () => call("forger: demand") },
  },
  facts: { chainChanged: ({ applied }) => call(`facts: ${applied.length} applied`) },
  grown: { notify: () => call("readers: notified") },
});

beforeEach(() => void calls.splice(0));

const header = (height: number) => ({ height }) as BlockHeader;
const applied = (height: number, ...addresses: string[]) => ({
  block: { header: header(height), transactions: [] } as Block,
  changes: [
    ...addresses.map((key) => ({ table: "wallets" as const, key, before: undefined, after: undefined })),
    { table: "rounds" as const, key: "1", before: undefined, after: undefined },
  ],
});

test("A commit goes to the pool, then to the forger, and then to the readers of events and of facts.", () => {
  const blocks = [applied(5, "A", "B"), applied(6)];
  chain.notify({ head: header(6), applied: blocks, revertedBlocks: 2, returned: [] });
  expect(calls).toEqual([
    "pool: 0 returned",
    "pool: applied, changed A,B",
    "pool: applied, changed ",
    "forging: applied 5",
    "forging: applied 6",
    "readers: notified",
    "facts: 2 applied",
  ]);
});

test("A pool that fails does not keep a commit from the others.", () => {
  isPoolBroken = true;
  chain.notify({ head: header(5), applied: [applied(5)], revertedBlocks: 0, returned: [] });
  isPoolBroken = false;
  expect(errors).toEqual([new Error("a wallet cannot be read")]);
  expect(calls).toEqual(["forging: applied 5", "readers: notified", "facts: 1 applied"]);
});

test("A commit that reverts nothing returns nothing to the pool.", () => {
  chain.notify({ head: header(5), applied: [], revertedBlocks: 0, returned: [] });
  expect(calls).toEqual(["readers: notified", "facts: 0 applied"]);
});

test("Only a new transaction in the pool demands a block.", () => {
  pool.notify({ name: "transaction.pool.rejected", rejected: [] });
  expect(calls).toEqual([]);
  pool.notify({ name: "transaction.pool.added", transactions: [] });
  expect(calls).toEqual(["forger: demand"]);
});

test("A header of another node reaches the watch for other forgers.", () => {
  headers.notify(header(9));
  expect(calls).toEqual(["forging: arrived 9"]);
});
