/**
 * Signatures that are assumed to be valid up to a pinned block, and the handling of unchecked blocks
 * (decision 39).
 */

import { builders, type EncodedBlock, encodeBlock, keysFromPassphrase } from "@uniknode/protocol";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Assumption, type Pin, type PinNews, pinText } from "../../src/chain/assumption.ts";
import type { ChainOptions } from "../../src/chain/chain.ts";
import type { ChainChange } from "../../src/chain/outcome.ts";
import { seal } from "../../src/dev-chain/network.ts";
import { Growth } from "../../src/facts/growth.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import {
  blocksOf,
  CHAINS,
  dumpOf,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import {
  keysOf,
  network,
  openTestChain,
  range,
  rich,
  type TestChain,
} from "../../test-support/peers/chains.ts";

const LENGTH = 40;
/** Height of the block that its delegate has not signed. */
const FORGED = 15;
const OTHER_ID = "ab".repeat(32);
const ANYWHERE: Pin = { height: 10_000, id: OTHER_ID };
const thief = keysFromPassphrase("of no delegate").privateKey;

let folder: ReturnType<typeof temporaryFolder>;
let news: PinNews[];
let changes: ChainChange[];
/** Blocks signed by the right delegates. */
let honest: EncodedBlock[];
/** Same blocks up to the forged one, and other signed blocks from there on. */
let forged: EncodedBlock[];
let open: TestChain[];

beforeAll(async () => {
  const first = openTestChain();
  honest = await first.forge(...range(1, LENGTH - 1));
  await first.close();
  const second = openTestChain(":memory:", { deps: { assumeValid: ANYWHERE } });
  await second.chain.acceptFetched(bytesOf(honest.slice(0, FORGED - 2)));
  const { publicKey } = present(
    keysOf.get(second.make(FORGED).header.generatorPublicKey),
    "an entry of keysOf",
  );
  const unsigned = second.make(FORGED, { keys: { publicKey, privateKey: thief } as never });
  await second.chain.acceptFetched(bytesOf([unsigned]));
  const above = await second.forge(...range(FORGED + 1, LENGTH));
  forged = [...honest.slice(0, FORGED - 2), unsigned, ...above];
  await second.close();
});
beforeEach(() => {
  folder = temporaryFolder();
  news = [];
  changes = [];
  open = [];
});
afterEach(async () => {
  for (const chain of open) await chain.close();
  folder.remove();
});

const bytesOf = (blocks: readonly EncodedBlock[]) => blocks.map((block) => encodeBlock(block, network));
const pinOf = (blocks: readonly EncodedBlock[], height: number): Pin => ({
  height,
  id: present(blocks[height - 2], "an item of blocks").header.id,
});

function start(assumeValid?: Pin, options: Partial<ChainOptions> = {}): TestChain {
  const deps = { assumeValid, onPin: (item: PinNews) => void news.push(item) };
  const started = openTestChain(`${folder.path}/chain.sqlite`, { ...options, deps });
  open.push(started);
  started.chain.subscribe((change) => changes.push(change));
  return started;
}

async function stop(chain: TestChain): Promise<void> {
  await chain.close();
  open.splice(open.indexOf(chain), 1);
}

async function outcomesOf({ chain }: TestChain, blocks: readonly EncodedBlock[]): Promise<string[]> {
  const outcomes = await chain.acceptFetched(bytesOf(blocks));
  return [...new Set(outcomes.map(({ kind }) => kind))];
}

const payment = (sender: typeof rich) =>
  seal(
    builders.transfer({
      ...{ network, senderPublicKey: sender.publicKey, nonce: 1n, fee: 10_000_000n },
      ...{ recipientId: sender.address, amount: 1n },
    }),
    sender,
  );

