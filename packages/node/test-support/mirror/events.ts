/** Compares the copy of an event log with the log of the node. */
import assert from "node:assert/strict";
import { readCopy } from "../../src/mirror/events/rows.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import type { Database } from "../../src/store/engine/database.ts";

const COLUMNS = "sequence, id, name, height, block_id, created_ms, time_ms, reverts, data";

/** Returns the rows of a node's log after a sequence, in order. */
export const nodeEvents = (database: Database, after: number): string[] =>
  database
    .prepare<unknown[]>(`SELECT ${COLUMNS} FROM events WHERE sequence > +? ORDER BY sequence`, {
      arrays: true,
    })
    .all(after)
    .map(textOf);

/** Returns the rows of a copy after a sequence, in order. */
export async function copiedEvents(postgres: Postgres, after: number): Promise<string[]> {
  const rows = await postgres.query<object>(
    `SELECT ${COLUMNS} FROM events WHERE sequence > $1 ORDER BY sequence`,
    [after],
  );
  return rows.map((row) => textOf(Object.values(row)));
}

/** Requires that a copy which has the last event of a node has all rows of its log from the first copied one on. */
export async function compareEvents(database: Database, postgres: Postgres): Promise<void> {
  const copied = await copiedEvents(postgres, 0);
  const { sequence, gaps } = await readCopy(postgres);
  assert.equal(gaps, 0);
  assert.deepEqual(copied, nodeEvents(database, sequence - copied.length));
}

const textOf = (row: readonly unknown[]): string => row.map(String).join(" | ");
