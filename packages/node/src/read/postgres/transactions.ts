/** Confirmed transactions with their position in the chain. */
import { CERTIFIED_MINT, CERTIFIED_UPDATE } from "@uniknode/ledger";
import { sealedFromTrustedBytes, TYPE_GROUPS } from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import { present } from "../../platform/present.ts";
import { prepared } from "../../postgres/reads.ts";
import type { TransactionFilter, TransactionOrder } from "../filters.ts";
import type { Found, Range } from "../page.ts";
import { perHead, perSnapshot, type Transactions } from "../port.ts";
import type { StoredTransaction } from "../rows.ts";
import { type Heights, isOfHeights } from "../sql.ts";
import { createHeightAt } from "./blocks.ts";
import { isStorable } from "./lists/conditions.ts";
import { heightsOf, isBetween, isFar, startOfTransactions } from "./lists/heights.ts";
import { findPage } from "./lists/page.ts";
import type { ListedTable } from "./lists/page-sql.ts";
import { first, type SnapshotReads } from "./lists/reads.ts";
import {
  bytesOfHex,
  firstOf,
  hex,
  nullable,
  orNull,
  type RowFields,
  rowText,
  textOfHex,
} from "./row-text.ts";
import {
  groupOf,
  isOfHeightsOnly,
  isOfTypes,
  selectionOf,
  type TransactionParties,
} from "./transaction-filters.ts";

const TABLE = { table: "transactions", key: ["height", "sequence"] };
/** A transaction; the id of its block is set from the cache. */
type Row = Omit<StoredTransaction, keyof WithoutBlockId> & WithoutBlockId;

/** @param blockId SQL of the id of the block */
const rowWith = (blockId: string) =>
  rowText(
    [
      "id",
      "version",
      "type_group",
      "type",
      "sender",
      nullable("recipient"),
      "amount",
      "fee",
      nullable(hex("vendor_field")),
      "signatures",
      nullable("asset"),
      blockId,
      "height",
      "timestamp",
      "nonce",
    ],
    ([
      id,
      version,
      typeGroup,
      type,
      sender,
      recipient,
      amount,
      fee,
      vendorField,
      signatures,
      asset,
      blockId,
      height,
      timestamp,
      nonce,
    ]): Row => ({
      id,
      version: Number(version),
      typeGroup: Number(typeGroup),
      type: Number(type),
      senderPublicKey: sender,
      recipientId: orNull(recipient),
      amount,
      fee,
      vendorField: textOfHex(vendorField),
      signatures,
      asset: orNull(asset),
      blockId,
      height: Number(height),
      timestamp: Number(timestamp),
      nonce,
    }),
  );
const LISTED = { ...TABLE, row: rowWith("''") };
// A join would cost more planning time than all other columns together.
const SINGLE = rowWith("(SELECT blocks.id FROM blocks WHERE blocks.height = transactions.height)");
const SIGNED = {
  ...TABLE,
  row: rowText(["id", hex("bytes")], ([id, bytes]) => sealedFromTrustedBytes(bytesOfHex(bytes), id).data),
};

const BY_ID = prepared(`SELECT ${SINGLE.sql} FROM transactions WHERE id = $1`);
const SIGNED_BY_ID = prepared(`SELECT ${SIGNED.row.sql} FROM transactions WHERE id = $1`);
const BYTES = { row: rowText([hex("bytes")], ([bytes]) => bytesOfHex(bytes)) };
const BYTES_BY_ID = prepared(`SELECT ${BYTES.row.sql} FROM transactions WHERE id = $1`);
const IDS_IN_BLOCK = prepared("SELECT id FROM transactions WHERE height = $1 ORDER BY sequence");
const CERTIFIED = prepared(
  `SELECT ${SIGNED.row.sql} FROM transactions
   WHERE type_group = ${TYPE_GROUPS.uns} AND type IN (${CERTIFIED_MINT}, ${CERTIFIED_UPDATE}) AND height = $1
   ORDER BY sequence`,
);
const TYPE_TOTALS = prepared(
  `SELECT type_group::float8 AS "typeGroup", type, transactions::float8 AS transactions FROM type_totals`,
);
const UP_TO = prepared(
  `SELECT coalesce(sum(CASE height WHEN $1 THEN transactions_up_to ELSE -transactions_up_to END), 0)::float8 AS total
   FROM blocks WHERE height IN ($1, $2)`,
);

type TypeTotal = { readonly typeGroup: number; readonly type: number; readonly transactions: number };

