/** The chain as a whole: its figures, rounds, paid fees, and search by the prefix of an id. */
import { BLOCK_IDS, prepareByBeginning, TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import { RoundStore } from "../../../store/state/packed-round.ts";
import { ReadTotals } from "../../../store/state/totals.ts";
import type { Chain, Fees, QueriesOf, Rounds } from "../../port.ts";
import type { FeeStatistics, Identified, RoundDelegate, TypeFees } from "../../rows.ts";
import {
  type AccessPath,
  accessPathsOf,
  fromText,
  StatementCache,
  TRANSACTIONS,
  valuesOf,
} from "../lists/access-paths.ts";
import type { Condition } from "../lists/conditions.ts";
import type { ListDependencies } from "../lists/table-list.ts";
import { type Chunks, TimeoutCache } from "../lists/time-box.ts";

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

export class ChainQueries implements QueriesOf<Chain> {
  readonly #totals: ReadTotals;
  readonly #premine: Statement<{ amount: bigint }>;
  /** Searches by the prefix of an id, one for each kind. */
  readonly #beginningWith: readonly ((prefix: string) => Identified[])[];

  constructor(database: Database) {
    this.#totals = new ReadTotals(database);
    this.#premine = preparePremine(database);
    this.#beginningWith = [
      ...STORED_IDS.map(({ kind, index, columns }) => {
        const selected = `'${kind}' AS kind, ${columns}`;
        const find = prepareByBeginning<Identified>(database, index, selected, MAX_IDENTIFIED);
        return (prefix: string) =>
          find(prefix)
            .sort((one, other) => (one.id < other.id ? -1 : 1))
            .slice(0, MAX_IDENTIFIED);
      }),
      ...IDENTIFIED.map(({ kind, table, columns }) => {
        const select = database.prepare<Identified>(
          `SELECT '${kind}' AS kind, ${columns} FROM ${table} WHERE ${columns.split(/\W/)[0]} BETWEEN ? AND ?
           ORDER BY 2 LIMIT ${MAX_IDENTIFIED}`,
        );
        return (prefix: string) => select.all(prefix, prefix + LAST);
      }),
    ];
  }

  beginningWith(prefix: string): Identified[] {
    return this.#beginningWith.flatMap((find) => find(prefix));
  }

  supply(): bigint {
    // The balance of the genesis wallet is negative: it paid the premine.
    return this.#totals.of("balances") + (this.#premine.get()?.amount ?? 0n);
  }

  lockedSupply(): bigint {
    return this.#totals.of("locked");
  }
}

export const preparePremine = (database: Database): Statement<{ amount: bigint }> =>
  database.prepare("SELECT total_amount AS amount FROM blocks WHERE height = 1", { bigints: true });

export class RoundQueries implements QueriesOf<Rounds> {
  readonly #rounds: RoundStore;

  constructor(database: Database) {
    this.#rounds = new RoundStore(database);
  }

  delegates(round: number): RoundDelegate[] | undefined {
    const delegates = this.#rounds.read(round)?.delegates;
    return delegates?.map(({ publicKey, voteBalance }) => ({ publicKey, voteBalance: `${voteBalance}` }));
  }
}

const STATISTICS = `CAST((2 * SUM(fee) + COUNT(*)) / (2 * COUNT(*)) AS TEXT) AS avg, CAST(MAX(fee) AS TEXT) AS max,
  CAST(MIN(fee) AS TEXT) AS min, CAST(SUM(fee) AS TEXT) AS sum`;

/** Sums of the fees of a type in one part of the chain. */
type Part = {
  readonly type_group: bigint;
  readonly type: bigint;
  readonly count: bigint;
  readonly max: bigint;
  readonly min: bigint;
  readonly sum: bigint;
};

export class FeeQueries implements QueriesOf<Fees> {
  readonly #chunks: Chunks;
  readonly #last: Statement<FeeStatistics>;
  readonly #statements: StatementCache;
  readonly #timeouts = new TimeoutCache();

  constructor({ database, chunks }: Pick<ListDependencies, "database" | "chunks">) {
    this.#chunks = chunks;
    this.#last = database.prepare(
      `SELECT ${STATISTICS} FROM (
         SELECT fee FROM transactions WHERE type_group = +? AND type = +?
         ORDER BY height DESC, sequence DESC LIMIT +?
       ) HAVING COUNT(*) > 0`,
    );
    this.#statements = new StatementCache(database, { bigints: true });
  }

  ofLast(count: number, typeGroup: number, type: number): FeeStatistics | undefined {
    return this.#last.get(typeGroup, type, count);
  }

  since(height: number, minFee: number): TypeFees[] {
    return this.#timeouts.run(
      () => "",
      () => statisticsOf(this.#partsSince(height, minFee)),
    );
  }

  #partsSince(height: number, minFee: number): Part[] {
    const above: Condition = {
      sql: "height >= ?",
      values: [height],
      index: { selectivity: "range", side: "low" },
    };
    const all = accessPathsOf({ conditions: [above, { sql: "fee >= ?", values: [minFee] }] });
    return Array.from(this.#chunks.of(TRANSACTIONS, all, "asc")).flatMap(({ paths }) => {
      const [path] = paths as [AccessPath];
      const select = this.#statements.prepare(
        `SELECT type_group, type, COUNT(*) AS count, MAX(fee) AS max, MIN(fee) AS min, SUM(fee) AS sum
         ${fromText(TRANSACTIONS, path)} GROUP BY type_group, type`,
      );
      return select.all(...valuesOf(paths)) as Part[];
    });
  }
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
