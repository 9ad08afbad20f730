import type { Round } from "@uniknode/ledger";
import fc from "fast-check";
import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { Dictionary, GENERATORS } from "../../../src/store/engine/dictionary.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { roundToJson } from "../../../src/store/state/json.ts";
import { packedRoundText, type RoundRow, RoundStore } from "../../../src/store/state/packed-round.ts";
import { StateStore } from "../../../src/store/state/state.ts";

function openMigrated(): Database {
  const database = openDatabase(":memory:");
  migrate(database);
  return database;
}

const balance = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const publicKey = fc
  .uint8Array({ minLength: 33, maxLength: 33 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));

const round: fc.Arbitrary<Round> = fc.uniqueArray(publicKey, { minLength: 1, maxLength: 60 }).chain((keys) =>
  fc.record({
    round: fc.integer({ min: 1, max: 2 ** 32 }),
    height: fc.integer({ min: 1, max: 2 ** 32 }),
    delegates: fc.tuple(
      ...keys.map((key) => fc.record({ publicKey: fc.constant(key), voteBalance: balance })),
    ),
    order: fc.shuffledSubarray(keys, { minLength: keys.length }),
  }),
);

/** A round of more delegates than a byte counts. */
function largeRound(number: number): Round {
  const keys = Array.from({ length: 300 }, (_, index) => `02${index.toString(16).padStart(64, "0")}`);
  return {
    round: number,
    height: number * 300,
    delegates: keys.map((key, index) => ({ publicKey: key, voteBalance: BigInt(index - 150) * 2n ** 54n })),
    order: keys.toReversed(),
  };
}

test("Rounds are read as they were written, also by a second store and as JSON text.", () => {
  const database = openMigrated();
  const store = new RoundStore(database);
  const generators = new Dictionary(database, GENERATORS);
  const select = database.prepare<RoundRow>("SELECT * FROM rounds WHERE round = ?");
  fc.assert(
    fc.property(round, (written) => {
      store.write(written);
      expect(store.read(written.round)).toEqual(written);
      expect(new RoundStore(database).read(written.round)).toEqual(written);
      const row = present(select.get(written.round), "a row");
      expect(packedRoundText(row, generators)).toBe(JSON.stringify(roundToJson(written)));
      store.remove(written.round);
      expect(store.read(written.round)).toBeUndefined();
    }),
  );
  store.write(largeRound(7));
  expect(store.read(7)).toEqual(largeRound(7));
  database.close();
});

test("A public key has one number, and a round takes 13 bytes for each delegate.", () => {
  const database = openMigrated();
  const store = new RoundStore(database);
  for (const number of [1, 2, 3]) store.write(largeRound(number));
  const [keys, bytes] = [
    "SELECT count(*) AS n FROM generators",
    "SELECT max(length(delegates)) AS n FROM rounds",
  ].map((sql) => database.prepare<{ n: number }>(sql).get()?.n);
  expect([keys, bytes]).toEqual([300, 300 * 13]);
  database.close();
});

test("Numbers that a failed transaction assigned are not used afterwards.", () => {
  const database = openMigrated();
  const state = new StateStore(database, { cacheSize: 1 });
  const write = (record: Round) => {
    state.write([{ table: "rounds", key: `${record.round}`, after: record }]);
    state.flush();
  };
  const one = { ...largeRound(1), delegates: largeRound(1).delegates.toReversed() };
  expect(() =>
    database.transaction(() => {
      write(one);
      throw new Error("no");
    }),
  ).toThrow("no");
  state.reset();
  database.transaction(() => write(largeRound(2)));
  expect(new RoundStore(database).read(2)).toEqual(largeRound(2));
  expect(state.get("rounds", "1")).toBeUndefined();
  database.close();
});

test.each([
  ["are truncated", "substr(delegates, 2)", /round 1 has 3899 bytes/],
  [
    "name a position without a delegate",
    "CAST(substr(delegates, 1, 11) || x'012C' || substr(delegates, 14) AS BLOB)",
    /delegate 300 of round 1 is missing/,
  ],
  [
    "name an unknown number",
    "CAST(x'FFFFFF' || substr(delegates, 4) AS BLOB)",
    /the row of generators with the number 16777215 is missing/,
  ],
])("Bytes that %s are refused.", (_what, bytes, message) => {
  const database = openMigrated();
  const store = new RoundStore(database);
  store.write(largeRound(1));
  database.execute(`UPDATE rounds SET delegates = ${bytes}`);
  expect(() => store.read(1)).toThrow(message);
  database.close();
});

test("A vote balance beyond 64 bits is refused.", () => {
  const database = openMigrated();
  const [first] = largeRound(1).delegates;
  const delegates = [{ ...present(first), voteBalance: 2n ** 63n }];
  const order = delegates.map(({ publicKey }) => publicKey);
  expect(() => new RoundStore(database).write({ round: 1, height: 1, delegates, order })).toThrow(RangeError);
  database.close();
});
