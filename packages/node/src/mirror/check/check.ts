/**
 * Compares every table of a mirror with its node after the same block. Each side is read page by page from one
 * snapshot. The node sends the same records and blocks as to a new mirror, from its serving thread.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Network } from "@uniknode/protocol";
import type { Position } from "../../feed/line.ts";
import type { Postgres, Query } from "../../postgres/connection.ts";
import type { FeedClient } from "../feed-client.ts";
import { readHead } from "../head.ts";
import type { FeedLine, Row } from "../line.ts";
import { MirrorError } from "../mirror-error.ts";
import { RECORD_TABLES, type RecordTable, tableOf, toColumns } from "../records.ts";
import type { Columns } from "../statements.ts";
import { checkChain } from "./chain.ts";
import { readRows, type TableCheck, TableComparison, type Values } from "./comparison.ts";

export type CheckDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "blocks" | "state">;
  readonly network: Network;
  readonly signal: AbortSignal;
};

export type MirrorCheck = {
  /** The block after which both sides were read. */
  readonly position: Position;
  readonly tables: readonly TableCheck[];
};

/** Maximum number of attempts to read both sides after the same block; a new block can spoil an attempt. */
const MAX_ATTEMPTS = 30;
/** Time for the mirror to reach the block of the node. */
const CATCH_UP_MS = 5_000;
const POLL_MS = 20;

/**
 * Compares all tables.
 *
 * @throws {MirrorError} MIRROR_BEHIND if the two sides never had the same block; MIRROR_DATABASE if the mirror is not
 * complete
 */
export async function checkMirror(deps: CheckDeps): Promise<MirrorCheck> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const check = await attemptCheck(deps);
    if (check) return check;
  }
  throw new MirrorError(
    "MIRROR_BEHIND",
    `the mirror did not have the block of the node in ${MAX_ATTEMPTS} attempts: check that "uniknode mirror" follows this node, and retry`,
  );
}

/** @throws {MirrorError} MIRROR_DIFFERS, which names the tables and the keys */
export function requireEqual({ position, tables }: MirrorCheck): void {
  const different = tables.flatMap(({ table, difference }) =>
    difference ? [`${table} (${difference.rows} rows, from ${difference.from} to ${difference.to})`] : [],
  );
  if (different.length === 0) return;
  throw new MirrorError(
    "MIRROR_DIFFERS",
    `the mirror differs from the node after block ${position.height} in ${different.join(", ")}: ` +
      "stop the mirror, and start it with an empty database",
  );
}

/** Returns undefined if the two have different blocks, or the node switched to another branch meanwhile. */
async function attemptCheck(deps: CheckDeps): Promise<MirrorCheck | undefined> {
  const { postgres, feed, signal } = deps;
  const lines = feed.state(signal)[Symbol.asyncIterator]();
  try {
    const { value: first } = await lines.next();
    if (!first || !("state" in first)) {
      throw new MirrorError("MIRROR_FEED_INVALID", "the state of the node has no block");
    }
    const position = first.state;
    await waitFor(postgres, position);
    return await postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", ({ query }) =>
      compareAt(position, lines, { ...deps, query }),
    );
  } finally {
    // Ends the response of an abandoned attempt.
    await lines.return?.();
  }
}

async function compareAt(
  position: Position,
  state: AsyncIterator<FeedLine>,
  { query, feed, network, signal }: CheckDeps & { readonly query: Query },
): Promise<MirrorCheck | undefined> {
  const [head] = await query<{ height: string; id: string; phase: string; transactions: string }>(
    "SELECT height, id, phase, transactions FROM head",
  );
  if (head?.id !== position.id) return undefined;
  const records = await checkState(query, state);
  const chain = await checkChain(query, feed.blocks(0, position.height, signal), network);
  if (chain.last.id !== position.id) return undefined;
  const comparison = new TableComparison("head", HEAD_COLUMNS, [0]);
  comparison.compare(
    [[position.height, position.id, `${chain.transactions}`]],
    [[head.height, head.id, head.transactions]],
  );
  return { position, tables: [comparison.result(), ...chain.tables, ...records] };
}