const failure = { code: "CHAIN_PIN_FAILED", isRetryable: true };
const dump = <T>(read: (database: Database) => T): T => {
  const database = openDatabase(`${folder.path}/chain.sqlite`);
  const result = read(database);
  database.close();
  return result;
};
const dumpWithoutMeta = () => dump(dumpOf).filter((row) => !row.startsWith("meta "));

describe("up to the pinned block", () => {
  test("Up to the pin, a wrong signature is not detected, and above it every signature is checked.", async () => {
    const pin = pinOf(forged, 30);
    const own = start(pin);
    expect(await outcomesOf(own, forged)).toEqual(["Accepted"]);
    expect(own.chain.head().id).toBe(present(forged.at(-1), "the last of forged").header.id);
    expect(news).toEqual([{ kind: "reached", pin }]);
    expect(own.chain.assumption()).toEqual({ pin, uncheckedFrom: undefined });
    const keys = present(keysOf.get(own.make(LENGTH + 1).header.generatorPublicKey), "an entry of keysOf");
    const unsigned = own.make(LENGTH + 1, {
      keys: { publicKey: keys.publicKey, privateKey: thief } as never,
    });
    expect(await outcomesOf(own, [unsigned])).toEqual(["Rejected"]);
  });

  test("Up to the pin, everything else is checked: the delegate of the slot, and the chain of ids.", async () => {
    const own = start(ANYWHERE);
    await outcomesOf(own, honest.slice(0, 5));
    const stranger = keysFromPassphrase("of no delegate");
    expect(await outcomesOf(own, [own.make(6, { keys: stranger })])).toEqual(["Rejected"]);
    expect(await outcomesOf(own, [present(honest[7], "an item of honest")])).toEqual(["Unchained"]);
    expect(own.chain.head().height).toBe(6);
  });

  test("Up to the pin, a block that was posted or forged by this node is checked.", async () => {
    const own = start(pinOf(forged, 30));
    await outcomesOf(own, forged.slice(0, FORGED - 2));
    const [outcome] = await own.chain.accept(bytesOf([present(forged[FORGED - 2], "an item of forged")]));
    expect(outcome).toMatchObject({ kind: "Rejected", reason: "verification-failed" });
    expect(own.chain.head().height).toBe(FORGED - 1);
  });

  test("Up to the pin, the state is the same as with all checks.", async () => {
    const own = start(pinOf(honest, 30));
    await outcomesOf(own, honest);
    await stop(own);
    const assumed = dump(dumpOf);
    folder.remove();
    folder = temporaryFolder();
    const other = start();
    await outcomesOf(other, honest);
    await stop(other);
    expect(assumed).toEqual(dump(dumpOf));
  });

  test("Up to the pin, blocks that were reverted are no longer unchecked.", async () => {
    const own = start(ANYWHERE);
    await own.take(...honest.slice(0, 5));
    await outcomesOf(own, honest.slice(5, 10));
    expect(own.chain.assumption().uncheckedFrom).toBe(7);
    await own.chain.revertTo(8);
    expect(own.chain.assumption().uncheckedFrom).toBe(7);
    await own.chain.revertTo(6);
    expect(own.chain.assumption().uncheckedFrom).toBeUndefined();
  });

  test("Up to the pin, transactions of unchecked blocks do not return to the pool.", async () => {
    const own = start(ANYWHERE);
    await own.take(...honest.slice(0, 5));
    const transactions = [payment(rich), payment({ ...rich, keys: { ...rich.keys, privateKey: thief } })];
    await own.take(own.make(6, { transactions: [present(transactions[0], "an item of transactions")] }));
    await own.chain.revertTo(6);
    expect(changes.at(-1)?.returned).toHaveLength(1);
    const [good, wrong] = transactions.map((transaction) => own.make(6, { transactions: [transaction] }));
    expect(present(good, "good").header.id).not.toBe(present(wrong, "wrong").header.id);
    expect((await own.chain.accept(bytesOf([present(wrong, "wrong")])))[0]).toMatchObject({
      kind: "Rejected",
    });
    expect(await outcomesOf(own, [present(wrong, "wrong")])).toEqual(["Accepted"]);
    await own.chain.revertTo(6);
    expect(changes.at(-1)).toMatchObject({ revertedBlocks: 1, returned: [] });
  });
});

