/** The chain as a whole: its figures, rounds, paid fees, and search by the prefix of an id. */
import { BLOCK_IDS, prepareByBeginning, TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import type { Database } from "../../../store/engine/database.ts";
import { RoundStore } from "../../../store/state/packed-round.ts";
import { ReadTotals } from "../../../store/state/totals.ts";
import type { Chain, Fees, QueriesOf, Rounds } from "../../port.ts";
import type { FeeStatistics, Identified, TypeFees } from "../../rows.ts";
import {
  type AccessPath,
  accessPathsOf,
  createStatementCache,
  fromText,
  valuesOf,
} from "../lists/access-paths.ts";
import type { Condition } from "../lists/conditions.ts";
import type { ListDependencies } from "../lists/table-list.ts";
import { createTimeoutCache } from "../lists/time-box.ts";

/** Maximum number of results of each kind. */
const MAX_IDENTIFIED = 5;
/** Sorts after every character of ids and addresses. */
const LAST = "{";

/** Tables with ids as bytes. */
const STORED_IDS = [
  { kind: "block", index: BLOCK_IDS, columns: "id_text AS id, height" },
  { kind: "transaction", index: TRANSACTION_IDS, columns: "id_text AS id" },
];
/** Tables with ids as text. The first column is the id. */
const IDENTIFIED = [
  { kind: "unik", table: "tokens", columns: "id" },
  { kind: "wallet", table: "wallets", columns: "address AS id" },
];

export function createChainQueries(database: Database): QueriesOf<Chain> {
  const totals = new ReadTotals(database);
  const premine = database.prepare<{ amount: bigint }>(
    "SELECT total_amount AS amount FROM blocks WHERE height = 1",
    { bigints: true },
  );
  const identified = IDENTIFIED.map(({ kind, table, columns }) =>
    database.prepare<Identified>(
      `SELECT '${kind}' AS kind, ${columns} FROM ${table} WHERE ${columns.split(/\W/)[0]} BETWEEN ? AND ?
       ORDER BY 2 LIMIT ${MAX_IDENTIFIED}`,
    ),
  );
  const stored = STORED_IDS.map((listed) => createStoredIdsBeginningWith(database, listed));
  return {
    beginningWith: (prefix) => [
      ...stored.flatMap((beginningWith) => beginningWith(prefix)),
      ...identified.flatMap((select) => select.all(prefix, prefix + LAST)),
    ],
    // The balance of the genesis wallet is negative: it paid the premine.
    supply: () => totals.of("balances") + (premine.get()?.amount ?? 0n),
    lockedSupply: () => totals.of("locked"),
  };
}

/** Returns a function that finds blocks or transactions. */
function createStoredIdsBeginningWith(
  database: Database,
  { kind, index, columns }: (typeof STORED_IDS)[number],
): QueriesOf<Chain>["beginningWith"] {
  const find = prepareByBeginning<Identified>(
    database,
    index,
    `'${kind}' AS kind, ${columns}`,
    MAX_IDENTIFIED,
  );
  return (prefix) =>
    find(prefix)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .slice(0, MAX_IDENTIFIED);
}

export function createRoundQueries(database: Database): QueriesOf<Rounds> {
  const rounds = new RoundStore(database);
  return {
    delegates: (round) =>
      rounds
        .read(round)
        ?.delegates.map(({ publicKey, voteBalance }) => ({ publicKey, voteBalance: `${voteBalance}` })),
  };
}

const STATISTICS = `CAST((2 * SUM(fee) + COUNT(*)) / (2 * COUNT(*)) AS TEXT) AS avg, CAST(MAX(fee) AS TEXT) AS max,
  CAST(MIN(fee) AS TEXT) AS min, CAST(SUM(fee) AS TEXT) AS sum`;

const TRANSACTIONS = { table: "transactions", key: ["height", "sequence"] };

/** Sums of the fees of a type in one part of the chain. */
type Part = {
  readonly type_group: bigint;
  readonly type: bigint;
  readonly count: bigint;
  readonly max: bigint;
  readonly min: bigint;
  readonly sum: bigint;
};

export function createFeeQueries({
  database,
  chunksOf,
}: Pick<ListDependencies, "database" | "chunksOf">): QueriesOf<Fees> {
  const last = database.prepare<FeeStatistics>(
    `SELECT ${STATISTICS} FROM (
       SELECT fee FROM transactions WHERE type_group = +? AND type = +?
       ORDER BY height DESC, sequence DESC LIMIT +?
     ) HAVING COUNT(*) > 0`,
  );
  const prepare = createStatementCache(database, { bigints: true });
  const unlessTimedOut = createTimeoutCache();

  function partsSince(height: number, minFee: number): Part[] {
    const above: Condition = {
      sql: "height >= ?",
      values: [height],
      index: { selectivity: "range", side: "low" },
    };
    const conditions = [above, { sql: "fee >= ?", values: [minFee] }];
    return Array.from(chunksOf(TRANSACTIONS, accessPathsOf({ conditions }), "asc")).flatMap(({ paths }) => {
      const [path] = paths as [AccessPath];
      const select = prepare(
        `SELECT type_group, type, COUNT(*) AS count, MAX(fee) AS max, MIN(fee) AS min, SUM(fee) AS sum
         ${fromText(TRANSACTIONS, path)} GROUP BY type_group, type`,
      );
      return select.all(...valuesOf(paths)) as Part[];
    });
  }

  return {
    ofLast: (count, typeGroup, type) => last.get(typeGroup, type, count),
    since: (height, minFee) =>
      unlessTimedOut(
        () => "",
        () => statisticsOf(partsSince(height, minFee)),
      ),
  };
}

function statisticsOf(parts: readonly Part[]): TypeFees[] {
  const byType = Map.groupBy(parts, ({ type_group, type }) => type_group * 2n ** 16n + type);
  return Array.from(byType)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, [first, ...others]]) => {
      const { type_group, type, count, max, min, sum } = others.reduce(added, first as Part);
      const [typeGroup, average] = [Number(type_group), (2n * sum + count) / (2n * count)];
      return {
        typeGroup,
        type: Number(type),
        avg: `${average}`,
        max: `${max}`,
        min: `${min}`,
        sum: `${sum}`,
      };
    });
}

const added = (one: Part, other: Part): Part => ({
  ...one,
  count: one.count + other.count,
  max: one.max > other.max ? one.max : other.max,
  min: one.min < other.min ? one.min : other.min,
  sum: one.sum + other.sum,
});
