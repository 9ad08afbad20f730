/** Compares the blocks, their transactions and the numbers derived from them with the chain of the node. */
import type { Network } from "@uniknode/protocol";
import type { Position } from "../../feed/line.ts";
import type { Query } from "../../postgres/connection.ts";
import {
  BLOCK_COLUMNS,
  chainRows,
  countTypes,
  PAYEE_COLUMNS,
  TRANSACTION_COLUMNS,
  typeRows,
} from "../block-rows.ts";
import { batchesOf } from "../bootstrap.ts";
import type { FeedLine } from "../line.ts";
import type { Columns } from "../statements.ts";
import { readRows, type TableCheck, TableComparison, type Values } from "./comparison.ts";

const TYPE_COLUMNS: Columns = [
  ["type_group", "bigint"],
  ["type", "integer"],
  ["transactions", "bigint"],
];

/** The tables of the chain, each with the key by which a range of heights is sorted. */
const TABLES = [
  { name: "blocks", columns: BLOCK_COLUMNS, key: ["height"] },
  { name: "transactions", columns: TRANSACTION_COLUMNS, key: ["height", "sequence"] },
  { name: "payees", columns: PAYEE_COLUMNS, key: ["height", "sequence", "address"] },
] as const;

/** Maximum number of rows per statement that belong to no block of the node. */
const REST_ROWS = 1_000;

type ChainCheck = {
  readonly tables: readonly TableCheck[];
  /** Last block of the node's response. */
  readonly last: Position;
  readonly transactions: bigint;
};

/**
 * Compares all tables of the chain.
 *
 * @param lines all blocks of the node
 * @throws {MirrorError} MIRROR_NODE_UNREACHABLE, MIRROR_FEED_INVALID
 */
export async function checkChain(
  query: Query,
  lines: AsyncIterable<FeedLine>,
  network: Network,
): Promise<ChainCheck> {
  const comparisons = TABLES.map((table) => ({
    ...table,
    comparison: new TableComparison(
      table.name,
      table.columns,
      table.key.map((name) => table.columns.findIndex(([column]) => column === name)),
    ),
  }));
  const counts = new Map<string, number>();
  let last: Position = { height: 0, id: "0" };
  let transactions = 0n;
  for await (const bundles of batchesOf(lines, network)) {
    const blocks = bundles.map(({ block }) => block);
    const expected = await chainRows(query, blocks, transactions);
    const range = [last.height + 1, last.height + blocks.length];
    // The recipients of a multi-payment are in the order of its payments; all other rows are sorted.
    expected.payees.sort(comparePayees);
    for (const { name, columns, key, comparison } of comparisons) {
      const rows = `FROM ${name} WHERE height BETWEEN $1 AND $2 ORDER BY ${key.join(", ")}`;
      comparison.compare(expected[name], await readRows(query, columns, rows, range));
    }
    transactions += BigInt(expected.transactions.length);
    countTypes(counts, blocks);
    const { height, id } = bundles.at(-1) ?? last;
    last = { height, id };
  }
  for (const { name, columns, key, comparison } of comparisons) {
    const rest = `FROM ${name} WHERE height > $1 OR height < 1 ORDER BY ${key.join(", ")} LIMIT ${REST_ROWS}`;
    comparison.compare([], await readRows(query, columns, rest, [last.height]));
  }
  const results = comparisons.map(({ comparison }) => comparison.result());
  return { tables: [...results, await checkTypeTotals(query, counts)], last, transactions };
}

const comparePayees = ([a, height, sequence]: Values, [b, otherHeight, otherSequence]: Values): number =>
  Number(height) - Number(otherHeight) ||
  Number(sequence) - Number(otherSequence) ||
  Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));

async function checkTypeTotals(query: Query, counts: ReadonlyMap<string, number>): Promise<TableCheck> {
  const comparison = new TableComparison("type_totals", TYPE_COLUMNS, [0, 1]);
  const expected = typeRows(counts).sort(
    (a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]),
  );
  comparison.compare(
    expected,
    await readRows(query, TYPE_COLUMNS, "FROM type_totals ORDER BY type_group, type"),
  );
  return comparison.result();
}