const HEAD_COLUMNS: Columns = [
  ["height", "bigint"],
  ["id", "text"],
  ["transactions", "bigint"],
];

/** Waits until the mirror has reached a height, for a limited time. */
async function waitFor(postgres: Postgres, { height }: Position): Promise<void> {
  const endMs = performance.now() + CATCH_UP_MS;
  for (;;) {
    const head = await readHead(postgres);
    if (head?.phase !== "ready") {
      throw new MirrorError(
        "MIRROR_DATABASE",
        'the mirror is not complete: wait until "uniknode mirror" follows the node, and retry',
      );
    }
    if (head.height >= height || performance.now() > endMs) return;
    await sleep(POLL_MS);
  }
}

type Table = RecordTable & {
  readonly comparison: TableComparison;
  /** Key of the last compared row. */
  last: Values | undefined;
};

/** Maximum number of rows per statement. */
const PAGE_ROWS = 1_000;

/**
 * Compares all tables of records of the state.
 *
 * @param lines records in the order of their tables and keys, after the line that names their block
 * @throws {MirrorError} MIRROR_NODE_UNREACHABLE if the lines end early
 */
async function checkState(query: Query, lines: AsyncIterator<FeedLine>): Promise<TableCheck[]> {
  const tables = RECORD_TABLES.map((table): Table => {
    const key = Array.from({ length: table.keyLength }, (_, column) => column);
    return { ...table, comparison: new TableComparison(table.name, table.columns, key), last: undefined };
  });
  for (;;) {
    const { value: line, done } = await lines.next();
    if (done) {
      throw new MirrorError("MIRROR_NODE_UNREACHABLE", "the node ended the records of the state early");
    }
    if ("end" in line) break;
    if (!("rows" in line)) throw new MirrorError("MIRROR_FEED_INVALID", "a line of the state has no records");
    await comparePage(query, tables, line.rows);
  }
  for (const table of tables) await compareRest(query, table);
  return tables.map(({ comparison }) => comparison.result());
}

/** Compares records with the rows of the mirror from the last compared key up to the last key of the records. */
async function comparePage(query: Query, tables: readonly Table[], rows: readonly Row[]): Promise<void> {
  for (const [{ name }, some] of Map.groupBy(rows, ([table]) => tableOf(table))) {
    const table = tables.find((known) => known.name === name);
    const expected = some.map(toColumns);
    const end = expected.at(-1)?.slice(0, table?.keyLength);
    if (!table || !end) continue;
    table.comparison.compare(expected, await readPage(query, table, { end }));
    table.last = end;
  }
}

/** Compares the rows after the node's last record; a correct mirror has none. */
async function compareRest(query: Query, table: Table): Promise<void> {
  for (;;) {
    const found = await readPage(query, table, { limit: PAGE_ROWS });
    if (found.length === 0) return;
    table.comparison.compare([], found);
    table.last = found.at(-1)?.slice(0, table.keyLength);
  }
}

/** Reads the rows after the last compared row, up to a key or a number of rows. */
async function readPage(
  query: Query,
  { name, columns, keyLength, last }: Table,
  { end, limit }: { readonly end?: Values; readonly limit?: number },
): Promise<Values[]> {
  const key = columns.slice(0, keyLength);
  const keys = key.map(([column]) => column).join(", ");
  const placeholders = (start: number) =>
    key.map(([, type], index) => `$${start + index + 1}::${type}`).join(", ");
  const conditions = [
    ...(last ? [`(${keys}) > (${placeholders(0)})`] : []),
    ...(end ? [`(${keys}) <= (${placeholders(last ? keyLength : 0)})`] : []),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const page = limit === undefined ? "" : `LIMIT ${limit}`;
  return readRows(query, columns, `FROM ${name} ${where} ORDER BY ${keys} ${page}`, [
    ...(last ?? []),
    ...(end ?? []),
  ]);
}
