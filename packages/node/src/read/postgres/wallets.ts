/** Wallets. */
import { prepared } from "../../postgres/reads.ts";
import type { WalletRow } from "../attributes.ts";
import type { WalletField } from "../filters.ts";
import { type WalletTerm, walletTerms } from "../orders.ts";
import type { Wallets } from "../port.ts";
import { toWallets } from "./holdings.ts";
import { jsonOf } from "./json.ts";
import { conditionsOf, type Field, integer, isOneOf, isStorable, text } from "./lists/conditions.ts";
import { termsOf } from "./lists/keyset-cursor.ts";
import { findPage } from "./lists/page.ts";
import { first, type SnapshotReads } from "./lists/reads.ts";
import { firstOf, nullable, orNull, type RowFields, rowText } from "./row-text.ts";

/** Attributes are parsed only if they have the member: most wallets have none. */
const LOCKED_BALANCE = `CASE WHEN strpos(attributes, '"lockedBalance":') > 0
  THEN coalesce((${jsonOf("attributes")} #>> '{htlc,lockedBalance}')::bigint, 0) ELSE 0 END`;
/** Returns SQL of a member of the attribute `delegate`, which exactly the wallets with a username have. */
const ofDelegate = (member: string) =>
  `CASE WHEN username IS NOT NULL THEN ${jsonOf("attributes")} #>> '{delegate,${member}}' END`;
const VOTE_BALANCE = `coalesce((${ofDelegate("voteBalance")})::bigint, 0)`;

const FIELDS = {
  address: text("address"),
  publicKey: text("public_key"),
  secondPublicKey: text("second_public_key"),
  vote: text("vote"),
  votesFor: text("vote"),
  username: text("username"),
  balance: integer("balance"),
  lockedBalance: integer(`(${LOCKED_BALANCE})`),
  voteBalance: integer(VOTE_BALANCE),
  producedBlocks: integer(`(${ofDelegate("producedBlocks")})::bigint`),
} as const satisfies Record<WalletField, Field>;

const COLUMNS = {
  address: text("address"),
  balance: FIELDS.balance,
  nonce: integer("nonce"),
  publicKey: FIELDS.publicKey,
  secondPublicKey: FIELDS.secondPublicKey,
  username: FIELDS.username,
  vote: FIELDS.vote,
  lockedBalance: FIELDS.lockedBalance,
  voteBalance: FIELDS.voteBalance,
  resigned: text(`(${ofDelegate("resigned")})`),
} as const satisfies Record<WalletTerm, Field>;

const LISTED = {
  table: "wallets",
  key: ["address"],
  row: rowText(
    ["address", nullable("public_key"), "balance", "nonce", "attributes"],
    ([address, publicKey, balance, nonce, attributes]) =>
      ({ address, publicKey: orNull(publicKey), balance, nonce, attributes }) satisfies WalletRow,
  ),
};
/** Returns SQL of columns of the wallet with an address, public key or delegate username. */
const lookup = (columns: string) =>
  prepared(
    ["address", "public_key", "username"]
      .map((column, rank) => `SELECT ${columns}, ${rank} AS rank FROM wallets WHERE ${column} = $1`)
      .join(" UNION ALL ")
      .concat(" ORDER BY rank LIMIT 1"),
  );
const FIND = lookup(LISTED.row.sql);
const ADDRESS = lookup("address");
const SECOND_KEY = prepared("SELECT FROM wallets WHERE address = $1 AND second_public_key IS NOT NULL");

export function createWallets(reads: SnapshotReads): Wallets {
  const { query } = reads;
  return {
    async address(id) {
      if (!isStorable(id)) return undefined;
      return (await first(query<{ address: string }>(ADDRESS, [id])))?.address;
    },
    async find(id) {
      const row = isStorable(id) ? await firstOf(LISTED.row, query<RowFields>(FIND, [id])) : undefined;
      return row && first(toWallets(reads, [row]));
    },
    hasSecondKey: async (address) =>
      isStorable(address) && (await first(query(SECOND_KEY, [address]))) !== undefined,
    async list(filter, order, range) {
      const { addresses } = filter;
      const conditions = [
        ...conditionsOf(FIELDS, filter),
        ...(addresses === undefined ? [] : [isOneOf("address", addresses)]),
      ];
      const isPrepared = conditions.length === 0 && order.field === "balance";
      const selection = { conditions, order: termsOf(walletTerms(order), COLUMNS), isPrepared };
      const { rows, ...found } = await findPage(reads, LISTED, selection, range);
      return { rows: await toWallets(reads, rows), ...found };
    },
  };
}
