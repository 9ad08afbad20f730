/** Reads rankings from the database, in the thread that builds them and in the thread that keeps them. */
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import { type Kind, type RankedRow, type Ranking, rankingOf, SEQUENCES } from "./ranking.ts";
import { type Alternatives, fromText, inRange, valuesOf } from "./selection.ts";

/** Transactions in the order of a column. */
export type Ranked = {
  readonly column: string;
  readonly kind: Kind;
  /** Rows of the ranking; must not depend on the head. */
  readonly alternatives: Alternatives;
};

/** A ranking of all rows up to the first block of `roots`, which are consecutive blocks in descending order. */
export type RankingAt = { readonly ranking: Ranking; readonly roots: readonly Head[] };

export const TABLE = { table: "transactions", key: ["height", "sequence"] };

/** Number of blocks that can be reverted without reading all rows again. */
const ROOTS = 100;

/** Reads a ranking with its blocks, in one snapshot. */
export function readRankingAt(database: Database, ranked: Ranked, maxBytes: number): RankingAt | undefined {
  const roots = readRoots(database);
  const ranking = readRanking(database, ranked, { above: 0, maxBytes });
  return ranking && { ranking, roots };
}

export const readRoots = (database: Database): Head[] =>
  database
    .prepare<Head>(`SELECT id, height, timestamp FROM blocks ORDER BY height DESC LIMIT ${ROOTS}`)
    .all();

/** Reads a ranking of the rows above a height; undefined if it would be too large. */
export function readRanking(
  database: Database,
  { column, kind, alternatives }: Ranked,
  { above, maxBytes }: { above: number; maxBytes: number },
): Ranking | undefined {
  const found = inRange(alternatives, { sql: "height > ?", values: [above] });
  const texts = found.map((one) => `SELECT height, sequence, ${column} AS rank ${fromText(TABLE, one)}`);
  const rows = database.prepare<RankedRow>(
    `SELECT height * ${SEQUENCES} + sequence AS position, CAST(rank AS TEXT) AS value FROM (${texts.join(" UNION ")})
     ORDER BY rank IS NULL, rank, height DESC, sequence DESC`,
  );
  return rankingOf(kind, rows.iterate(...valuesOf(found)), maxBytes);
}
