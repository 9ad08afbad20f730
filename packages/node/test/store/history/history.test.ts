/** The state at every height is that of a chain that ends there, whatever was reverted in between (decision 69). */
import { createNetwork } from "@uniknode/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Range } from "../../../src/read/page.ts";
import { TimeBox } from "../../../src/read/sqlite/lists/time-box.ts";
import { createQueries } from "../../../src/read/sqlite/read-model.ts";
import type { Database } from "../../../src/store/engine/database.ts";
import { hasHistory } from "../../../src/store/history/writer.ts";
import {
  blocksOf,
  CHAINS,
  type Content,
  dumpOf,
  type OpenChain,
  openChain,
  readChain,
  temporaryFolder,
} from "../../../test-support/chain/fixtures.ts";
import { headOf } from "../../../test-support/read/head.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

function queriesOf(content: Content, database: Database) {
  const time = new TimeBox(600_000);
  time.begin();
  const network = createNetwork(content.network);
  return createQueries({}, { database, network, time, head: headOf(database) });
}

const columnOf = (database: Database, sql: string) =>
  database
    .prepare<{ value: string }>(sql)
    .all()
    .map(({ value }) => value);

/** Names of everything that the chain ever contained. */
const namesIn = (database: Database) => ({
  wallets: [
    ...columnOf(database, "SELECT address AS value FROM wallets"),
    ...columnOf(database, "SELECT public_key AS value FROM wallets WHERE public_key IS NOT NULL"),
    ...columnOf(database, "SELECT username AS value FROM wallets WHERE username IS NOT NULL"),
  ],
  tokens: columnOf(database, "SELECT DISTINCT token AS value FROM properties UNION SELECT id FROM tokens"),
});
type Names = ReturnType<typeof namesIn>;
type Queries = ReturnType<typeof queriesOf>;

/** The present state through the queries of the present. */
function presentState({ wallets, tokens, delegates, chain: totals }: Queries, names: Names) {
  return {
    wallets: names.wallets.map((name) => [name, wallets.find(name)]),
    secondKeys: names.wallets.filter((address) => wallets.hasSecondKey(address)),
    tokens: names.tokens.map((token) => [token, tokens.find(token), tokens.properties(token, ALL)]),
    delegates: delegates.all(),
    totalSupply: totals.supply() + totals.lockedSupply(),
  };
}

/** The same state, read at a height. */
function stateAt({ history }: Queries, names: Names, height: number) {
  const { wallets, tokens, delegates, totalSupply } = history.at(height);
  return {
    wallets: names.wallets.map((name) => [name, wallets.find(name)]),
    secondKeys: names.wallets.filter((address) => wallets.hasSecondKey(address)),
    tokens: names.tokens.map((token) => [token, tokens.find(token), tokens.properties(token, ALL)]),
    delegates: delegates.all(),
    totalSupply: totalSupply(),
  };
}

const ALL = { offset: 0, limit: 1_000 };

/** The chain whose state is compared at every height; that of the random ones is compared at every fifth. */
const EVERY_HEIGHT = "chain-1";

/** Numbers in [0, 1) that a seed determines. */
function randomFrom(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value * 48271) % 2147483647;
    return value / 2147483647;
  };
}

const openRecording = (content: Content, path: string) => openChain(content, path, { recordsHistory: true });

/** Accepts the blocks in batches of random length, with reverts and switches of random depth between them. */
async function wander({ chain }: OpenChain, blocks: readonly Uint8Array[], random: () => number) {
  const upTo = (limit: number) => 1 + Math.floor(random() * limit);
  while (chain.head().height <= blocks.length) {
    const { height } = chain.head();
    await chain.accept(blocks.slice(height - 1, height - 1 + upTo(7)));
    const top = chain.head().height;
    const target = Math.max(1, top - upTo(9));
    if (random() < 0.2 && top > 1) await chain.revertTo(target);
    else if (random() < 0.2 && top <= blocks.length)
      await chain.switchTo(target, blocks.slice(target - 1, top));
  }
}

