/** Confirmed transactions with their position in the chain. */
import { CERTIFIED_MINT, CERTIFIED_UPDATE } from "@uniknode/ledger";
import { sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { prepared } from "../../postgres/reads.ts";
import type { TransactionFilter, TransactionOrder } from "../filters.ts";
import { perSnapshot } from "../head.ts";
import type { Found, Range } from "../page.ts";
import type { Transactions } from "../port.ts";
import type { StoredTransaction } from "../rows.ts";
import { createHeightAt } from "./blocks.ts";
import { textOrNull } from "./bytes.ts";
import { isFar, startOfTransactions } from "./far-pages.ts";
import { isStorable } from "./pages/conditions.ts";
import { type Heights, heightsOf, isBetween, isOfHeights } from "./pages/heights.ts";
import { findPage, type ListedTable } from "./pages/page.ts";
import { first, type SnapshotReads } from "./pages/reads.ts";
import type { Parties } from "./parties.ts";
import { groupOf, isOfHeightsOnly, isOfTypes, selectionOf } from "./transaction-filters.ts";

const TABLE = { table: "transactions", key: ["height", "sequence"] };
const LISTED: ListedTable = {
  ...TABLE,
  columns: `id, version, type_group::float8 AS "typeGroup", type, sender AS "senderPublicKey",
    recipient AS "recipientId", amount, fee, vendor_field AS "vendorField", signatures, asset,
    height::float8 AS height, timestamp::float8 AS timestamp, nonce, "blockId"`,
  joins: `JOIN (SELECT height, id AS "blockId" FROM blocks) AS block USING (height)`,
};
const SIGNED: ListedTable = { ...TABLE, columns: "id, bytes" };

const BY_ID = prepared(`SELECT ${LISTED.columns} FROM transactions ${LISTED.joins} WHERE id = $1`);
const SIGNED_BY_ID = prepared(`SELECT ${SIGNED.columns} FROM transactions WHERE id = $1`);
const CERTIFIED = prepared(
  `SELECT ${SIGNED.columns} FROM transactions
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

type TransactionRow = Omit<StoredTransaction, "vendorField"> & { readonly vendorField: Uint8Array | null };
type SignedRow = { readonly id: string; readonly bytes: Uint8Array };
type TypeTotal = { readonly typeGroup: number; readonly type: number; readonly transactions: number };

export function createTransactions(parties: Parties): (reads: SnapshotReads) => Transactions {
  const typeTotals = perSnapshot(({ query }: SnapshotReads) => query<TypeTotal>(TYPE_TOTALS));

  async function list<Row extends object>(
    listed: ListedTable,
    reads: SnapshotReads,
    [filter, order, range]: [TransactionFilter, TransactionOrder, Range],
  ): Promise<Found<Row>> {
    const heights = isOfHeights(filter) ? await heightsOf(reads, filter, createHeightAt(reads)) : undefined;
    const find = (heights: Heights | undefined, range: Range, totalCount?: () => Promise<number>) => {
      const selection = selectionOf(parties, filter, heights && isBetween(heights), order);
      return findPage<Row>(reads, listed, selection, range, totalCount);
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
    const signed = async (rows: Promise<SignedRow[]>) => (await rows).map(signedFromRow);
    return {
      async byId(id) {
        const row = isStorable(id) ? await first(query<TransactionRow>(BY_ID, [id])) : undefined;
        return row && transactionFromRow(row);
      },
      signedById: async (id) =>
        isStorable(id) ? first(signed(query<SignedRow>(SIGNED_BY_ID, [id]))) : undefined,
      certifiedInBlock: (height) => signed(query<SignedRow>(CERTIFIED, [height])),
      async list(...asked) {
        const { rows, ...found } = await list<TransactionRow>(LISTED, reads, asked);
        return { rows: rows.map(transactionFromRow), ...found };
      },
      async signedList(...asked) {
        const { rows, ...found } = await list<SignedRow>(SIGNED, reads, asked);
        return { rows: rows.map(signedFromRow), ...found };
      },
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

const signedFromRow = ({ id, bytes }: SignedRow): Transaction => sealedFromTrustedBytes(bytes, id).data;

const transactionFromRow = ({ vendorField, ...row }: TransactionRow): StoredTransaction => ({
  ...row,
  vendorField: textOrNull(vendorField),
});
