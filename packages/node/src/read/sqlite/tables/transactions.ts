/** Confirmed transactions with their position in the chain. */
import { CERTIFIED_MINT, CERTIFIED_UPDATE } from "@uniknode/ledger";
import { sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import { prepareById } from "../../../store/chain/stored-id.ts";
import { RECIPIENTS } from "../../../store/dictionaries.ts";
import type { Database } from "../../../store/engine/database.ts";
import { createDictionary } from "../../../store/engine/dictionary.ts";
import type { TransactionFilter, TransactionOrder } from "../../filters.ts";
import type { Foundation } from "../../foundation.ts";
import type { Head } from "../../head.ts";
import type { Found, Range } from "../../page.ts";
import type { StoredTransaction } from "../../rows.ts";
import { createCountCache, createIncrementalCounts, createStoredCounts } from "../lists/count-cache.ts";
import { createIndexScan } from "../lists/index-scan.ts";
import type { PlannerOptions } from "../lists/planner.ts";
import { createPositionLists } from "../lists/position-list.ts";
import { createRowsAt } from "../lists/position-page.ts";
import type { ChunksOf } from "../lists/time-box.ts";
import { createTimeBoxedScan } from "../lists/time-boxed-scan.ts";
import { createTransactionList, TRANSACTIONS } from "../lists/transaction-list.ts";
import type { ValueIndexes } from "../lists/value-index-cache.ts";
import { defineAssets } from "./assets.ts";
import { createParties } from "./parties.ts";
import { TRANSACTION_COLUMNS, type TransactionRow, toStoredTransaction } from "./rows.ts";
import { type FilterDependencies, transactionQueryOf } from "./transaction-filters.ts";

export type TransactionQueries = {
  byId(id: string): StoredTransaction | undefined;
  /** Returns the transaction as it was signed. */
  signedById(id: string): Transaction | undefined;
  bytesById(id: string): Uint8Array | undefined;
  /** Returns the ids of the transactions of a block, in block order. */
  idsInBlock(height: number): string[];
  /** Returns the certified mints and updates of a block, in block order: only these are rewarded. */
  certifiedInBlock(height: number): Transaction[];
  list: ListOf<StoredTransaction>;
  signedList: ListOf<Transaction>;
};

type ListOf<T> = (head: Head, filter: TransactionFilter, order: TransactionOrder, range: Range) => Found<T>;

export type TransactionQueryOptions = Pick<FilterDependencies, "heightAt"> &
  PlannerOptions & {
    readonly foundation: Foundation;
    readonly chunksOf: ChunksOf;
    readonly valueIndexes: ValueIndexes;
  };

type SignedRow = { id: string; bytes: Uint8Array };

/** Exposes only the selected columns of blocks: transactions have most of the other column names too. */
const JOINS = "CROSS JOIN (SELECT height, id AS block, timestamp FROM blocks) AS block USING (height)";
const SIGNED = "id_text AS id, bytes";

export function createTransactionQueries(
  database: Database,
  options: TransactionQueryOptions,
): TransactionQueries {
  defineAssets(database);
  const byId = prepareById<TransactionRow>(database, TRANSACTION_IDS, TRANSACTION_COLUMNS, JOINS);
  const bytesById = prepareById<Pick<SignedRow, "bytes">>(database, TRANSACTION_IDS, "bytes");
  const idsInBlock = database.prepare<Pick<SignedRow, "id">>(
    "SELECT id_text AS id FROM transactions WHERE height = +? ORDER BY sequence",
  );
  const certifiedInBlock = database.prepare<SignedRow>(
    `SELECT ${SIGNED} FROM transactions INDEXED BY transactions_type
     WHERE type_group = ${TYPE_GROUPS.uns} AND type IN (${CERTIFIED_MINT}, ${CERTIFIED_UPDATE}) AND height = +?
     ORDER BY sequence`,
  );
  const createList = createLists(database, options);
  const list = createList<TransactionRow>(TRANSACTION_COLUMNS, JOINS);
  const signedList = createList<SignedRow>(SIGNED);
  const recipients = createDictionary(database, RECIPIENTS);
  const toStored = (row: TransactionRow) => toStoredTransaction(row, recipients);
  return {
    byId(id) {
      const row = byId(id);
      return row && toStored(row);
    },
    signedById(id) {
      const row = bytesById(id);
      return row && signedFromRow({ id, ...row });
    },
    bytesById: (id) => bytesById(id)?.bytes,
    idsInBlock: (height) => idsInBlock.all(height).map(({ id }) => id),
    certifiedInBlock: (height) => certifiedInBlock.all(height).map(signedFromRow),
    list(...query) {
      const { rows, ...found } = list(...query);
      recipients.load(rows.flatMap(({ recipient }) => recipient ?? []));
      return { rows: rows.map(toStored), ...found };
    },
    signedList(...query) {
      const { rows, ...found } = signedList(...query);
      return { rows: rows.map(signedFromRow), ...found };
    },
  };
}

/** Returns a function that creates lists with other columns; the lists share what is counted and indexed. */
function createLists(
  database: Database,
  { foundation, heightAt, chunksOf, valueIndexes, minIndexedRows, onPlan }: TransactionQueryOptions,
): <Row>(columns: string, joins?: string) => ListOf<Row> {
  const storedCounts = createStoredCounts(database);
  const filters: FilterDependencies = {
    parties: createParties(database, foundation),
    storedCounts,
    heightAt,
  };
  const incrementalCount = createIncrementalCounts(database, chunksOf, TRANSACTIONS);
  const shared = { valueIndexes, storedCounts, incrementalCount, minIndexedRows };
  const list = createTransactionList({
    ...shared,
    onPlan,
    count: createCountCache(database, chunksOf, TRANSACTIONS),
    positionLists: createPositionLists({ ...shared, database, chunksOf }),
  });
  return <Row>(columns: string, joins = ""): ListOf<Row> => {
    const listed = { ...TRANSACTIONS, columns, joins };
    const indexScan = createIndexScan<Row>(database, listed);
    const timeBoxedScan = createTimeBoxedScan<Row>(database, listed, { chunksOf, indexScan });
    const rowsAt = createRowsAt<Row>(database, columns, joins);
    return (head, filter, order, range) =>
      list(
        { indexScan, timeBoxedScan, rowsAt },
        head,
        transactionQueryOf(filters, head, filter, order),
        range,
      );
  };
}

const signedFromRow = ({ id, bytes }: SignedRow): Transaction => sealedFromTrustedBytes(bytes, id).data;
