/** Confirmed transactions with their position in the chain. */
import { CERTIFIED_MINT, CERTIFIED_UPDATE } from "@uniknode/ledger";
import { sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import { present } from "../../platform/present.ts";
import { prepared } from "../../postgres/reads.ts";
import type { Found, Range } from "../page.ts";
import { type Head, perHead, perSnapshot, type Transactions } from "../port.ts";
import type { StoredTransaction } from "../rows.ts";
import { type Heights, isOfHeights } from "../sql.ts";
import {
  type Foundation,
  isOfHeightsOnly,
  isOfTypes,
  type TypeCount,
  totalOfTypes,
} from "../transaction-rules.ts";
import { heightAt } from "./blocks.ts";
import { heightsOf, isBetween, isFar, startOfTransactions } from "./lists/heights.ts";
import { findPage } from "./lists/page.ts";
import type { ListedTable } from "./lists/page-sql.ts";
import { findRow, first, type SnapshotReads } from "./lists/reads.ts";
import { bytesOfHex, hex, nullable, orNull, type RowFields, rowText, textOfHex } from "./row-text.ts";
import { selectionOf } from "./transaction-filters.ts";

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
const BYTES = rowText([hex("bytes")], ([bytes]) => bytesOfHex(bytes));
const BYTES_BY_ID = prepared(`SELECT ${BYTES.sql} FROM transactions WHERE id = $1`);
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

/** Counts of transactions by type, which are read once per head. */
export const typeCountsPerHead = () =>
  perSnapshot(({ query }: SnapshotReads) => query<TypeCount>(TYPE_TOTALS));

type Caches = { readonly typeCounts: ReturnType<typeof typeCountsPerHead>; readonly blockIds: BlockIds };
type Asked = Parameters<Transactions["list"]>;

export class PostgresTransactions implements Transactions {
  readonly #reads: SnapshotReads;
  readonly #foundation: Foundation;
  readonly #caches: Caches;

  constructor(reads: SnapshotReads, foundation: Foundation, caches: Caches) {
    this.#reads = reads;
    this.#foundation = foundation;
    this.#caches = caches;
  }

  byId(id: string): Promise<StoredTransaction | undefined> {
    return findRow(this.#reads, SINGLE, BY_ID, id);
  }

  signedById(id: string): Promise<Transaction | undefined> {
    return findRow(this.#reads, SIGNED.row, SIGNED_BY_ID, id);
  }

  bytesById(id: string): Promise<Uint8Array | undefined> {
    return findRow(this.#reads, BYTES, BYTES_BY_ID, id);
  }

  async idsInBlock(height: number): Promise<string[]> {
    const rows = await this.#reads.query<{ readonly id: string }>(IDS_IN_BLOCK, [height]);
    return rows.map(({ id }) => id);
  }

  async certifiedInBlock(height: number): Promise<Transaction[]> {
    return (await this.#reads.query<RowFields>(CERTIFIED, [height])).map(SIGNED.row.read);
  }

  async list(...asked: Asked): Promise<Found<StoredTransaction>> {
    const found = await this.#page(LISTED, asked);
    await this.#caches.blockIds.set(this.#reads, found.rows);
    return found;
  }

  signedList(...asked: Asked): Promise<Found<Transaction>> {
    return this.#page(SIGNED, asked);
  }

  async #page<Row>(listed: ListedTable<Row>, [filter, order, range]: Asked): Promise<Found<Row>> {
    const reads = this.#reads;
    const heights = isOfHeights(filter)
      ? await heightsOf(reads, filter, (time) => heightAt(reads, time))
      : undefined;
    const isByHeight = order.field === "timestamp";
    const isPrepared = isByHeight && isOfHeightsOnly(filter);
    const find = (heights: Heights | undefined, range: Range, totalCount?: () => Promise<number>) => {
      const between = heights && isBetween(heights);
      const selection = { ...selectionOf(this.#foundation, filter, between, order), isPrepared };
      return findPage(reads, listed, selection, range, totalCount);
    };
    if (isOfTypes(filter)) {
      return find(heights, range, async () => totalOfTypes(await this.#caches.typeCounts(reads), filter));
    }
    if (!isOfHeightsOnly(filter)) return find(heights, range);
    const totalCount = () => totalOf(reads, heights);
    if (!isByHeight || !isFar(range)) return find(heights, range, totalCount);
    const all = heights ?? { low: 1, high: reads.head.height };
    const start = await startOfTransactions(reads, all, order.direction, range.offset);
    return find(start.heights, { ...range, offset: start.offset }, totalCount);
  }
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

/**
 * A transaction without the id of its block. Ids are cached by head: the transactions of a page have few blocks, and a subquery for each
 * row would be a fifth of the statement.
 */
type WithoutBlockId = { readonly height: number; blockId: string };

/** Maximum number of cached ids, about 2 MB. */
const MAX_IDS = 20_000;

const IDS = prepared("SELECT height::float8 AS height, id FROM blocks WHERE height = ANY ($1::bigint[])");
type Identified = { readonly height: number; readonly id: string };

/** Ids of blocks by head. */
export class BlockIds {
  readonly #knownAt: (head: Head) => LRUCache<number, string>;

  constructor(maxIds = MAX_IDS) {
    this.#knownAt = perHead(() => new LRUCache({ max: maxIds }));
  }

  /** Sets the ids of the blocks of transactions. */
  async set(reads: SnapshotReads, rows: readonly WithoutBlockId[]): Promise<void> {
    const known = this.#knownAt(reads.head);
    const ids = new Map(rows.map(({ height }) => [height, known.get(height)]));
    const missing = [...ids.keys()].filter((height) => ids.get(height) === undefined);
    const found = missing.length === 0 ? [] : await reads.query<Identified>(IDS, [missing]);
    for (const { height, id } of found) {
      ids.set(height, id);
      known.set(height, id);
    }
    for (const row of rows) row.blockId = present(ids.get(row.height), "the block of a transaction");
  }
}
