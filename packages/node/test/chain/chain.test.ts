import { readFileSync } from "node:fs";
import {
  type BlockHeader,
  builders,
  bytesOfBlock,
  bytesToHex,
  createNetwork,
  createSlots,
  decodeHeader,
  encodeHeader,
  genesisBlockFromJson,
} from "@uniknode/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChainChange } from "../../src/chain/outcome.ts";
import { receiveBlock } from "../../src/chain/pipeline/receive.ts";
import { seal } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { createPoolStore } from "../../src/store/node/pool.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";
import {
  blocksOf,
  dumpOf,
  type OpenChain,
  type OpenOptions,
  openChain,
  readChain,
  stateInFile,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { cast, createForkingChain, dev } from "../../test-support/chain/forking.ts";

const content = readChain("chain-1");
const blocks = blocksOf(content);
const network = createNetwork(content.network);
/** Blocks from one height to another. */
const heights = (from: number, to: number) => blocks.slice(from - 2, to - 1);
const accepted = (count: number) => Array.from({ length: count }, () => ({ kind: "Accepted" }));

let folder: ReturnType<typeof temporaryFolder>;
let open: OpenChain[];
beforeEach(() => {
  folder = temporaryFolder();
  open = [];
});
afterEach(async () => {
  for (const { close } of open) await close();
  folder.remove();
});

function start(options: OpenOptions = {}, name = "chain.sqlite"): OpenChain {
  const opened = openChain(content, `${folder.path}/${name}`, options);
  open.push(opened);
  return opened;
}

const undoHeights = (database: Database) =>
  database
    .prepare<{ height: number }>("SELECT height FROM undo ORDER BY height")
    .all()
    .map(({ height }) => height);

/** Block with one byte of its header changed. */
function withByte(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = present(changed[at], "an item of changed") ^ 1;
  return changed;
}
const REWARD_AT = 32 + 32;
/** A byte inside r of the DER signature. */
const SIGNATURE_AT = 109 + 32 + 8;

describe("a batch", () => {
  test("A batch gets an outcome for each block, when it is on disk.", async () => {
    const { chain, database } = start();
    expect(await chain.accept(heights(2, 20))).toEqual(accepted(19));
    expect(chain.head()).toMatchObject({ height: 20, id: content.blocks[18].id });
    expect(database.prepare("SELECT max(height) AS height FROM blocks").get()).toEqual({ height: 20 });
    expect(await chain.accept([])).toEqual([]);
  });

  test("A batch that does not continue the head is ignored.", async () => {
    const { chain } = start();
    await chain.accept(heights(2, 10));
    for (const first of [9, 10, 12]) {
      expect(await chain.accept(heights(first, first + 1))).toEqual([
        { kind: "Unchained" },
        { kind: "Skipped" },
      ]);
    }
  });

  test("A batch ends at the first block that is not accepted.", async () => {
    const { chain, database } = start();
    const [good, , ...rest] = heights(5, 9);
    await chain.accept(heights(2, 4));
    const outcomes = await chain.accept([
      present(good, "good"),
      withByte(present(heights(6, 6)[0], "an item of heights"), REWARD_AT),
      ...rest,
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      "Accepted",
      "Rejected",
      "Skipped",
      "Skipped",
      "Skipped",
    ]);
    expect(chain.head().height).toBe(5);
    const other = start({}, "other.sqlite");
    await other.chain.accept(heights(2, 5));
    expect(dumpOf(database)).toEqual(dumpOf(other.database));
  });

  test("A batch with a wrong signature is rejected with the error.", async () => {
    const { chain } = start();
    await chain.accept(heights(2, 4));
    const [outcome] = await chain.accept([
      withByte(present(heights(5, 5)[0], "an item of heights"), SIGNATURE_AT),
    ]);
    expect(outcome).toMatchObject({ kind: "Rejected", reason: "verification-failed" });
    expect(outcome).toHaveProperty("faults", [{ code: "signature" }]);
  });

  test("A batch with a wrong signature of a transaction is rejected.", async () => {
    const { chain } = start();
    const full = blocks.findIndex(
      (bytes, index) => index > 2 && decodeHeader(bytes, network).header.numberOfTransactions > 0,
    );
    await chain.accept(blocks.slice(0, full));
    const block = present(blocks[full], "an item of blocks");
    const [outcome] = await chain.accept([withByte(block, block.length - 1)]);
    expect(["Rejected", "Unreadable"]).toContain(outcome?.kind);
    expect(await chain.accept([block])).toEqual(accepted(1));
  });

  test.each([0, 11, 60, 150])("A batch cut after %i bytes is unreadable.", async (length) => {
    const { chain } = start();
    const [outcome] = await chain.accept([
      present(heights(2, 2)[0], "an item of heights").subarray(0, length),
    ]);
    expect(outcome).toMatchObject({ kind: "Unreadable", cause: expect.any(Error) });
  });

  test("A batch announcing more transactions than a block may have is unreadable.", async () => {
    const { chain } = start();
    const { header } = decodeHeader(present(blocks[1], "an item of blocks"), network);
    const announced = encodeHeader({ ...header, numberOfTransactions: 501 }, network);
    expect(await chain.accept([announced])).toMatchObject([{ kind: "Unreadable" }]);
  });

  test("A batch waits for earlier ones.", async () => {
    const { chain } = start();
    const deliveries = [heights(2, 30), heights(31, 31), heights(32, 60), heights(61, 110)];
    const outcomes = await Promise.all(deliveries.map((delivery) => chain.accept(delivery)));
    expect(outcomes).toEqual(deliveries.map(({ length }) => accepted(length)));
    expect(chain.head().height).toBe(110);
  });

  test("A batch is executed between reverts in the order of the calls.", async () => {
    const { chain } = start();
    const done = [
      chain.accept(heights(2, 40)),
      chain.revertTo(20),
      chain.accept(heights(21, 50)),
      chain.revertTo(49),
      chain.accept(heights(50, 50)),
    ];
    expect(await Promise.all(done)).toEqual([accepted(39), undefined, accepted(30), undefined, accepted(1)]);
  });
});

type Candidate = { id: string; height: number; block: { serialized: string }; expected: { result: string } };

describe("candidates after the head in a batch (block-processing.json)", () => {
  const url = new URL("../../../../test/vectors/state/block-processing.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(url, "utf8"));
  const single: Candidate[] = cases.filter(
    ({ chain, repeat }: { chain: string; repeat?: number }) => chain === "chain-1" && !repeat,
  );
  const kinds: Record<string, string> = {
    Accepted: "Accepted",
    Rejected: "Rejected",
    DiscardedButCanBeBroadcasted: "Discarded",
    Rollback: "Rollback",
  };

  test.each(single)("$id", async ({ height, block, expected }) => {
    const { chain, database } = start();
    await chain.accept(heights(2, height - 1));
    const outcomes = await chain.accept([...heights(height, height), Buffer.from(block.serialized, "hex")]);
    const { kind } = present(outcomes[1], "an item of outcomes");
    expect(kind === "Unreadable" ? "Rejected" : kind).toBe(kinds[expected.result]);
    if (kind === "Accepted") return;
    const other = start({}, "other.sqlite");
    await other.chain.accept(heights(2, height));
    expect(dumpOf(database)).toEqual(dumpOf(other.database));
    expect(await chain.accept(heights(height + 1, height + 1))).toEqual(accepted(1));
  });
});

describe("a failing commit", () => {
  /** A database whose next transactions fail at their end. */
  function failingDatabase() {
    const failure = { isOn: false };
    const openFile = (path: string): Database => {
      const database = openDatabase(path);
      return {
        ...database,
        transaction: (work) =>
          database.transaction(() => {
            const result = work();
            if (failure.isOn) throw new Error("disk full");
            return result;
          }),
      };
    };
    return { failure, openFile };
  }

  test("A failing commit leaves chain, state and file unchanged, and the next batch is applied.", async () => {
    const { failure, openFile } = failingDatabase();
    const { chain, database } = start({ openFile, cacheSize: 1_000 });
    await chain.accept(heights(2, 20));
    const before = { head: chain.head(), dump: dumpOf(database) };
    failure.isOn = true;
    const refused = chain.accept(heights(21, 40));
    await expect(refused).rejects.toMatchObject({ code: "CHAIN_COMMIT_FAILED", isRetryable: true });
    await expect(chain.revertTo(10)).rejects.toMatchObject({ code: "CHAIN_COMMIT_FAILED" });
    failure.isOn = false;
    expect({ head: chain.head(), dump: dumpOf(database) }).toEqual(before);
    expect(await chain.accept(heights(21, 110))).toEqual(accepted(90));

    const whole = start({}, "whole.sqlite");
    await whole.chain.accept(blocks);
    expect(dumpOf(database)).toEqual(dumpOf(whole.database));
  });

  test("A failing commit is reported to every batch that took part.", async () => {
    const { failure, openFile } = failingDatabase();
    const { chain } = start({ openFile });
    failure.isOn = true;
    const outcomes = await Promise.allSettled([chain.accept(heights(2, 3)), chain.accept(heights(4, 5))]);
    expect(outcomes[0]).toMatchObject({ status: "rejected", reason: { code: "CHAIN_COMMIT_FAILED" } });
    expect(chain.head().height).toBe(1);
  });
});

describe("a failing read", () => {
  test("A failing read refuses the block and is reported, and the block can be submitted again.", async () => {
    const failure = { isOn: false };
    const openFile = (path: string): Database => {
      const database = openDatabase(path);
      const prepare: Database["prepare"] = <Row>(sql: string, options?: { bigints: boolean }) => {
        const statement = database.prepare<Row>(sql, options);
        const get = statement.get.bind(statement);
        statement.get = (...parameters) => {
          if (failure.isOn && sql.includes("FROM wallets")) throw new Error("disk unreadable");
          return get(...parameters);
        };
        return statement;
      };
      return { ...database, prepare };
    };
    const reported: [unknown, number][] = [];
    const deps = {
      onUnexpectedError: (error: unknown, { height }: BlockHeader) => reported.push([error, height]),
    };
    await start().close();
    const { chain } = start({ openFile, deps });
    failure.isOn = true;
    const cause = new Error("disk unreadable");
    expect(await chain.accept(heights(2, 2))).toMatchObject([{ kind: "Rejected", cause }]);
    expect(reported).toEqual([[cause, 2]]);
    failure.isOn = false;
    expect(await chain.accept(heights(2, 2))).toEqual(accepted(1));
  });
});

test("A transaction of version 1 in two blocks is applied once, in one commit as in two.", async () => {
  const early = createNetwork({
    ...dev.files,
    milestones: dev.files.milestones.map((change) => ({ ...change, aip11: false })),
  });
  const openEarly = (name: string) =>
    createForkingChain(`${folder.path}/${name}.sqlite`, { network: early, forgers: cast.founders });
  const [sender, recipient] = [
    present(cast.accounts[0], "the sender"),
    present(cast.accounts[1], "the recipient"),
  ];
  const body = builders.transfer({
    version: 1,
    network: early,
    senderPublicKey: sender.publicKey,
    timestamp: 1,
    fee: 10_000_000n,
    amount: 1n,
    recipientId: recipient.address,
  });
  const [other, own] = [openEarly("other"), openEarly("own")];
  const payment = seal(body, sender);
  const first = await other.forge([payment]);
  const second = bytesOfBlock(other.make([payment]));
  const discarded = { kind: "Discarded", reason: "transaction-stored" };
  expect(await other.chain.accept([second])).toEqual([discarded]);
  expect(await own.chain.accept([first, second])).toEqual([{ kind: "Accepted" }, discarded]);
  expect(await own.chain.switchTo(1, [first, second])).toEqual([{ kind: "Accepted" }, discarded]);
  expect(own.chain.state.get("wallets", recipient.address)).toEqual(
    other.chain.state.get("wallets", recipient.address),
  );
});

test("A failure while blocks are executed reverts them, and the chain continues.", async () => {
  let isBroken = true;
  const eventsOfFacts = () => {
    if (isBroken) throw new Error("broken");
    return [];
  };
  const { chain, database } = start({
    recordedNames: new Set(["forger.missing", "block.applied"]),
    deps: { eventsOfFacts },
  });
  const before = dumpOf(database);
  const [broken, next] = await Promise.allSettled([
    chain.accept(heights(2, 9)),
    chain.accept(heights(10, 12)),
  ]);
  expect(broken).toMatchObject({
    status: "rejected",
    reason: { message: expect.stringContaining("broken") },
  });
  expect(next).toMatchObject({
    value: [{ kind: "Unchained" }, { kind: "Skipped" }, { kind: "Skipped" }],
  });
  expect(dumpOf(database)).toEqual(before);
  isBroken = false;
  expect(await chain.accept(heights(2, 12))).toEqual(accepted(11));
});

describe("a revert", () => {
  test("A revert goes to heights of the chain only.", async () => {
    const { chain } = start();
    await chain.accept(heights(2, 10));
    for (const height of [0, -1, 11, 1.5, Number.NaN]) {
      await expect(chain.revertTo(height)).rejects.toMatchObject({ code: "CHAIN_HEIGHT_UNKNOWN" });
    }
    await chain.revertTo(10);
    expect(chain.head().height).toBe(10);
  });

  test("A revert reaches as deep as undo records are kept, and changes nothing beyond.", async () => {
    const { chain, database } = start({ undoDepth: 5 });
    await chain.accept(heights(2, 20));
    expect(database.prepare("SELECT min(height) AS lowest, count(*) AS rows FROM undo").get()).toEqual({
      lowest: 16,
      rows: 5,
    });
    const before = dumpOf(database);
    await expect(chain.revertTo(14)).rejects.toMatchObject({
      code: "CHAIN_UNDO_MISSING",
      isRetryable: false,
    });
    expect(dumpOf(database)).toEqual(before);
    expect(chain.head().height).toBe(20);
    await chain.revertTo(15);
    expect(await chain.accept(heights(16, 20))).toEqual(accepted(5));
  });

  test("A revert does not reach blocks that were fetched far below the target.", async () => {
    const first = start({ undoDepth: 5 });
    await first.chain.acceptFetched(heights(2, 12), { targetHeight: 20 });
    expect(undoHeights(first.database)).toEqual([]);
    expect([11, 12].map((height) => first.chain.canRevertTo(height))).toEqual([false, true]);
    await expect(first.chain.revertTo(11)).rejects.toMatchObject({ code: "CHAIN_UNDO_MISSING" });
    await first.close();

    const second = start({ undoDepth: 5 });
    expect(await second.chain.acceptFetched(heights(13, 20), { targetHeight: 20 })).toEqual(accepted(8));
    expect(undoHeights(second.database)).toEqual([16, 17, 18, 19, 20]);
    const before = dumpOf(second.database);
    expect([14, 15].map((height) => second.chain.canRevertTo(height))).toEqual([false, true]);
    await second.chain.revertTo(15);
    await second.chain.accept(heights(16, 20));
    expect(dumpOf(second.database)).toEqual(before);
    const plain = start({ undoDepth: 5 }, "plain.sqlite");
    await plain.chain.accept(heights(2, 20));
    expect(dumpOf(plain.database)).toEqual(before);
  });

  test("A revert does not reach blocks below the ones without undo records.", async () => {
    const { chain, database } = start();
    await chain.accept(heights(2, 6));
    await chain.acceptFetched(heights(7, 10), { targetHeight: 20_000 });
    expect(undoHeights(database)).toEqual([]);
    await chain.accept(heights(11, 13));
    expect(undoHeights(database)).toEqual([11, 12, 13]);
    await expect(chain.revertTo(9)).rejects.toMatchObject({ code: "CHAIN_UNDO_MISSING" });
    expect(chain.head().height).toBe(13);
    await chain.revertTo(10);
    expect(await chain.accept(heights(11, 20))).toEqual(accepted(10));
  });

  test("A revert reaches fetched blocks if they are recent, whatever the target.", async () => {
    const last = heights(2, 20).at(-1);
    const { header } = receiveBlock(present(last), network);
    const now = () => createSlots(network).unixMsOf(header.timestamp);
    const { chain, database } = start({ undoDepth: 5, deps: { now } });
    await chain.acceptFetched(heights(2, 20), { targetHeight: 1_000_000 });
    expect(undoHeights(database).at(-1)).toBe(20);
    await chain.revertTo(19);
  });

  test("A revert returns the transactions, oldest first, up to a bound.", async () => {
    const { chain, database } = start({ maxReturnedTransactions: 4 });
    await chain.accept(heights(2, 20));
    const changes: ChainChange[] = [];
    chain.subscribe((change) => changes.push(change));
    const ids = chain.blocks.bytes(11, 20).flatMap(({ transactions }) => transactions.map(bytesToHex));
    await chain.revertTo(10);
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({ head: { height: 10 }, applied: [], revertedBlocks: 10 });
    expect(changes[0]?.returned.map(({ bytes }) => bytesToHex(bytes))).toEqual(ids.slice(0, 4));
    expect(changes[0]?.returned.every(({ isVerified }) => isVerified)).toBe(true);
    // A process that is killed before the pool has written them finds them at its next start.
    expect(
      createPoolStore(database)
        .load()
        .map(({ bytes }) => bytesToHex(bytes)),
    ).toEqual(ids.slice(0, 4));
  });
});

describe("listeners of the chain", () => {
  test("Listeners are called after every commit, with the changes of each block, until they unsubscribe.", async () => {
    const { chain } = start();
    const seen: ChainChange[] = [];
    const leave = chain.subscribe((change) => seen.push(change));
    await chain.accept(heights(2, 5));
    leave();
    await chain.accept(heights(6, 6));
    const applied = seen.flatMap(({ applied }) => applied);
    expect(applied.map(({ block }) => block.header.height)).toEqual([2, 3, 4, 5]);
    expect(applied[0]?.changes.length).toBeGreaterThan(0);
    expect(seen.at(-1)?.head.height).toBe(5);
  });

  test("Listeners of the chain see state and file at the announced head.", async () => {
    const { chain, database } = start();
    const states: boolean[] = [];
    chain.subscribe(({ head }) => {
      const file = database.prepare<{ height: number }>("SELECT max(height) AS height FROM blocks").get();
      states.push(file?.height === head.height && chain.head() === head);
    });
    await chain.accept(blocks);
    await chain.revertTo(3);
    expect(new Set(states)).toEqual(new Set([true]));
  });

  test("Listeners of the chain do not affect one another, nor the chain.", async () => {
    const errors: unknown[] = [];
    const { chain } = start({ deps: { onListenerError: (error) => errors.push(error) } });
    const reported: number[] = [];
    chain.subscribe(() => {
      throw new Error("listener");
    });
    chain.subscribe(({ head }) => reported.push(head.height));
    expect(await chain.accept(heights(2, 2))).toEqual(accepted(1));
    expect(reported).toEqual([2]);
    expect(errors).toEqual([new Error("listener")]);
  });
});

describe("the event log of the chain", () => {
  const names = (database: Database) =>
    database
      .prepare<{ name: string; height: number }>("SELECT name, height FROM events ORDER BY sequence")
      .all()
      .map(({ name, height }) => `${name} ${height}`);

  test("The event log of the chain has the subscribed events of applied and reverted blocks, in order.", async () => {
    const recordedNames = new Set(["block.applied", "block.reverted", "transaction.reverted"]);
    const { chain, database } = start({ recordedNames });
    await chain.accept(heights(2, 3));
    const counts = heights(2, 3).map((bytes) => decodeHeader(bytes, network).header.numberOfTransactions);
    await chain.revertTo(1);
    const reverted = (height: number) => [
      ...Array.from(
        { length: present(counts[height - 2], "an item of counts") },
        () => `transaction.reverted ${height}`,
      ),
      `block.reverted ${height}`,
    ];
    expect(names(database)).toEqual(["block.applied 2", "block.applied 3", ...reverted(3), ...reverted(2)]);
  });

  test("The event log of the chain contains wallets as they are after the revert.", async () => {
    const { chain, database } = start({ recordedNames: new Set(["wallet.saved"]) });
    await chain.accept(heights(2, 9));
    const before = stateInFile(database);
    await chain.accept(heights(10, 10));
    database.execute("DELETE FROM events");
    await chain.revertTo(9);
    const saved = database.prepare<{ data: string }>("SELECT data FROM events ORDER BY sequence").all();
    expect(saved.length).toBeGreaterThan(0);
    for (const { data } of saved) {
      const { address, balance } = JSON.parse(data);
      expect(balance, address).toBe(
        `${present(before.get("wallets", address), "an entry of before").balance}`,
      );
    }
  });

  test("The event log of the chain is empty without subscriptions, and no event is even created.", async () => {
    const eventsOfFacts = () => {
      throw new Error("called without subscribers");
    };
    const { chain, database } = start({ deps: { eventsOfFacts } });
    expect(await chain.accept(heights(2, 9))).toEqual(accepted(8));
    expect(names(database)).toEqual([]);
  });
});

describe("opening", () => {
  test("Opening inserts the genesis block into an empty database once.", async () => {
    const { chain, database, close } = start();
    expect(chain.head()).toMatchObject({ height: 1, id: content.genesis.id });
    const dump = dumpOf(database);
    await close();
    open.pop();
    expect(dumpOf(start().database)).toEqual(dump);
  });

  test("Opening refuses the chain of another network.", async () => {
    const { close } = start();
    await close();
    open.pop();
    const other = readChain("chain-random-1");
    expect(() => openChain(other, `${folder.path}/chain.sqlite`)).toThrow(
      expect.objectContaining({ code: "CHAIN_NETWORK_MISMATCH", isRetryable: false }),
    );
  });

  test("Opening refuses a genesis block that is not the network's.", () => {
    const other = readChain("chain-random-1");
    const genesis = genesisBlockFromJson(other.genesis, createNetwork(other.network));
    expect(() => start({ deps: { genesis } })).toThrow(
      expect.objectContaining({ code: "CHAIN_GENESIS_MISMATCH" }),
    );
  });
});

describe("closing", () => {
  test("Closing settles when everything submitted has an outcome.", async () => {
    const { chain } = start();
    const outcomes = chain.accept(heights(2, 30));
    await chain.close();
    expect(chain.head().height).toBe(30);
    expect(await outcomes).toEqual(accepted(29));
    await expect(chain.accept(heights(31, 31))).rejects.toMatchObject({ code: "CHAIN_CLOSED" });
    await expect(chain.revertTo(1)).rejects.toMatchObject({ code: "CHAIN_CLOSED" });
  });

  test("A closed verifier rejects batches, and the chain keeps the blocks that were accepted before.", async () => {
    const verifier = new BatchVerifier({ threads: 1 });
    const { chain } = start({ deps: { verifier } });
    await chain.accept(heights(2, 10));
    await verifier.close();
    await expect(chain.accept(heights(11, 20))).rejects.toThrow("closed");
    expect(chain.head().height).toBe(10);
  });
});
