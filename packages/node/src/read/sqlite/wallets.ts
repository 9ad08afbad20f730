/** Wallets. */
import { type WalletRow, walletFromRow } from "../attributes.ts";
import type { WalletFilter, WalletOrder } from "../filters.ts";
import type { Head } from "../head.ts";
import type { Found, Range } from "../page.ts";
import type { StoredWallet } from "../rows.ts";
import { conditionsOf, type Field, found, integer, oneOf, text } from "./pages/conditions.ts";
import type { OrderTerm } from "./pages/order.ts";
import { createTablePages, type TablePagesDependencies } from "./table-pages.ts";

/** SQL of the locked balance; 0 if the attribute is missing. */
const LOCKED_BALANCE = "CAST(coalesce(attributes ->> '$.htlc.lockedBalance', 0) AS INTEGER)";
const VOTE_BALANCE = "CAST(coalesce(attributes ->> '$.delegate.voteBalance', 0) AS INTEGER)";

const FIELDS = {
  address: text("address", "few"),
  publicKey: text("public_key", "few"),
  secondPublicKey: text("second_public_key"),
  vote: text("vote", "some"),
  /** Set by the list of a delegate's voters, in addition to `vote`. */
  votesFor: text("vote", "some"),
  username: text("username", "few"),
  // Qualified: the bare name would be the text column of the result.
  balance: integer("wallets.balance", ["wallets.balance", "address"]),
  lockedBalance: integer(LOCKED_BALANCE),
  voteBalance: integer(VOTE_BALANCE),
  producedBlocks: integer("attributes ->> '$.delegate.producedBlocks'"),
} as const satisfies Record<Exclude<keyof WalletFilter, "addresses">, Field>;

/** Wallets without a value come last in both directions, but count as 0 if the value is an amount. */
const ORDERS = {
  address: "address",
  balance: "wallets.balance",
  nonce: "wallets.nonce",
  publicKey: "public_key",
  secondPublicKey: "second_public_key",
  username: "username",
  vote: "vote",
  lockedBalance: LOCKED_BALANCE,
  voteBalance: VOTE_BALANCE,
  resigned: "attributes ->> '$.delegate.resigned'",
} as const satisfies Record<WalletOrder["field"], string>;

/** Orders that have an index. */
const INDEXED: readonly (keyof typeof ORDERS)[] = ["address", "balance", "nonce"];

export type WalletQueries = {
  /** Finds a wallet by address, then by public key, then by delegate username. */
  find(id: string): StoredWallet | undefined;
  /** Returns whether the wallet of an address has registered a second key. */
  hasSecondKey(address: string): boolean;
  list(head: Head, filter: WalletFilter, order: WalletOrder, range: Range): Found<StoredWallet>;
};

const COLUMNS = `address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, attributes`;

export function createWalletQueries(deps: TablePagesDependencies): WalletQueries {
  const { database } = deps;
  const lookups = ["address", "public_key", "username"].map((column) =>
    database.prepare<WalletRow>(`SELECT ${COLUMNS} FROM wallets WHERE ${column} = +?`),
  );
  const secondKey = database.prepare(
    "SELECT 1 FROM wallets WHERE address = ? AND second_public_key IS NOT NULL",
  );
  const pages = createTablePages<WalletRow>(deps, "wallets", {
    table: "wallets",
    key: ["address"],
    columns: COLUMNS,
  });
  return {
    find(id) {
      for (const lookup of lookups) {
        const row = lookup.get(id);
        if (row) return walletFromRow(row);
      }
      return undefined;
    },
    hasSecondKey: (address) => secondKey.get(address) !== undefined,
    list(head, filter, order, range) {
      const { addresses } = filter;
      const conditions = [
        ...conditionsOf(FIELDS, filter),
        ...(addresses === undefined ? [] : [found(oneOf("address", addresses), "few")]),
      ];
      const question = {
        selection: { conditions, order: orderOf(order) },
        filter: conditions.length === 0 ? "none" : "values",
        isInOrder: INDEXED.includes(order.field),
      } as const;
      const { rows, ...rest } = pages(head, question, range);
      return { rows: rows.map(walletFromRow), ...rest };
    },
  };
}

function orderOf({ field, direction }: WalletOrder): OrderTerm[] {
  const value = ORDERS[field];
  if (field === "address") return [{ value, direction }];
  // Never absent: without the test, and with addresses in the same direction, the index has this order.
  if (field === "balance" || field === "nonce") {
    return [
      { value, direction },
      { value: "address", direction },
    ];
  }
  // Never absent either, and finding them in the attributes takes longer than sorting them.
  if (field === "lockedBalance" || field === "voteBalance") {
    return [
      { value, direction },
      { value: "address", direction: "asc" },
    ];
  }
  return [
    { value: `${value} IS NULL`, direction: "asc" },
    // Resigned delegates come first in both directions.
    ...(field === "resigned" ? [] : [{ value, direction }]),
    { value: "address", direction: "asc" },
  ];
}