describe.each(CHAINS)("%s with its history", (name) => {
  const content = readChain(name);
  const blocks = blocksOf(content);

  test("A chain with its history has the state of its heights, after reverts and switches.", async () => {
    const whole = openChain(content, ":memory:");
    await whole.chain.accept(blocks);
    const names = namesIn(whole.database);
    await whole.close();

    const wandering = openRecording(content, `${folder.path}/wandering.sqlite`);
    await wander(wandering, blocks, randomFrom(name.length * 977 + blocks.length));
    const replayed = openChain(content, ":memory:");
    const past = queriesOf(content, wandering.database);
    const now = queriesOf(content, replayed.database);
    const step = name === EVERY_HEIGHT ? 1 : 5;
    for (let height = 1; height <= blocks.length + 1; height += step) {
      const expected = presentState(now, names);
      expect(stateAt(past, names, height), `at ${height}`).toEqual(expected);
      await replayed.chain.accept(blocks.slice(height - 1, height - 1 + step));
    }
    await replayed.close();

    const straight = openRecording(content, ":memory:");
    await straight.chain.accept(blocks);
    expect(dumpOf(wandering.database)).toEqual(dumpOf(straight.database));
    await straight.close();
    await wandering.close();
  });

  test("A chain with its history lists the balance after each block that changed a wallet.", async () => {
    const open = openRecording(content, ":memory:");
    await open.chain.accept(blocks);
    const { history } = queriesOf(content, open.database);
    const head = open.chain.head();
    const order = { field: "height", direction: "desc" } as const;
    for (const address of columnOf(open.database, "SELECT address AS value FROM wallets")) {
      const pageOf = (filter: object, range: Range) => history.balances({ address, ...filter }, order, range);
      const { rows, totalCount } = pageOf({}, { offset: 0, limit: 1_000 });
      expect(rows).toHaveLength(totalCount);
      for (const { height, balance } of rows) {
        expect(history.at(height).wallets.find(address)?.balance).toBe(balance);
        const only = { from: height, to: `${height}` };
        expect(pageOf(only, { offset: 0, limit: 2 }).rows.map((row) => row.height)).toEqual([height]);
      }
      // Between two of these blocks, the balance is constant.
      const changed = new Set(rows.map(({ height }) => height));
      let before = history.at(1).wallets.find(address)?.balance;
      for (let height = 2; height <= head.height; height++) {
        const balance = history.at(height).wallets.find(address)?.balance;
        if (before !== balance) expect(changed).toContain(height);
        before = balance;
      }
      let after: string | undefined;
      const walked = rows.flatMap(() => {
        const page = pageOf({}, { offset: 0, limit: 1, isWalk: true, ...(after && { after }) });
        after = page.next;
        return page.rows;
      });
      expect(walked.map(({ height }) => height)).toEqual(rows.map(({ height }) => height));
    }
    await open.close();
  });
});

describe("the history", () => {
  const content = readChain("chain-1");
  const blocks = blocksOf(content);
  const path = () => `${folder.path}/chain.sqlite`;
  const sinceOf = (database: Database) => queriesOf(content, database).history.since();

  test("The history begins with the first start that records it, and continues after further starts.", async () => {
    const silent = openChain(content, path());
    await silent.chain.accept(blocks.slice(0, 20));
    expect(hasHistory(silent.database)).toBe(false);
    await silent.close();
    for (const end of [40, 60]) {
      const open = openRecording(content, path());
      expect(sinceOf(open.database)).toBe(21);
      await open.chain.accept(blocks.slice(open.chain.head().height - 1, end));
      await open.close();
    }
    const open = openRecording(content, path());
    const names = namesIn(open.database);
    const replayed = openChain(content, ":memory:");
    await replayed.chain.accept(blocks.slice(0, 20));
    const past = queriesOf(content, open.database);
    const now = queriesOf(content, replayed.database);
    for (let height = 21; height <= 61; height++) {
      expect(stateAt(past, names, height)).toEqual(presentState(now, names));
      await replayed.chain.accept(blocks.slice(height - 1, height));
    }
    await replayed.close();
    await open.close();
  });

  test("The history begins again at the target of a revert below its beginning.", async () => {
    const silent = openChain(content, path());
    await silent.chain.accept(blocks.slice(0, 20));
    await silent.close();
    const open = openRecording(content, path());
    await open.chain.accept(blocks.slice(20, 30));
    await open.chain.revertTo(15);
    expect(sinceOf(open.database)).toBe(15);
    await open.chain.accept(blocks.slice(14, 30));
    const names = namesIn(open.database);
    const replayed = openChain(content, ":memory:");
    await replayed.chain.accept(blocks.slice(0, 17));
    const past = queriesOf(content, open.database);
    expect(stateAt(past, names, 18)).toEqual(presentState(queriesOf(content, replayed.database), names));
    await replayed.close();
    await open.close();
  });

  test("The history is removed by a start that does not record it.", async () => {
    const open = openRecording(content, path());
    await open.chain.accept(blocks.slice(0, 20));
    expect(present(sinceOf(open.database), "a beginning")).toBe(1);
    await open.close();
    const silent = openChain(content, path());
    expect(hasHistory(silent.database)).toBe(false);
    const left = ["history_wallets", "history_records"].map((table) =>
      silent.database.prepare(`SELECT 1 FROM ${table}`).get(),
    );
    expect(left).toEqual([undefined, undefined]);
    await silent.close();
  });
});
