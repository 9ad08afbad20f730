/** Past events from the database of a mirror equal those from the database of its node at the same head. */
import { setImmediate } from "node:timers/promises";
import { type BlockHeader, createNetwork, type Network } from "@uniknode/protocol";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { type History, isRemembered } from "../../src/event-log/history.ts";
import type { PastFact } from "../../src/event-log/past-facts.ts";
import { blockOf, PostgresHistory, type Run, Runs } from "../../src/event-log/postgres/history.ts";
import { SqlitePastEvents, toHistory } from "../../src/event-log/sqlite/history.ts";
import { EVENTS } from "../../src/events/catalogue.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import { createReadTogether, openDatabase } from "../../src/store/engine/database.ts";
import { forgeEveryType } from "../../test-support/chain/every-type.ts";
import {
  blocksOf,
  CHAINS,
  type OpenChain,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { network as devNetwork } from "../../test-support/chain/forking.ts";
import { buildMirror } from "../../test-support/mirror/build.ts";
import { changeRows } from "../../test-support/mirror/changed-rows.ts";
import { followTo } from "../../test-support/mirror/following.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

type Histories = {
  readonly node: OpenChain;
  readonly sqlite: History;
  readonly postgres: Postgres;
  readonly network: Network;
  /** Follows the node. */
  follow(): Promise<void>;
};

/** Mirrors the chain of a node; everything is closed at the end of the test. */
async function mirror(node: OpenChain, path: string, network: Network): Promise<Histories> {
  const reader = openDatabase(path, { readonly: true });
  const postgres = await databases.connect();
  const built = await buildMirror(postgres, path, network);
  onTestFinished(async () => {
    built.close();
    reader.close();
    await postgres.close();
  });
  return {
    ...{ node, postgres, network },
    sqlite: toHistory(new SqlitePastEvents(reader, network), createReadTogether(reader)),
    follow: () =>
      followTo(node.chain.head().id, {
        ...{ postgres, network, epoch: built.epoch, feed: built.feed, undoDepth: 10_000 },
        signal: new AbortController().signal,
        onHead: () => {},
        onFacts: () => {},
        logger: pino({ level: "silent" }),
      }),
  };
}

/** Path of a database; its node is closed at the end of the test. */
function temporaryPath(): string {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  return `${folder.path}/node.sqlite`;
}

/** @param followed blocks that the mirror follows after it was built: it can revert only these */
async function everyType(followed = 0) {
  const path = temporaryPath();
  const node = await forgeEveryType(path);
  onTestFinished(node.close);
  const histories = await mirror(node, path, node.network);
  await node.forge(followed);
  await histories.follow();
  return { ...histories, forge: node.forge, forgePayments: node.forgePayments };
}

/** Every height, and two on either side without a block. */
const around = (head: number): number[] => Array.from({ length: head + 4 }, (_, index) => index - 1);

/** Compares the events at all heights, in an order; returns their names. */
async function expectEqual(
  { sqlite }: Pick<Histories, "sqlite">,
  postgres: History,
  order: (heights: number[]) => number[] = (heights) => heights,
): Promise<Set<string>> {
  const head = await sqlite.head();
  expect(await postgres.head()).toBe(head);
  const names = new Set<string>();
  for (const height of order(around(head))) {
    const events = await sqlite.eventsAt(height);
    expect(JSON.stringify(await postgres.eventsAt(height)), `height ${height}`).toBe(JSON.stringify(events));
    for (const { name } of events) names.add(name);
  }
  return names;
}

const descending = (heights: number[]) => heights.toReversed();
/** Far from the height of the previous call. */
const scattered = (heights: number[]) => heights.toSorted((a, b) => (a % 60) - (b % 60));

describe.skipIf(!hasPostgres)("past events in PostgreSQL", () => {
  test.each(CHAINS)("Past events in PostgreSQL equal those in SQLite: %s.", async (name) => {
    const path = temporaryPath();
    const content = readChain(name);
    const node = openChain(content, path);
    onTestFinished(node.close);
    await node.chain.accept(blocksOf(content));
    const histories = await mirror(node, path, createNetwork(content.network));
    const history = new PostgresHistory(histories.postgres, histories.network);
    await expectEqual(histories, history);
    // From the cache.
    await expectEqual(histories, history, scattered);
  });

  test("Past events in PostgreSQL equal those in SQLite for all types, missed slots and missed rounds, in any order.", async () => {
    const histories = await everyType();
    const types = "SELECT count(DISTINCT (type_group, type)) AS count FROM transactions";
    expect(await histories.postgres.query(types)).toEqual([{ count: "25" }]);
    for (const order of [undefined, descending, scattered]) {
      const history = new PostgresHistory(histories.postgres, histories.network);
      const names = await expectEqual(histories, history, order);
      expect([...names].sort()).toEqual(Object.keys(EVENTS).filter(isRemembered).sort());
    }
  });

  test("Past events in PostgreSQL are those of the branch of the head, after reorganisations of any depth.", async () => {
    const histories = await everyType(60);
    const { node, follow, forge } = histories;
    const history = new PostgresHistory(histories.postgres, histories.network);
    await expectEqual(histories, history);
    for (const [index, depth] of [1, 2, 12, 60].entries()) {
      const { height } = node.chain.head();
      await node.chain.revertTo(height - depth);
      await follow();
      await expectEqual(histories, history);
      await forge(depth + 1, index + 1);
      await follow();
      await expectEqual(histories, history, index % 2 ? descending : undefined);
    }
  });

  test("Past events in PostgreSQL are those of one branch if the head switches meanwhile, and then of the other one.", async () => {
    const histories = await everyType(3);
    const { node, sqlite, postgres, follow, forge } = histories;
    const { height } = node.chain.head();
    const before = await sqlite.eventsAt(height - 1);
    let reads = 0;
    const switching: Pick<Postgres, "query" | "reads"> = {
      query: postgres.query,
      async reads(limits, work) {
        const result = await postgres.reads(limits, work);
        if (++reads === 1) {
          await node.chain.revertTo(height - 3);
          await forge(2, 1);
          await follow();
        }
        return result;
      },
    };
    const history = new PostgresHistory(switching, histories.network);
    expect(await history.eventsAt(height - 1)).toEqual(before);
    await setImmediate();
    const after = await history.eventsAt(height - 1);
    expect(after).not.toEqual(before);
    expect(after).toEqual(await sqlite.eventsAt(height - 1));
    // The new branch is shorter.
    expect(await history.eventsAt(height)).toEqual([]);
    await expectEqual(histories, history);
  });

  test("Past events in PostgreSQL contain the usernames of delegates.", async () => {
    const histories = await everyType();
    const change = "UPDATE wallets SET username = username || ' of today' WHERE username IS NOT NULL";
    histories.node.database.execute(change);
    await histories.postgres.query(change);
    const history = new PostgresHistory(histories.postgres, histories.network);
    await expectEqual(histories, history);
    const [event] = (await history.eventsAt(5)).filter(({ name }) => name === "round.created");
    expect(JSON.stringify(event)).toContain(" of today");
  });

  test("Past events are read in runs of blocks, in both directions; a run in the cache costs one statement.", async () => {
    const histories = await everyType(150);
    const head = await histories.sqlite.head();
    const calls = { reads: 0, query: 0 };
    const counting: Pick<Postgres, "query" | "reads"> = {
      query(sql, values) {
        calls.query++;
        return histories.postgres.query(sql, values);
      },
      reads(limits, work) {
        calls.reads++;
        return histories.postgres.reads(limits, work);
      },
    };
    const run = async (history: History, order?: (heights: number[]) => number[]) => {
      Object.assign(calls, { reads: 0, query: 0 });
      await expectEqual(histories, history, order);
      return { ...calls };
    };
    const runsOf = (blocks: number) => Math.ceil(blocks / 100);
    const history = new PostgresHistory(counting, histories.network);
    // Each height without a block is read alone. One statement reads the head.
    expect(await run(history)).toEqual({ reads: runsOf(head) + 4, query: 1 });
    await setImmediate();
    expect(await run(history)).toEqual({ reads: 4, query: 1 + runsOf(head) });
    // The first call does not know the direction.
    const other = new PostgresHistory(counting, histories.network);
    expect(await run(other, descending)).toEqual({ reads: 1 + runsOf(head - 1) + 4, query: 1 });
  });

  test("Past events in PostgreSQL equal those in SQLite if few blocks have as many transactions as a range.", async () => {
    const histories = await everyType();
    for (let block = 0; block < 4; block++) await histories.forgePayments(260);
    await histories.forge(3);
    await histories.follow();
    for (const order of [undefined, descending]) {
      await expectEqual(histories, new PostgresHistory(histories.postgres, histories.network), order);
    }
  });

  test("Past events in PostgreSQL are not derived while the mirror is being built.", async () => {
    const histories = await everyType();
    const { postgres, network } = histories;
    const history = new PostgresHistory(postgres, network);
    expect(await history.eventsAt(2)).not.toEqual([]);
    await postgres.query("UPDATE head SET phase = 'blocks'");
    const building = { name: "HistoryError", code: "HISTORY_BUILDING", isRetryable: true };
    await expect(history.head()).rejects.toMatchObject(building);
    await expect(history.eventsAt(2)).rejects.toMatchObject(building);
    await expect(history.eventsAt(1_000)).rejects.toMatchObject(building);
    await expect(new PostgresHistory(postgres, network).eventsAt(2)).rejects.toMatchObject(building);
    await postgres.query("UPDATE head SET phase = 'ready'");
    await expectEqual(histories, history);
  });

  test("Past events do not exist in a database without a mirror, or that cannot be reached.", async () => {
    const postgres = await databases.connect();
    await migrate(postgres);
    const history = new PostgresHistory(postgres, devNetwork);
    await expect(history.head()).rejects.toMatchObject({ code: "HISTORY_BUILDING" });
    await expect(history.eventsAt(1)).rejects.toMatchObject({ code: "HISTORY_BUILDING" });
    await postgres.close();
    const unreadable = { code: "HISTORY_UNREADABLE", isRetryable: true };
    await expect(history.head()).rejects.toMatchObject(unreadable);
    await expect(history.eventsAt(1)).rejects.toMatchObject(unreadable);
  });

  test("Past events in PostgreSQL cannot be read if a row is damaged; the error names the block.", async () => {
    const { postgres, network } = await everyType();
    for (const [change, height] of [
      ["DELETE FROM blocks WHERE height = 7", 7],
      ["UPDATE blocks SET header = '\\x0102' WHERE height = 8", 8],
      ["UPDATE transactions SET bytes = '\\xff' WHERE height = 3", 3],
    ] as const) {
      await using _restored = await changeRows(postgres, change);
      await expect(new PostgresHistory(postgres, network).eventsAt(height)).rejects.toMatchObject({
        code: "HISTORY_DAMAGED",
        isRetryable: false,
        message: expect.stringMatching(
          `cannot read block ${height} .* start the mirror with an empty database`,
        ),
      });
    }
  });
});

test("Runs are cached up to a number of facts; those that were added first are removed.", () => {
  const runOf = (first: number, last: number, facts: number): Run => ({
    blocks: Array.from({ length: last - first + 1 }, (_, index) => ({
      header: { height: first + index } as BlockHeader,
      facts: Array.from({ length: facts }) as PastFact[],
    })),
    usernames: new Map(),
  });
  const runs = new Runs(10);
  const [low, high, both] = [runOf(1, 2, 2), runOf(5, 6, 2), runOf(2, 3, 1)];
  runs.add(low);
  runs.add(high);
  expect([0, 1, 2, 3, 5, 6, 7].map((height) => runs.at(height))).toEqual([
    undefined,
    low,
    low,
    undefined,
    high,
    high,
    undefined,
  ]);
  expect([blockOf(high, 6), blockOf(high, 7)]).toEqual([high.blocks[1], undefined]);
  runs.add(both);
  expect([1, 2, 3].map((height) => runs.at(height))).toEqual([low, both, both]);
  runs.remove(both);
  expect([1, 2, 3].map((height) => runs.at(height))).toEqual([low, low, undefined]);
  runs.add(both);
  runs.add(runOf(9, 9, 1));
  expect([1, 2, 5].map((height) => runs.at(height))).toEqual([undefined, both, high]);
  runs.add(runOf(10, 10, 11));
  expect([2, 5, 9, 10].map((height) => runs.at(height))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
