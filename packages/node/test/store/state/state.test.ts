import { type Change, createMemoryState, type Wallet } from "@uniknode/ledger";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Database } from "../../../src/store/engine/database.ts";
import { StateStore, UndoStore, type Write } from "../../../src/store/state/state.ts";
import { countState, ReadTotals } from "../../../src/store/state/totals.ts";
import { openReusable } from "../../../test-support/store/migrated.ts";
import { blocksOfWrites, changesOn, resultsOf } from "./changes.ts";

const [reusable, other] = [openReusable(), openReusable()];
afterAll(() => {
  reusable.close();
  other.close();
});

/** A cache of 2 evicts all the time; one of 100 never. */
const cacheSizes = fc.constantFrom(2, 100);

test("The state store returns the results of the model, after each block and back again.", () => {
  fc.assert(
    fc.property(cacheSizes, blocksOfWrites, fc.infiniteStream(fc.boolean()), (cacheSize, blocks, flushes) => {
      const database = reusable.renewed();
      const store = new StateStore(database, { cacheSize });
      const undo = new UndoStore(database);
      const model = createMemoryState();
      const flushSometimes = () => {
        if (flushes.next().value) database.transaction(() => store.flush());
      };

      const states = [resultsOf(model)];
      const chain: Change[][] = [];
      for (const [index, writes] of blocks.entries()) {
        const changes = changesOn(model, writes);
        expect(changesOn(store, writes)).toEqual(changes);
        model.commit(changes);
        store.write(changes);
        undo.append(index + 1, changes);
        flushSometimes();
        chain.push(changes);
        states.push(resultsOf(model));
        expect(resultsOf(store)).toEqual(resultsOf(model));
      }

      for (const changes of chain.toReversed()) {
        states.pop();
        model.revert(changes);
        store.write(present(undo.read(states.length), "the result of read"));
        flushSometimes();
        expect(resultsOf(store)).toEqual(states.at(-1));
        expect(resultsOf(model)).toEqual(states.at(-1));
      }
    }),
  );
});

test("A second store over the same database returns the same once written records were flushed.", () => {
  fc.assert(
    fc.property(cacheSizes, blocksOfWrites, (cacheSize, blocks) => {
      const database = reusable.renewed();
      const store = new StateStore(database, { cacheSize });
      for (const writes of blocks) store.write(changesOn(store, writes));
      database.transaction(() => store.flush());
      expect(resultsOf(new StateStore(database, { cacheSize }))).toEqual(resultsOf(store));
    }),
  );
});

test("A wallet that changes part by part has the row of a new wallet.", () => {
  const part = fc.constantFrom("balance", "nonce", "rank", "vote", "username", "publicKey", "second");
  const rowsOf = (store: StateStore, database: Database, wallets: Wallet[]) => {
    for (const after of wallets) {
      store.write([{ table: "wallets", key: after.address, after }]);
      database.transaction(() => store.flush());
    }
    return database.prepare("SELECT * FROM wallets", { bigints: true }).all();
  };
  fc.assert(
    fc.property(cacheSizes, fc.array(fc.tuple(part, fc.nat(3)), { minLength: 1 }), (cacheSize, changes) => {
      const parts: Record<string, number> = {};
      const wallets = changes.map(([name, value]) => {
        parts[name] = value;
        return walletOf(parts);
      });
      const [changed, fresh] = [reusable.renewed(), other.renewed()];
      const rows = rowsOf(new StateStore(changed, { cacheSize }), changed, wallets);
      expect(rows).toEqual(rowsOf(new StateStore(fresh, { cacheSize }), fresh, wallets.slice(-1)));
    }),
  );
});

/** Returns a wallet with given parts; 0 or none: it does not have the part. */
function walletOf({
  balance = 0,
  nonce = 0,
  rank,
  vote,
  username,
  publicKey,
  second,
}: Record<string, number>) {
  const amounts = { voteBalance: 0n, forgedFees: 0n, forgedRewards: 0n };
  return {
    address: "A",
    balance: BigInt(balance),
    nonce: BigInt(nonce),
    ...(publicKey && { publicKey: `key ${publicKey}` }),
    attributes: {
      ...(vote && { vote: `key ${vote}` }),
      ...(second && { secondPublicKey: `key ${second}` }),
      ...(username && {
        delegate: { username: `${username}`, ...amounts, producedBlocks: 0, round: 0, rank },
      }),
    },
  } as Wallet;
}

test("The state store drops everything that was not committed.", () => {
  fc.assert(
    fc.property(
      cacheSizes,
      blocksOfWrites,
      blocksOfWrites,
      fc.boolean(),
      (cacheSize, blocks, lost, flushed) => {
        const database = reusable.renewed();
        const store = new StateStore(database, { cacheSize });
        for (const writes of blocks) store.write(changesOn(store, writes));
        database.transaction(() => store.flush());
        const committed = resultsOf(store);

        for (const writes of lost) store.write(changesOn(store, writes));
        expect(() =>
          database.transaction(() => {
            if (flushed) store.flush();
            throw new Error("disk full");
          }),
        ).toThrow("disk full");
        store.reset();
        expect(resultsOf(store)).toEqual(committed);
      },
    ),
  );
});

test("A removed record that was never stored leaves no row.", () => {
  const database = reusable.renewed();
  const store = new StateStore(database, { cacheSize: 10 });
  store.write([
    { table: "usernames", key: "a", after: "A" },
    { table: "usernames", key: "a", after: undefined },
  ]);
  database.transaction(() => store.flush());
  expect(database.prepare("SELECT * FROM entries").all()).toEqual([]);
});

test("A text with lone surrogates is the same from memory and from the file.", () => {
  const database = reusable.renewed();
  const store = new StateStore(database, { cacheSize: 10 });
  const key = `${"a".repeat(64)}/k\ud800`;
  store.write([{ table: "properties", key, after: "v\udc00" }]);
  const fromMemory = store.get("properties", key);
  database.transaction(() => store.flush());
  store.reset();
  expect(store.get("properties", key)).toBe("v\ufffd");
  expect(fromMemory).toBe("v\ufffd");
});

test("The totals are those of a new count, after each flush and after reverts.", () => {
  fc.assert(
    fc.property(cacheSizes, blocksOfWrites, (cacheSize, blocks) => {
      const database = reusable.renewed();
      const store = new StateStore(database, { cacheSize });
      const undo = new UndoStore(database);
      const totals = () => database.prepare("SELECT name, value FROM state_totals ORDER BY name").all();
      const expectCounted = () => {
        database.transaction(() => store.flush());
        const maintained = totals();
        countState(database);
        expect(maintained).toEqual(totals());
      };
      for (const [index, writes] of blocks.entries()) {
        const changes = changesOn(store, writes);
        undo.append(index + 1, changes);
        store.write(changes);
        expectCounted();
      }
      for (let height = blocks.length; height > 0; height--) {
        store.write(present(undo.read(height), "the result of read"));
        expectCounted();
      }
    }),
  );
});

test("The types of tokens other than uniks, of which there can be any number, are not read.", () => {
  const database = reusable.renewed();
  const store = new StateStore(database, { cacheSize: 10 });
  const types = ["1", "3", "3", "4", "", "1x", "x"];
  store.write(
    types.map(
      (after, index): Write => ({ table: "properties", key: `${`${index}`.padStart(64, "0")}/type`, after }),
    ),
  );
  database.transaction(() => store.flush());
  expect(new ReadTotals(database).tokensByType()).toEqual(
    new Map([
      ["1", 1],
      ["3", 2],
    ]),
  );
});
