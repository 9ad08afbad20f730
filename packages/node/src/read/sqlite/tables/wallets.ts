/** Wallets, delegates, and entities and open hash-time locks, which wallets hold. */
import type { Database } from "../../../store/engine/database.ts";
import { createShownAttributes } from "../../../store/state/holdings.ts";
import { ReadTotals } from "../../../store/state/totals.ts";
import { type WalletTerm, walletTerms } from "../../cursor.ts";
import type { WalletField } from "../../filters.ts";
import type { Delegates, Entities, Head, Locks, QueriesOf, Wallets } from "../../port.ts";
import {
  type DelegateRow,
  delegateFromRow,
  entityFromRow,
  type HeldRow,
  lockFromRow,
  type WalletRow,
  walletFromRow,
} from "../../rows.ts";
import { conditionsOf, type Field, indexed, integer, oneOf, text } from "../lists/conditions.ts";
import { termsOf } from "../lists/keyset-cursor.ts";
import { createTableList, type ListDependencies } from "../lists/table-list.ts";
import { allInTime, createRowCheck, createTimeoutCache } from "../lists/time-box.ts";

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
} as const satisfies Record<WalletField, Field>;

const ORDERS = {
  ...FIELDS,
  nonce: integer("wallets.nonce"),
  resigned: text("attributes ->> '$.delegate.resigned'"),
} as const satisfies Record<WalletTerm, Field>;

/** Orders that have an index. */
const INDEXED: readonly WalletTerm[] = ["address", "balance", "nonce"];

const COLUMNS = `address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, attributes`;

export function createWalletQueries(deps: ListDependencies): QueriesOf<Wallets> {
  const { database } = deps;
  const shown = createShownAttributes(database, createRowCheck(deps.time));
  const unlessTimedOut = createTimeoutCache();
  const walletOfRow = (row: WalletRow) => {
    const { address, attributes } = row;
    return walletFromRow(
      row,
      unlessTimedOut(
        () => address,
        () => shown(address, attributes),
      ),
    );
  };
  const find = createLookup<WalletRow>(database, COLUMNS);
  const address = createLookup<Pick<WalletRow, "address">>(database, "address");
  const totals = new ReadTotals(database);
  const secondKey = database.prepare(
    "SELECT 1 FROM wallets WHERE address = ? AND second_public_key IS NOT NULL",
  );
  const list = createTableList<WalletRow>(deps, "wallets", {
    table: "wallets",
    key: ["address"],
    columns: COLUMNS,
  });
  return {
    address: (id) => address(id)?.address,
    find(id) {
      const row = find(id);
      return row && walletOfRow(row);
    },
    hasSecondKey: (address) => secondKey.get(address) !== undefined,
    list(filter, order, range) {
      const { addresses } = filter;
      const conditions = [
        ...conditionsOf(FIELDS, filter),
        ...(addresses === undefined ? [] : [indexed(oneOf("address", addresses), "few")]),
      ];
      const query = {
        selection: { conditions, order: termsOf(walletTerms(order), ORDERS) },
        filter: conditions.length === 0 ? "none" : "values",
        isInOrder: INDEXED.includes(order.field),
        ...(conditions.length === 0 && { totalCount: Number(totals.of("wallets")) }),
      } as const;
      const { rows, ...rest } = list(query, range);
      return { rows: rows.map(walletOfRow), ...rest };
    },
  };
}

/** Returns a function that finds columns of a wallet by address, then by public key, then by delegate username. */
function createLookup<Row>(database: Database, columns: string): (id: string) => Row | undefined {
  const lookups = ["address", "public_key", "username"].map((column) =>
    database.prepare<Row>(`SELECT ${columns} FROM wallets WHERE ${column} = +?`),
  );
  return (id) => {
    for (const lookup of lookups) {
      const row = lookup.get(id);
      if (row) return row;
    }
    return undefined;
  };
}

/** The few wallets that have the attribute. */
export function createDelegateQueries({ database, head, time }: WholeDeps): QueriesOf<Delegates> {
  const all = database.prepare<DelegateRow>(
    `SELECT address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, attributes,
       names.value AS explicitValues
     FROM wallets LEFT JOIN properties AS names ON names.token = username AND names.key = 'explicitValues'
     WHERE username IS NOT NULL ORDER BY username, address`,
  );
  return { all: whole(head, () => allInTime(time, all.iterate(), delegateFromRow)) };
}

type WholeDeps = Pick<ListDependencies, "database" | "head" | "time">;

/** Caches all rows of a kind until the next block, and for a while that there was no time to read them. */
function whole<Rows>(head: () => Head, read: () => Rows): () => Rows {
  const unlessTimedOut = createTimeoutCache();
  let known: { readonly id: string; readonly rows: Rows } | undefined;
  return () => {
    const { id } = head();
    if (known?.id !== id) known = { id, rows: unlessTimedOut(() => "", read) };
    return known.rows;
  };
}

const HELD = `SELECT address, public_key AS publicKey, id, value FROM holdings CROSS JOIN wallets USING (address)`;

export function createEntityQueries({ database, head, time }: WholeDeps): QueriesOf<Entities> {
  const all = database.prepare<HeldRow>(`${HELD} WHERE kind = 'entities'`);
  const one = database.prepare<HeldRow>(`${HELD} WHERE kind = 'entities' AND id = +?`);
  return {
    all: whole(head, () => allInTime(time, all.iterate(), entityFromRow)),
    find(id) {
      const row = one.get(id);
      return row && entityFromRow(row);
    },
  };
}

export function createLockQueries({ database, head, time }: WholeDeps): QueriesOf<Locks> {
  const all = database.prepare<HeldRow>(`${HELD} WHERE kind = 'locks'`);
  const one = database.prepare<HeldRow>(`${HELD} WHERE kind = 'locks' AND id = +?`);
  const ofSender = database.prepare<HeldRow>(`${HELD} WHERE address = ? AND kind = 'locks'`);
  const unlessTimedOut = createTimeoutCache();
  return {
    all: whole(head, () => allInTime(time, all.iterate(), lockFromRow)),
    find(id) {
      const row = one.get(id);
      return row && lockFromRow(row);
    },
    of: (address) =>
      unlessTimedOut(
        () => address,
        () => allInTime(time, ofSender.iterate(address), lockFromRow),
      ),
  };
}