describe("if the chain has another block at the height of the pin", () => {
  const pin: Pin = { height: 30, id: OTHER_ID };

  test("Unchecked blocks below a wrong pin are discarded, and the bad chain is refused from then on.", async () => {
    const own = start(pin);
    await own.take(...honest.slice(0, 5));
    await outcomesOf(own, forged.slice(5, 20));
    await expect(own.chain.acceptFetched(bytesOf(forged.slice(20)))).rejects.toMatchObject(failure);
    expect(own.chain.head().id).toBe(present(honest[4], "an item of honest").header.id);
    expect(news).toEqual([{ kind: "failed", pin, height: 6 }]);
    expect(changes.at(-1)).toMatchObject({ revertedBlocks: 15, applied: [], returned: [] });
    expect(own.chain.assumption()).toEqual({ pin: undefined, uncheckedFrom: undefined });
    const outcomes = await own.chain.acceptFetched(bytesOf(forged.slice(5)));
    expect(outcomes[FORGED - 7]).toMatchObject({ kind: "Rejected", faults: [{ code: "signature" }] });
    expect(await outcomesOf(own, honest.slice(FORGED - 2))).toEqual(["Accepted"]);
  });

  test("A wrong pin is still refuted after the next start, and another one can be given.", async () => {
    const own = start(pin);
    await outcomesOf(own, forged.slice(0, 20));
    await expect(own.chain.acceptFetched(bytesOf(forged.slice(20)))).rejects.toMatchObject(failure);
    await stop(own);
    const again = start(pin);
    expect(again.chain.assumption().pin).toBeUndefined();
    expect(await outcomesOf(again, forged)).toEqual(["Accepted", "Rejected", "Skipped"]);
    await stop(again);
    const right = start(pinOf(honest, 30));
    expect(await outcomesOf(right, honest.slice(FORGED - 2))).toEqual(["Accepted"]);
    expect(news.at(-1)).toEqual({ kind: "reached", pin: pinOf(honest, 30) });
  });

  test("If undo records do not reach a wrong pin, everything except the genesis state is discarded.", async () => {
    const empty = start(pin);
    await stop(empty);
    dump((database) => {
      database.execute(
        `INSERT INTO meta VALUES ('webhookToken', 'kept');
         INSERT INTO forged_slots VALUES ('key', 7, 'block');
         INSERT INTO webhooks (events, target, enabled, conditions, match_all, strict, confirmations, token, active_after)
         VALUES ('[]', 'http://127.0.0.1', 1, '[]', 1, 0, 0, 'secret', 0);`,
      );
    });
    const before = dumpWithoutMeta();
    const own = start(pin, { undoDepth: 10 });
    await outcomesOf(own, forged.slice(0, 20));
    await expect(own.chain.acceptFetched(bytesOf(forged.slice(20)))).rejects.toMatchObject(failure);
    expect(own.chain.head().height).toBe(1);
    expect(news).toEqual([{ kind: "failed", pin, height: 1 }]);
    await stop(own);
    expect(dumpWithoutMeta()).toEqual(before);
    expect(
      dump((database) => [
        database.prepare("SELECT value FROM meta WHERE key = 'webhookToken'").get(),
        database.prepare("SELECT slot FROM forged_slots").get(),
        database.prepare("SELECT token FROM webhooks").get(),
      ]),
    ).toEqual([{ value: "kept" }, { slot: 7 }, { token: "secret" }]);
    const again = start(pin);
    expect(await outcomesOf(again, honest)).toEqual(["Accepted"]);
  });

  test("Nothing is discarded if the block of a wrong pin is in the same commit as all blocks below.", async () => {
    const own = start(pin);
    await own.take(...honest.slice(0, 5));
    await expect(own.chain.acceptFetched(bytesOf(forged.slice(5)))).rejects.toMatchObject(failure);
    expect(own.chain.head().height).toBe(6);
    expect(own.chain.assumption()).toEqual({ pin: undefined, uncheckedFrom: undefined });
    expect(news).toEqual([{ kind: "failed", pin, height: 6 }]);
  });

  test("Blocks that were queued before a wrong pin are not accepted unchecked after it.", async () => {
    const own = start(pin);
    await outcomesOf(own, forged.slice(0, 20));
    const above = own.chain.acceptFetched(bytesOf(forged.slice(20)));
    const again = own.chain.acceptFetched(bytesOf(forged));
    await expect(above).rejects.toMatchObject(failure);
    await expect(again).rejects.toMatchObject(failure);
    expect(own.chain.head().height).toBe(1);
  });

  test.each([10_000, 10])(
    "Nothing is lost if the disk fails while blocks are discarded, with undo of %i blocks.",
    async (undoDepth) => {
      const own = start(pin, { undoDepth });
      await outcomesOf(own, forged.slice(0, 20));
      // If undo records do not reach the first unchecked block, the decision is on disk before the removal.
      const decision = undoDepth === 10 ? [`meta failedPin ${pinText(pin)}`] : [];
      const before = [...dump(dumpOf), ...decision].sort();
      const { id } = own.chain.head();
      dump((database) =>
        database.execute(
          "CREATE TRIGGER broken BEFORE DELETE ON blocks WHEN OLD.height = 2 BEGIN SELECT RAISE(ABORT, 'broken'); END",
        ),
      );
      await expect(own.chain.acceptFetched(bytesOf(forged.slice(20)))).rejects.toMatchObject({
        code: "CHAIN_COMMIT_FAILED",
        isRetryable: true,
      });
      expect(own.chain.head().id).toBe(id);
      expect(dump(dumpOf).sort()).toEqual(before);
      expect(own.chain.assumption()).toEqual({ pin, uncheckedFrom: 2 });
      expect([news, changes.length]).toEqual([[], 1]);
      dump((database) => database.execute("DROP TRIGGER broken"));
      await expect(own.chain.acceptFetched(bytesOf(forged.slice(20)))).rejects.toMatchObject(failure);
      expect(own.chain.head().height).toBe(1);
    },
  );

  test.each([
    ["the same pin", pin],
    ["the right pin", "right"],
    ["no pin", undefined],
  ] as const)("A start with %s continues an interrupted removal of all blocks.", async (_, given) => {
    const empty = start(pin);
    await stop(empty);
    const before = dumpWithoutMeta();
    const own = start(pin, { undoDepth: 10 });
    await outcomesOf(own, forged.slice(0, 20));
    dump((database) =>
      database.execute(
        "CREATE TRIGGER broken BEFORE DELETE ON wallets BEGIN SELECT RAISE(ABORT, 'killed'); END",
      ),
    );
    await expect(own.chain.acceptFetched(bytesOf(forged.slice(20)))).rejects.toThrow();
    expect(own.chain.head().height).toBe(21);
    await stop(own);
    dump((database) => database.execute("DROP TRIGGER broken"));
    const inForce = given === "right" ? pinOf(honest, 30) : undefined;
    const again = start(given === "right" ? inForce : given);
    expect(again.chain.head().height).toBe(1);
    expect(again.chain.assumption()).toEqual({ pin: inForce, uncheckedFrom: undefined });
    expect(dumpWithoutMeta()).toEqual(before);
    expect(await outcomesOf(again, honest)).toEqual(["Accepted"]);
    await stop(again);
    expect(start(pin).chain.assumption().pin).toBeUndefined();
  });

  test("A checked chain is kept despite a wrong pin.", async () => {
    const own = start(pin);
    await own.take(...honest);
    expect(own.chain.head().height).toBe(LENGTH);
    expect(news).toEqual([{ kind: "other", pin, id: present(honest[28], "an item of honest").header.id }]);
  });

  test("A block of a branch that replaces others has the same effect at the pin.", async () => {
    const own = start(pin);
    await outcomesOf(own, honest.slice(0, 20));
    await expect(own.chain.switchTo(18, bytesOf(honest.slice(17)))).rejects.toMatchObject(failure);
    expect(own.chain.head().height).toBe(1);
  });
});

