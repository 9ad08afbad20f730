/** Wallets with what they hold (state.md 2.4), all open locks and entities, and delegates. */

import { countHoldings, type HoldingRow, hasCollections, shownText } from "@uniknode/ledger";
import { prepared } from "../../postgres/reads.ts";
import { type WalletTerm, walletTerms } from "../cursor.ts";
import type { WalletField, WalletFilter, WalletOrder } from "../filters.ts";
import type { Found, Range } from "../page.ts";
import { type Entities, type Locks, perSnapshot, SnapshotError, type Wallets } from "../port.ts";
import {
  type DelegateRow,
  delegateFromRow,
  entityFromRow,
  type HeldRow,
  lockFromRow,
  type StoredWallet,
  type WalletRow,
  walletFromRow,
} from "../rows.ts";
import { conditionsOf, type Field } from "../sql.ts";
import { hasValue, integer, isOneOf, isStorable, termsOf, text } from "./lists/conditions.ts";
import { findPage } from "./lists/page.ts";
import { findBy, findRow, first, type SnapshotReads } from "./lists/reads.ts";
import { jsonOf, nullable, orNull, rowText, textOrNull } from "./row-text.ts";

/**
 * NULL if the attribute is missing: no range contains it, and orders count it as 0. Attributes are parsed only if they have the member:
 * most wallets have none.
 */
const LOCKED_BALANCE = `(CASE WHEN strpos(attributes, '"lockedBalance":') > 0
  THEN (${jsonOf("attributes")} #>> '{htlc,lockedBalance}')::bigint END)`;
/** Returns SQL of a member of the attribute `delegate`, which exactly the wallets with a username have. */
const ofDelegate = (member: string) =>
  `CASE WHEN username IS NOT NULL THEN ${jsonOf("attributes")} #>> '{delegate,${member}}' END`;
const VOTE_BALANCE = `(${ofDelegate("voteBalance")})::bigint`;

const FIELDS = {
  address: text("address"),
  publicKey: text("public_key"),
  secondPublicKey: text("second_public_key"),
  vote: text("vote"),
  votesFor: text("vote"),
  username: text("username"),
  balance: integer("balance"),
  lockedBalance: integer(LOCKED_BALANCE),
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
  lockedBalance: integer(`coalesce(${LOCKED_BALANCE}, 0)`),
  voteBalance: integer(`coalesce(${VOTE_BALANCE}, 0)`),
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

export class PostgresWallets implements Wallets {
  readonly #reads: SnapshotReads;

  constructor(reads: SnapshotReads) {
    this.#reads = reads;
  }

  async address(id: string): Promise<string | undefined> {
    return (await findBy<{ address: string }>(this.#reads, ADDRESS, id))?.address;
  }

  async find(id: string): Promise<StoredWallet | undefined> {
    const row = await findRow(this.#reads, LISTED.row, FIND, id);
    return row && first(toWallets(this.#reads, [row]));
  }

  async hasSecondKey(address: string): Promise<boolean> {
    return (await findBy(this.#reads, SECOND_KEY, address)) !== undefined;
  }

  async list(filter: WalletFilter, order: WalletOrder, range: Range): Promise<Found<StoredWallet>> {
    const { addresses } = filter;
    const conditions = [
      ...conditionsOf(FIELDS, filter, hasValue),
      ...(addresses === undefined ? [] : [isOneOf("address", addresses)]),
    ];
    const isPrepared = conditions.length === 0 && order.field === "balance";
    const selection = { conditions, order: termsOf(walletTerms(order), COLUMNS), isPrepared };
    const { rows, ...found } = await findPage(this.#reads, LISTED, selection, range);
    return { rows: await toWallets(this.#reads, rows), ...found };
  }
}

/** Locks or entities, with their wallets. */
const HELD = `SELECT address, public_key AS "publicKey", id, value
  FROM holdings JOIN wallets USING (address)`;

const OF_WALLETS = prepared("SELECT address, kind, id, next, value FROM holdings WHERE address = ANY ($1)");

/** Maximum number of holdings of the wallets of a response, which occupy the thread for about half a second. */
const MAX_HOLDINGS = 250_000;

/**
 * Returns the wallets of rows. Wallets with holdings cost one more query.
 *
 * @throws {SnapshotError} SNAPSHOT_TIMEOUT if they hold too much
 */
async function toWallets({ query }: SnapshotReads, rows: readonly WalletRow[]): Promise<StoredWallet[]> {
  const holders = rows.filter(({ attributes }) => hasCollections(attributes));
  const count = holders.reduce((sum, { attributes }) => sum + countHoldings(attributes), 0);
  if (count > MAX_HOLDINGS) throw new SnapshotError("SNAPSHOT_TIMEOUT");
  const addresses = holders.map(({ address }) => address);
  const held =
    addresses.length > 0
      ? await query<HoldingRow & { readonly address: string }>(OF_WALLETS, [addresses])
      : [];
  const byAddress = Map.groupBy(held, ({ address }) => address);
  return rows.map((row) =>
    hasCollections(row.attributes)
      ? walletFromRow(row, shownText(row.attributes, byAddress.get(row.address) ?? []))
      : walletFromRow(row),
  );
}

const LOCKS = prepared(`${HELD} WHERE kind = 'locks'`);
const LOCK_BY_ID = prepared(`${HELD} WHERE kind = 'locks' AND id = $1`);
const LOCKS_OF_WALLET = prepared(`${HELD} WHERE address = $1 AND kind = 'locks'`);
const ENTITIES = prepared(`${HELD} WHERE kind = 'entities'`);
const ENTITY_BY_ID = prepared(`${HELD} WHERE kind = 'entities' AND id = $1`);
const DELEGATES = prepared(
  `SELECT address, public_key AS "publicKey", balance, attributes, names.value AS "explicitValues"
   FROM wallets LEFT JOIN properties AS names ON names.token = username AND names.key = 'explicitValues'::bytea
   WHERE username IS NOT NULL ORDER BY username, address`,
);
type ListedDelegateRow = Omit<DelegateRow, "explicitValues"> & { readonly explicitValues: Uint8Array | null };

/** All locks, entities and delegates, which are read once per head. */
export class Holders {
  readonly locks = perSnapshot(async ({ query }: SnapshotReads) =>
    (await query<HeldRow>(LOCKS)).map(lockFromRow),
  );
  readonly entities = perSnapshot(async ({ query }: SnapshotReads) =>
    (await query<HeldRow>(ENTITIES)).map(entityFromRow),
  );
  /** The few wallets that have the attribute. */
  readonly delegates = perSnapshot(async ({ query }: SnapshotReads) =>
    (await query<ListedDelegateRow>(DELEGATES)).map((row) =>
      delegateFromRow({ ...row, explicitValues: textOrNull(row.explicitValues) }),
    ),
  );
}

export const locksIn = (reads: SnapshotReads, holders: Holders): Locks => ({
  all: () => holders.locks(reads),
  async find(id) {
    const row = await findBy<HeldRow>(reads, LOCK_BY_ID, id);
    return row && lockFromRow(row);
  },
  async of(address) {
    if (!isStorable(address)) return [];
    return (await reads.query<HeldRow>(LOCKS_OF_WALLET, [address])).map(lockFromRow);
  },
});

export const entitiesIn = (reads: SnapshotReads, holders: Holders): Entities => ({
  all: () => holders.entities(reads),
  async find(id) {
    const row = await findBy<HeldRow>(reads, ENTITY_BY_ID, id);
    return row && entityFromRow(row);
  },
});