export function createTransactions(parties: TransactionParties): (reads: SnapshotReads) => Transactions {
  const typeTotals = perSnapshot(({ query }: SnapshotReads) => query<TypeTotal>(TYPE_TOTALS));
  const identifyBlocks = createIdentifyBlocks();

  async function list<Row>(
    listed: ListedTable<Row>,
    reads: SnapshotReads,
    [filter, order, range]: [TransactionFilter, TransactionOrder, Range],
  ): Promise<Found<Row>> {
    const heights = isOfHeights(filter) ? await heightsOf(reads, filter, createHeightAt(reads)) : undefined;
    const isPrepared = order.field === "timestamp" && isOfHeightsOnly(filter);
    const find = (heights: Heights | undefined, range: Range, totalCount?: () => Promise<number>) => {
      const selection = { ...selectionOf(parties, filter, heights && isBetween(heights), order), isPrepared };
      return findPage(reads, listed, selection, range, totalCount);
    };
    if (isOfTypes(filter)) {
      return find(heights, range, async () => totalOfTypes(await typeTotals(reads), filter));
    }
    if (!isOfHeightsOnly(filter)) return find(heights, range);
    const totalCount = () => totalOf(reads, heights);
    if (order.field !== "timestamp" || !isFar(range)) return find(heights, range, totalCount);
    const all = heights ?? { low: 1, high: reads.head.height };
    const start = await startOfTransactions(reads, all, order.direction, range.offset);
    return find(start.heights, { ...range, offset: start.offset }, totalCount);
  }

  return (reads) => {
    const { query } = reads;
    return {
      byId: async (id) => (isStorable(id) ? firstOf(SINGLE, query<RowFields>(BY_ID, [id])) : undefined),
      signedById: async (id) =>
        isStorable(id) ? firstOf(SIGNED.row, query<RowFields>(SIGNED_BY_ID, [id])) : undefined,
      bytesById: async (id) =>
        isStorable(id) ? firstOf(BYTES.row, query<RowFields>(BYTES_BY_ID, [id])) : undefined,
      idsInBlock: async (height) =>
        (await query<{ readonly id: string }>(IDS_IN_BLOCK, [height])).map(({ id }) => id),
      certifiedInBlock: async (height) => (await query<RowFields>(CERTIFIED, [height])).map(SIGNED.row.read),
      async list(...asked) {
        const found = await list(LISTED, reads, asked);
        await identifyBlocks(reads, found.rows);
        return found;
      },
      signedList: (...asked) => list(SIGNED, reads, asked),
    };
  };
}

/** Returns the number of all transactions, or of the transactions between two heights. */
async function totalOf(
  { transactions, query }: SnapshotReads,
  heights: Heights | undefined,
): Promise<number> {
  if (!heights) return transactions;
  const { low, high } = heights;
  if (low > high) return 0;
  return (await first(query<{ total: number }>(UP_TO, [high, low - 1])))?.total ?? 0;
}

function totalOfTypes(totals: readonly TypeTotal[], filter: TransactionFilter): number {
  const [group, type] = [Number(groupOf(filter)), filter.type];
  return totals
    .filter((one) => one.typeGroup === group && (type === undefined || one.type === Number(type)))
    .reduce((sum, { transactions }) => sum + transactions, 0);
}

/**
 * A transaction without the id of its block. Ids are cached by head: the transactions of a page have few blocks, and a subquery for each
 * row would be a fifth of the statement.
 */
type WithoutBlockId = { readonly height: number; blockId: string };

/** Sets the ids of the blocks of transactions. */
type IdentifyBlocks = (reads: SnapshotReads, rows: readonly WithoutBlockId[]) => Promise<void>;

/** Maximum number of cached ids, about 2 MB. */
const MAX_IDS = 20_000;

const IDS = prepared("SELECT height::float8 AS height, id FROM blocks WHERE height = ANY ($1::bigint[])");
type Identified = { readonly height: number; readonly id: string };

export function createIdentifyBlocks(maxIds = MAX_IDS): IdentifyBlocks {
  const knownAt = perHead(() => new LRUCache<number, string>({ max: maxIds }));
  return async (reads, rows) => {
    const known = knownAt(reads.head);
    const ids = new Map(rows.map(({ height }) => [height, known.get(height)]));
    const missing = [...ids.keys()].filter((height) => ids.get(height) === undefined);
    const found = missing.length === 0 ? [] : await reads.query<Identified>(IDS, [missing]);
    for (const { height, id } of found) {
      ids.set(height, id);
      known.set(height, id);
    }
    for (const row of rows) row.blockId = present(ids.get(row.height), "the block of a transaction");
  };
}