describe("while there are unchecked blocks", () => {
  beforeEach(async () => {
    const own = start(ANYWHERE);
    await outcomesOf(own, honest.slice(0, 20));
    await stop(own);
  });

  test("A chain with unchecked blocks opens only with its pin; otherwise the error names the next step.", () => {
    const expected = expect.objectContaining({
      code: "CHAIN_UNCHECKED",
      message: expect.stringContaining(`--assume-valid ${pinText(ANYWHERE)}`),
    });
    expect(() => start()).toThrow(expected);
    expect(() => start(pinOf(honest, 30))).toThrow(expected);
  });

  test("A chain with unchecked blocks continues with the same pin.", async () => {
    const own = start(ANYWHERE);
    expect(own.chain.assumption().uncheckedFrom).toBe(2);
    expect(await outcomesOf(own, honest.slice(20))).toEqual(["Accepted"]);
  });

  test("Unchecked blocks can be discarded, once.", async () => {
    const own = start(ANYWHERE);
    expect(await own.chain.discardUnchecked()).toBe(true);
    expect(own.chain.head().height).toBe(1);
    expect(await own.chain.discardUnchecked()).toBe(false);
    expect(own.chain.assumption().pin).toBeUndefined();
  });
});

test("The fact tree contains only proved blocks.", async () => {
  const own = start(pinOf(honest, 30));
  const database = openDatabase(`${folder.path}/chain.sqlite`);
  const growth = new Growth({ database, network, onTruncated: () => expect.unreachable() });
  const grownTo = () => {
    while (growth.step(Number.POSITIVE_INFINITY));
    return growth.figures();
  };
  await own.take(...honest.slice(0, 4));
  await outcomesOf(own, honest.slice(4, 20));
  expect(grownTo()).toMatchObject({ height: 5, lag: 0 });
  await outcomesOf(own, honest.slice(20));
  expect(grownTo()).toMatchObject({ height: LENGTH - 2 * 4, lag: 0 });
  database.close();
});

