/** Wallets as the database keeps them, amounts as decimal text. */
import type { Attributes } from "@uniknode/ledger";
import type { Database } from "../database.ts";
import type { Json } from "../json.ts";
import {
  conditionsOf,
  createList,
  type Direction,
  type FilterOf,
  type Found,
  type Range,
} from "./listing.ts";

export type StoredWallet = {
  readonly address: string;
  readonly publicKey?: string;
  /** Decimal text of the smallest unit; may be negative. */
  readonly balance: string;
  readonly nonce: string;
  readonly attributes: Json<Attributes>;
};

/** Amounts are compared as integers. */
const TESTS = {
  address: "address = ?",
  publicKey: "public_key = ?",
  secondPublicKey: "attributes ->> '$.secondPublicKey' = ?",
  vote: "vote = ?",
  username: "username = ?",
  balance: "balance = CAST(? AS INTEGER)",
  voteBalance: "CAST(attributes ->> '$.delegate.voteBalance' AS INTEGER) = CAST(? AS INTEGER)",
  producedBlocks: "attributes ->> '$.delegate.producedBlocks' = CAST(? AS INTEGER)",
} as const;

export type WalletFilter = FilterOf<typeof TESTS>;

/** Wallets without a value come last in both directions, but count as 0 where the value is an amount. */
const ORDERS = {
  address: "address",
  // Qualified, because the bare name would mean the text in the answer.
  balance: "wallets.balance",
  nonce: "wallets.nonce",
  publicKey: "public_key",
  secondPublicKey: "attributes ->> '$.secondPublicKey'",
  username: "username",
  vote: "vote",
  lockedBalance: "CAST(coalesce(attributes ->> '$.htlc.lockedBalance', 0) AS INTEGER)",
  voteBalance: "CAST(coalesce(attributes ->> '$.delegate.voteBalance', 0) AS INTEGER)",
  resigned: "attributes ->> '$.delegate.resigned'",
} as const;

export type WalletOrder = { readonly field: keyof typeof ORDERS; readonly direction: Direction };
export const WALLET_ORDERS = Object.keys(ORDERS) as readonly (keyof typeof ORDERS)[];

export type WalletQueries = {
  /** By address, else public key, else delegate username. */
  find(id: string): StoredWallet | undefined;
  list(filter: WalletFilter, order: WalletOrder, range: Range): Found<StoredWallet>;
};

type WalletRow = {
  address: string;
  publicKey: string | null;
  balance: string;
  nonce: string;
  attributes: string;
};

const COLUMNS = `address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, attributes`;

export function createWalletQueries(database: Database): WalletQueries {
  const lookups = ["address", "public_key", "username"].map((column) =>
    database.prepare<WalletRow>(`SELECT ${COLUMNS} FROM wallets WHERE ${column} = ?`),
  );
  const list = createList<WalletRow>(database, { columns: COLUMNS, table: "wallets" });
  return {
    find(id) {
      for (const lookup of lookups) {
        const row = lookup.get(id);
        if (row) return walletFromRow(row);
      }
      return undefined;
    },
    list(filter, order, range) {
      const { rows, totalCount } = list(conditionsOf(TESTS, filter), orderText(order), range);
      return { rows: rows.map(walletFromRow), totalCount };
    },
  };
}

const walletFromRow = ({ publicKey, attributes, ...row }: WalletRow): StoredWallet => ({
  ...row,
  ...(publicKey !== null && { publicKey }),
  attributes: JSON.parse(attributes),
});

function orderText({ field, direction }: WalletOrder): string {
  const value = ORDERS[field];
  if (field === "resigned") return `${value} IS NULL, address`;
  // The balance is never absent: without the test its index serves the order.
  return field === "balance"
    ? `${value} ${direction}, address ${direction}`
    : `${value} IS NULL, ${value} ${direction}, address`;
}
