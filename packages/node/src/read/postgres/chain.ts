/** The chain as a whole: its figures, computed once per head, search by the prefix of an id, rounds, and paid fees. */
import { type Prepared, prepared } from "../../postgres/reads.ts";
import { type Chain, type Fees, perSnapshot, type Rounds } from "../port.ts";
import { delegatesOfRound, type FeeStatistics, type Identified, type TypeFees } from "../rows.ts";
import { isStorable } from "./lists/conditions.ts";
import { first, type SnapshotReads } from "./lists/reads.ts";
import { jsonOf } from "./row-text.ts";

/** Maximum number of results of each kind. */
const MAX_IDENTIFIED = 5;
/** Sorts after every character of ids and addresses. */
const LAST = "{";

/** Kinds in the order of the results. */
const IDENTIFIED = [
  { kind: "block", table: "blocks", id: "id", height: "height::float8" },
  { kind: "transaction", table: "transactions", id: "id", height: "NULL" },
  { kind: "unik", table: "tokens", id: "id", height: "NULL" },
  { kind: "wallet", table: "wallets", id: "address", height: "NULL" },
];
const BEGINNING_WITH = prepared(
  `SELECT kind, id, height FROM (${IDENTIFIED.map(
    ({ kind, table, id, height }, position) =>
      `(SELECT ${position} AS position, '${kind}' AS kind, ${id} AS id, ${height} AS height FROM ${table}
        WHERE ${id} BETWEEN $1 AND $2 ORDER BY ${id} LIMIT ${MAX_IDENTIFIED})`,
  ).join(" UNION ALL ")}) AS identified ORDER BY position, id COLLATE "C"`,
);

// The balance of the genesis wallet is negative: it paid the premine.
const SUPPLY = prepared(
  `SELECT coalesce((SELECT sum(balance) FROM wallets), 0)
     + coalesce((SELECT total_amount FROM blocks WHERE height = 1), 0) AS sum`,
);
const LOCKED = prepared(
  `SELECT coalesce(sum((${jsonOf("attributes")} #>> '{htlc,lockedBalance}')::bigint), 0) AS sum FROM wallets
   WHERE address IN (SELECT convert_from(value, 'UTF8') FROM entries WHERE space = 'locks')`,
);

type IdentifiedRow = {
  readonly kind: Identified["kind"];
  readonly id: string;
  readonly height: number | null;
};

/** Returns a function that reads a sum once per head. */
const sumOf = (statement: Prepared) =>
  perSnapshot(async ({ query }: SnapshotReads) =>
    BigInt((await first(query<{ sum: string }>(statement)))?.sum ?? 0),
  );

/** Sums over the whole state by head. */
export class StateSums {
  readonly supply = sumOf(SUPPLY);
  readonly locked = sumOf(LOCKED);
}

export class PostgresChain implements Chain {
  readonly #reads: SnapshotReads;
  readonly #sums: StateSums;

  constructor(reads: SnapshotReads, sums: StateSums) {
    this.#reads = reads;
    this.#sums = sums;
  }

  supply(): Promise<bigint> {
    return this.#sums.supply(this.#reads);
  }

  lockedSupply(): Promise<bigint> {
    return this.#sums.locked(this.#reads);
  }

  async beginningWith(prefix: string): Promise<Identified[]> {
    if (!isStorable(prefix)) return [];
    const rows = await this.#reads.query<IdentifiedRow>(BEGINNING_WITH, [prefix, prefix + LAST]);
    return rows.map(identifiedFromRow);
  }
}

const identifiedFromRow = ({ kind, id, height }: IdentifiedRow): Identified =>
  kind === "block" ? { kind, id, height: height ?? 0 } : { kind, id };

const RECORD = prepared("SELECT record FROM rounds WHERE round = $1");

/** Rounds, as they were at their start. */
export const roundsIn = ({ query }: SnapshotReads): Rounds => ({
  async delegates(round) {
    if (!Number.isSafeInteger(round)) return undefined;
    const row = await first(query<{ record: string }>(RECORD, [round]));
    return row && delegatesOfRound(row.record);
  },
});

const STATISTICS = `div(2 * sum(fee) + count(*), 2 * count(*))::text AS avg, max(fee)::text AS max, min(fee)::text AS min,
  sum(fee)::text AS sum`;
const OF_LAST = prepared(
  `SELECT ${STATISTICS} FROM (
     SELECT fee FROM transactions WHERE type_group = $1 AND type = $2::bigint
     ORDER BY height DESC, sequence DESC LIMIT $3
   ) AS last HAVING count(*) > 0`,
);
const SINCE = prepared(
  `SELECT type_group::float8 AS "typeGroup", type, ${STATISTICS} FROM transactions
   WHERE height >= $1 AND fee >= $2 GROUP BY type_group, type ORDER BY type_group, type`,
);

/** Statistics of paid fees. */
export const feesIn = ({ query }: SnapshotReads): Fees => ({
  ofLast: (count, typeGroup, type) => first(query<FeeStatistics>(OF_LAST, [typeGroup, type, count])),
  since: (height, minFee) => query<TypeFees>(SINCE, [height, Math.ceil(minFee)]),
});