test("Blocks with short ids are checked, since such an id does not identify one block.", () => {
  const { assumption, close } = openMeta();
  const { header } = present(honest[0], "an item of honest");
  expect(assumption.covers(header)).toBe(true);
  expect(assumption.covers({ ...header, id: "17184958558311101492" })).toBe(false);
  expect(assumption.covers({ ...header, height: ANYWHERE.height + 1 })).toBe(false);
  close();
});

function openMeta() {
  const database = openDatabase(":memory:");
  migrate(database);
  return { assumption: new Assumption(new MetaStore(database), ANYWHERE), close: database.close };
}

test.each(CHAINS.slice(0, 2))(
  "The recorded chain %s has the same state without its signatures.",
  async (name) => {
    const content = readChain(name);
    const blocks = blocksOf(content);
    const { height, id } = content.blocks.at(-1);
    const dumpAfter = async (file: string, assumeValid?: Pin) => {
      const { chain, database, close } = openChain(content, `${folder.path}/${file}`, {
        deps: { assumeValid },
      });
      await chain.acceptFetched(blocks);
      expect(chain.head().id).toBe(id);
      const rows = dumpOf(database);
      await close();
      return rows;
    };
    expect(await dumpAfter("assumed", { height, id })).toEqual(await dumpAfter("checked"));
  },
);
