/** Confirmed transactions with their position in the chain. */
import { sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import type { TransactionFilter, TransactionOrder } from "../filters.ts";
import type { Head } from "../head.ts";
import type { Found, Integer, Interval, Range } from "../page.ts";
import type { StoredTransaction } from "../rows.ts";
import { type AssetTest, defineAssets, ofType, unlocking, withAsset } from "./assets.ts";
import {
  anyOf,
  type Condition,
  conditionsOf,
  type Field,
  found,
  hasValue,
  integer,
  NEVER,
  text,
} from "./pages/conditions.ts";
import { heightConditions, heightsOf, isOfHeights } from "./pages/heights.ts";
import type { OrderTerm } from "./pages/order.ts";
import { createRowsAt } from "./pages/positions.ts";
import { createRowCounts } from "./pages/row-counts.ts";
import { alternativesOf } from "./pages/selection.ts";
import type { Stretches } from "./pages/stretches.ts";
import { createTallies } from "./pages/tallies.ts";
import { createTotals } from "./pages/totals.ts";
import { createTransactionPages, TRANSACTIONS, type TransactionQuestion } from "./pages/transaction-pages.ts";
import { createParties } from "./parties.ts";
import { createByIndex } from "./plans/by-index.ts";
import { createMatching, type Wanted } from "./plans/by-match.ts";
import { createByRanking } from "./plans/by-ranking.ts";
import { createByStretches } from "./plans/by-stretches.ts";
import type { Asked } from "./plans/choose.ts";
import type { Rankings } from "./rankings/rankings.ts";

/** Filters that are more than the comparison of a column with a value. */
type OwnCondition =
  | "addresses"
  | "asset"
  | "blockId"
  | "height"
  | "lockIds"
  | "participant"
  | "recipientId"
  | "senderId"
  | "timestamp"
  | "type"
  | "typeGroup"
  | "vendorField";

const FIELDS = {
  id: text("id", "few"),
  version: integer("version"),
  senderPublicKey: text("sender", "some"),
  // Qualified: the bare name would be the text column of the result.
  nonce: integer("transactions.nonce"),
  amount: integer("transactions.amount"),
  fee: integer("transactions.fee"),
} as const satisfies Record<Exclude<keyof TransactionFilter, OwnCondition>, Field>;

const TYPE = integer("type");
const TYPE_GROUP = integer("type_group");

const CERTIFIED_MINT = 3;
const CERTIFIED_UPDATE = 4;

const ORDERS = {
  amount: FIELDS.amount,
  fee: FIELDS.fee,
  nonce: FIELDS.nonce,
  timestamp: integer("height"),
  type: TYPE,
  typeGroup: TYPE_GROUP,
  vendorField: text("vendor_field"),
  version: FIELDS.version,
} as const satisfies Record<TransactionOrder["field"], Field>;

/** Filters that a ranking can look up. Types have an index. */
const SEARCHED = ["amount", "fee", "nonce", "version", "vendorField"] as const;

const sentWith = (publicKey: string): Condition => found({ sql: "sender = +?", values: [publicKey] }, "some");

export type TransactionQueries = {
  byId(id: string): StoredTransaction | undefined;
  /** Returns the transaction as it was signed. */
  signedById(id: string): Transaction | undefined;
  /** Returns the certified mints and updates of a block, in block order: only these are rewarded. */
  certifiedInBlock(height: number): Transaction[];
  list: ListOf<StoredTransaction>;
  signedList: ListOf<Transaction>;
};

type ListOf<T> = (head: Head, filter: TransactionFilter, order: TransactionOrder, range: Range) => Found<T>;

export type TransactionQueryOptions = {
  /** Address of the network's foundation, if it has one. */
  readonly foundation: string | undefined;
  /** First height from which updates no longer pay the foundation; absent if no height is set. */
  readonly foundationUntil: number | undefined;
  /** Returns the height of the first block at or after a network time. */
  readonly heightAt: (time: number, head: Head) => number;
  readonly stretches: Stretches;
  readonly rankings: Rankings;
  /** Minimum number of rows for which a ranking is built. */
  readonly minRanked: number;
};

type SignedRow = { id: string; bytes: Uint8Array };

const COLUMNS = `id, version, type_group AS typeGroup, type, sender AS senderPublicKey, recipient AS recipientId,
  CAST(amount AS TEXT) AS amount, CAST(fee AS TEXT) AS fee, vendor_field AS vendorField, signatures, asset,
  height, timestamp, CAST(nonce AS TEXT) AS nonce, blockId`;
/** Exposes only the selected columns of blocks: transactions have most of the other column names too. */
const JOINS = "CROSS JOIN (SELECT height, id AS blockId FROM blocks) AS block USING (height)";
const SIGNED = "id, bytes";

export function createTransactionQueries(
  database: Database,
  { heightAt, stretches, rankings, minRanked, ...options }: TransactionQueryOptions,
): TransactionQueries {
  defineAssets(database);
  const parties = createParties(database, options);
  const byId = database.prepare<StoredTransaction>(
    `SELECT ${COLUMNS} FROM transactions ${JOINS} WHERE id = +?`,
  );
  const signedById = database.prepare<SignedRow>(`SELECT ${SIGNED} FROM transactions WHERE id = ?`);
  const certifiedInBlock = database.prepare<SignedRow>(
    `SELECT ${SIGNED} FROM transactions INDEXED BY transactions_type
     WHERE type_group = ${TYPE_GROUPS.uns} AND type IN (${CERTIFIED_MINT}, ${CERTIFIED_UPDATE}) AND height = +?
     ORDER BY sequence`,
  );
  const totals = createTotals(database);
  const page = createTransactionPages({
    totals,
    tally: createTallies(database, stretches, TRANSACTIONS),
    count: createRowCounts(database, stretches, TRANSACTIONS),
    matching: createMatching(database, stretches, rankings),
    rankings,
    byRanking: createByRanking(database),
    minRanked,
  });

  /** Returns the conditions of a filter except heights and times. */
  function conditionsFor(filter: TransactionFilter): Condition[] {
    const { blockId, vendorField, senderId } = filter;
    // A type without a group belongs to the core group.
    const { type, typeGroup = type === undefined ? undefined : TYPE_GROUPS.core } = filter;
    const conditions = conditionsOf(FIELDS, filter);
    if (isOne(type) && isOne(typeGroup)) conditions.push(ofType(typeGroup, type));
    else {
      if (type !== undefined) conditions.push(hasValue(TYPE, type));
      if (typeGroup !== undefined) conditions.push(hasValue(TYPE_GROUP, typeGroup));
    }
    if (blockId !== undefined) {
      const sql = "height = (SELECT height FROM blocks WHERE id = ?)";
      conditions.push(found({ sql, values: [blockId] }, "few"));
    }
    if (vendorField !== undefined) {
      conditions.push(wantedIn(ORDERS.vendorField, vendorField));
    }
    if (senderId !== undefined) conditions.push(parties.sentBy(senderId));
    return conditions;
  }

  /** Returns the number of transactions that match a filter; undefined if it has conditions other than types. */
  function totalOfTypes(head: Head, filter: TransactionFilter): number | undefined {
    const { type, typeGroup, ...others } = filter;
    if (typeof type === "object" || typeof typeGroup === "object") return undefined;
    if (isOfHeights(filter) || conditionsFor(others).length > 0) return undefined;
    const group = typeGroup ?? TYPE_GROUPS.core;
    return totals
      .byType(head)
      .filter((one) => one.typeGroup === Number(group) && (type === undefined || one.type === Number(type)))
      .reduce((sum, { transactions }) => sum + transactions, 0);
  }

  /**
   * Expands a group to its types if no other condition has an index: an index has the transactions of each type along the
   * chain, but not those of a group.
   */
  function typesOfGroup(head: Head, filter: TransactionFilter): Condition[] | undefined {
    const { type, typeGroup } = filter;
    if (type !== undefined || !isOne(typeGroup)) return undefined;
    if (conditionsFor(filter).some(({ finds }) => finds)) return undefined;
    const types = totals.byType(head).filter((one) => one.typeGroup === Number(typeGroup));
    return types.length === 0 ? [NEVER] : types.map((one) => ofType(one.typeGroup, one.type));
  }

  function questionOf(head: Head, filter: TransactionFilter, order: TransactionOrder): TransactionQuestion {
    const { recipientId, addresses, participant } = filter;
    const assets = assetTests(filter);
    // Each of these is a list of alternatives. The first list is looked up, the others are only tested.
    const [ways, ...others] = [
      ...(participant === undefined ? [] : [parties.involving(participant)]),
      ...(recipientId === undefined ? [] : [parties.receivedBy(recipientId)]),
      ...(addresses === undefined ? [] : [parties.between(addresses)]),
      ...assets.map(({ types }) => types),
    ];
    const types = ways ? undefined : typesOfGroup(head, filter);
    const rest = types ? withoutGroup(filter) : filter;
    const asked = conditionsFor(rest);
    const heights = heightsOf(head, filter, heightAt);
    const isRange = !ways && !types && asked.length === 0;
    const conditions = [
      ...(isOfHeights(filter) ? heightConditions(heights) : []),
      ...asked,
      ...others.map(anyOf),
      // Last, because it reads the asset.
      ...assets.map(({ condition }) => condition),
    ];
    const { field, direction, sequence = "desc" } = order;
    return {
      selection: { conditions, ways: ways ?? types ?? [], order: orderOf(order) },
      ...(field !== "timestamp" && { by: ORDERS[field] }),
      direction,
      sequence,
      ...(isRange && { heights }),
      filter: kindOf(filter, isRange),
      wanted: wantedOf(rest),
      indexed: [
        ...(filter.senderId === undefined
          ? []
          : [alternativesOf({ conditions: [parties.sentBy(filter.senderId)] })]),
        ...(filter.senderPublicKey === undefined
          ? []
          : [alternativesOf({ conditions: [sentWith(filter.senderPublicKey)] })]),
        ...(ways ? [alternativesOf({ conditions: [], ways })] : []),
      ],
      typesTotal: ways || isRange ? undefined : totalOfTypes(head, filter),
    };
  }

  const createFilteredList = <Row>(columns: string, joins = ""): ListOf<Row> => {
    const listed = { ...TRANSACTIONS, columns, joins };
    const byIndex = createByIndex<Row>(database, listed);
    const byStretches = createByStretches<Row>(database, listed, { stretches, byIndex });
    const at = createRowsAt<Row>(database, columns, joins);
    return (head, filter, order, range) =>
      page({ byIndex, byStretches, at }, head, questionOf(head, filter, order), range);
  };
  const list = createFilteredList<StoredTransaction>(COLUMNS, JOINS);
  const signedList = createFilteredList<SignedRow>(SIGNED);

  return {
    byId: (id) => byId.get(id),
    signedById(id) {
      const row = signedById.get(id);
      return row && signedFromRow(row);
    },
    certifiedInBlock: (height) => certifiedInBlock.all(height).map(signedFromRow),
    list,
    signedList(...query) {
      const { rows, ...found } = signedList(...query);
      return { rows: rows.map(signedFromRow), ...found };
    },
  };
}

/** @param isRange whether the filter has only heights */
function kindOf(filter: TransactionFilter, isRange: boolean): Asked["filter"] {
  if (isRange) return isOfHeights(filter) ? "heights" : "none";
  return filter.id !== undefined || filter.blockId !== undefined || isOfHeights(filter) ? "blocks" : "values";
}

const assetTests = ({ asset, lockIds }: TransactionFilter): AssetTest[] => [
  ...(asset === undefined ? [] : [withAsset(asset)]),
  ...(lockIds === undefined ? [] : [unlocking(lockIds)]),
];

const wantedOf = (filter: TransactionFilter): Wanted[] =>
  // No index orders a group without a type.
  [...SEARCHED, ...(filter.type === undefined ? (["typeGroup"] as const) : [])].flatMap((field) => {
    const value = filter[field];
    if (value === undefined || value === "") return [];
    return [{ ...ORDERS[field], value, alongTheChain: wantedIn(ORDERS[field], value) }];
  });

const withoutGroup = ({ typeGroup: _, ...others }: TransactionFilter): TransactionFilter => others;

const isOne = (value: Integer | Interval | undefined): value is Integer =>
  value !== undefined && typeof value !== "object";

/** Converts a filter on a column; texts match as substrings. */
const wantedIn = ({ column, kind }: Field, value: Integer | Interval): Condition =>
  kind === "text"
    ? { sql: `instr(${column}, ?) > 0`, values: [`${value}`] }
    : hasValue({ column, kind }, value);

/** Ties are broken by the position in the chain, newest first. Absent vendorFields count as the highest. */
function orderOf({ field, direction, sequence = "desc" }: TransactionOrder): OrderTerm[] {
  const position: OrderTerm = { value: "sequence", direction: sequence };
  const { column: value } = ORDERS[field];
  if (field === "timestamp") return [{ value, direction }, position];
  return [
    ...(field === "vendorField" ? [{ value: `${value} IS NULL`, direction }] : []),
    { value, direction },
    { value: "height", direction: "desc" },
    position,
  ];
}

const signedFromRow = ({ id, bytes }: SignedRow): Transaction => sealedFromTrustedBytes(bytes, id).data;
