/** Confirmed transactions with their place in the chain. */
import { decodeAddress, sealedFromTrustedBytes, type Transaction } from "@uniknode/protocol";
import type { Database } from "../database.ts";
import { PAYS, VENDOR_FIELD, VERSION } from "./encoding.ts";
import {
  type Condition,
  conditionsOf,
  createList,
  type Direction,
  type FilterOf,
  type Found,
  NEVER,
  type Range,
} from "./listing.ts";

export type StoredTransaction = {
  readonly transaction: Transaction;
  readonly blockId: string;
  readonly height: number;
  /** Of the block, seconds since the network epoch. */
  readonly timestamp: number;
  /** Position among the sender's transactions, from 1: version 1 does not carry it. Decimal text. */
  readonly nonce: string;
};

const TESTS = {
  id: "id = ?",
  blockId: "height = (SELECT blocks.height FROM blocks WHERE blocks.id = ?)",
  type: "type = CAST(? AS INTEGER)",
  typeGroup: "type_group = CAST(? AS INTEGER)",
  version: `${VERSION} = CAST(? AS INTEGER)`,
  senderPublicKey: "sender = ?",
  timestamp: "timestamp = CAST(? AS INTEGER)",
  nonce: "nonce = CAST(? AS INTEGER)",
  amount: "amount = CAST(? AS INTEGER)",
  fee: "fee = CAST(? AS INTEGER)",
  // Case counts, and % and _ stand for themselves.
  vendorField: `instr(${VENDOR_FIELD}, ?) > 0`,
} as const;

export type TransactionFilter = FilterOf<typeof TESTS> & {
  readonly senderId?: string;
  /** Also finds payees of multi payments, and the address's own transactions that name no recipient. */
  readonly recipientId?: string;
};

const ORDERS = {
  amount: "amount",
  fee: "fee",
  // Qualified, because the bare name would mean the text in the answer.
  nonce: "transactions.nonce",
  timestamp: "height",
  type: "type",
  typeGroup: "type_group",
  vendorField: VENDOR_FIELD,
  version: VERSION,
} as const;

export type TransactionOrder = { readonly field: keyof typeof ORDERS; readonly direction: Direction };
export const TRANSACTION_ORDERS = Object.keys(ORDERS) as readonly (keyof typeof ORDERS)[];

export type TransactionQueries = {
  byId(id: string): StoredTransaction | undefined;
  /** All of a block, in its order. */
  inBlock(height: number): StoredTransaction[];
  list(filter: TransactionFilter, order: TransactionOrder, range: Range): Found<StoredTransaction>;
};

type TransactionRow = {
  id: string;
  bytes: Uint8Array;
  blockId: string;
  height: number;
  timestamp: number;
  nonce: string;
};

const COLUMNS = `id, bytes, height, timestamp, CAST(nonce AS TEXT) AS nonce,
  (SELECT blocks.id FROM blocks WHERE blocks.height = transactions.height) AS blockId`;

export function createTransactionQueries(database: Database, addressVersion: number): TransactionQueries {
  const byId = database.prepare<TransactionRow>(`SELECT ${COLUMNS} FROM transactions WHERE id = ?`);
  const inBlock = database.prepare<TransactionRow>(
    `SELECT ${COLUMNS} FROM transactions WHERE height = ? ORDER BY sequence`,
  );
  const list = createList<TransactionRow>(database, { columns: COLUMNS, table: "transactions" });
  const publicKey = database.prepare<{ publicKey: string | null }>(
    "SELECT public_key AS publicKey FROM wallets WHERE address = ?",
  );

  const publicKeyOf = (address: string): string | undefined => publicKey.get(address)?.publicKey ?? undefined;

  function sentBy(address: string): Condition {
    const sender = publicKeyOf(address);
    return sender === undefined ? NEVER : { sql: "sender = ?", values: [sender] };
  }

  function receivedBy(address: string): Condition {
    const ways: Condition[] = [{ sql: "recipient = ?", values: [address] }];
    const payload = addressPayload(address, addressVersion);
    if (payload) ways.push({ sql: PAYS, values: [payload, payload] });
    const self = publicKeyOf(address);
    if (self !== undefined) ways.push({ sql: "sender = ? AND recipient IS NULL", values: [self] });
    return {
      sql: ways.map(({ sql }) => `(${sql})`).join(" OR "),
      values: ways.flatMap(({ values }) => values),
    };
  }

  return {
    byId(id) {
      const row = byId.get(id);
      return row && transactionFromRow(row);
    },
    inBlock: (height) => inBlock.all(height).map(transactionFromRow),
    list(filter, order, range) {
      const { senderId, recipientId } = filter;
      const conditions = [
        ...conditionsOf(TESTS, filter),
        ...(senderId === undefined ? [] : [sentBy(senderId)]),
        ...(recipientId === undefined ? [] : [receivedBy(recipientId)]),
      ];
      const { rows, totalCount } = list(conditions, orderText(order), range);
      return { rows: rows.map(transactionFromRow), totalCount };
    },
  };
}

/** Ties are broken by the place in the chain, newest first. Absent vendorFields count as the highest. */
function orderText({ field, direction }: TransactionOrder): string {
  const value = ORDERS[field];
  if (value === "height") return `height ${direction}, sequence DESC`;
  const absent = field === "vendorField" ? `${value} IS NULL ${direction}, ` : "";
  return `${absent}${value} ${direction}, height DESC, sequence DESC`;
}

/** The bytes that stand for an address in a transaction, if the text is one. */
function addressPayload(address: string, version: number): Uint8Array | undefined {
  try {
    return decodeAddress(address, version).payload;
  } catch {
    return undefined;
  }
}

const transactionFromRow = ({ id, bytes, ...place }: TransactionRow): StoredTransaction => ({
  transaction: sealedFromTrustedBytes(bytes, id).data,
  ...place,
});
