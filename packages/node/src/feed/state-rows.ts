/**
 * Reads the rows of the state after one block, page by page, for a new mirror. All pages come from one snapshot of the
 * database, on a separate connection: other reads and all writes continue meanwhile.
 */
import { BlockStore } from "../store/chain/blocks.ts";
import { type Database, openDatabase, type SqlValue } from "../store/engine/database.ts";
import { Dictionary, GENERATORS } from "../store/engine/dictionary.ts";
import { packedRoundText, type RoundRow } from "../store/state/packed-round.ts";
import { endLine, type Position, rowsLine, stateLine } from "./line.ts";

export type StateRows = {
  /** The block after which the state has these rows; undefined before the genesis block. */
  readonly position: Position | undefined;
  /** Lines, each with the number of its rows. */
  readonly lines: Iterable<{ readonly line: string; readonly count: number }>;
  /** Ends the snapshot. */
  close(): void;
};

/** Number of rows in one line; reading them costs at most 8 ms. */
const ROWS_PER_LINE = 500;

export function openStateRows(databasePath: string): StateRows {
  const database = openDatabase(databasePath, { readonly: true });
  database.execute("BEGIN");
  // The first read fixes the snapshot.
  const head = new BlockStore(database).head();
  return {
    position: head && { height: head.height, id: head.id },
    lines: linesOf(database),
    close: database.close,
  };
}

function* linesOf(database: Database) {
  for (const table of TABLES) yield* linesOfTable(database, table);
  yield* linesOfTable(database, roundTable(database));
}

function* linesOfTable<Row extends Columns>(database: Database, table: Table<Row>) {
  for (const rows of pagesOf(database, table)) yield { line: rowsLine(rows), count: rows.length };
}

type Columns = { readonly [column: string]: SqlValue };

/** A table of the database, in the order of its primary key. */
type Table<Row> = {
  readonly name: string;
  readonly columns: string;
  readonly key: readonly string[];
  /** Formats a row: table, key, and the members in the order of `store/state/json.ts`. */
  readonly toText: (row: Row) => string;
};

/** Yields pages of rows; each begins after the last key of the previous page. */
function* pagesOf<Row extends Columns>(
  database: Database,
  { name, columns, key, toText }: Table<Row>,
): Iterable<string[]> {
  const order = key.join(", ");
  const first = database.prepare<Row>(
    `SELECT ${columns} FROM ${name} ORDER BY ${order} LIMIT ${ROWS_PER_LINE}`,
  );
  const next = database.prepare<Row>(
    `SELECT ${columns} FROM ${name} WHERE (${order}) > (${key.map(() => "?").join(", ")})
     ORDER BY ${order} LIMIT ${ROWS_PER_LINE}`,
  );
  let page = first.all();
  while (page.length > 0) {
    yield page.map(toText);
    const last = page.at(-1);
    page = page.length < ROWS_PER_LINE ? [] : next.all(...key.map((column) => last?.[column] as SqlValue));
  }
}

const quoted = (text: string | null | undefined): string => JSON.stringify(text);

const TABLES: readonly Table<Record<string, string | null>>[] = [
  {
    name: "wallets",
    columns:
      "address, public_key, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, attributes",
    key: ["address"],
    toText: ({ address, public_key, balance, nonce, attributes }) =>
      `["wallets",${quoted(address)},"${balance}","${nonce}",${attributes}${public_key ? `,"${public_key}"` : ""}]`,
  },
  {
    name: "tokens",
    columns: "id, owner, first_transaction, last_transaction",
    key: ["id"],
    toText: ({ id, owner, first_transaction, last_transaction }) =>
      JSON.stringify(["tokens", id, owner, first_transaction, last_transaction]),
  },
  {
    name: "properties",
    columns: "token, key, value",
    key: ["token", "key"],
    toText: ({ token, key, value }) => JSON.stringify(["properties", `${token}/${key}`, value]),
  },
  {
    name: "entries",
    columns: "space, key, value",
    key: ["space", "key"],
    toText: ({ space, key, value }) => JSON.stringify([space, key, value]),
  },
  {
    name: "holdings",
    columns: "address, kind, id, previous, next, value",
    key: ["address", "kind", "id"],
    toText: ({ address, kind, id, previous, next, value }) =>
      `["holdings",${quoted(`${address}/${kind}/${id}`)},${value},${quoted(previous)},${quoted(next)}]`,
  },
];

function roundTable(database: Database): Table<RoundRow> {
  const generators = new Dictionary(database, GENERATORS);
  return {
    name: "rounds",
    columns: "round, height, delegates",
    key: ["round"],
    toText: (row) => `["rounds","${row.round}",${packedRoundText(row, generators)}]`,
  };
}

/**
 * Yields the text of a response of the feed (docs/spec/feed.md 2).
 *
 * @param maxMs time limit for all rows
 */
export async function* stateText(openState: () => StateRows, maxMs: number): AsyncIterable<string> {
  const rows = openState();
  const endMs = performance.now() + maxMs;
  try {
    if (!rows.position) return;
    yield stateLine(rows.position);
    let count = 0;
    for (const part of rows.lines) {
      // Without the last line, the mirror knows that rows are missing.
      if (performance.now() > endMs) return;
      count += part.count;
      yield part.line;
    }
    yield endLine(count);
  } finally {
    rows.close();
  }
}
