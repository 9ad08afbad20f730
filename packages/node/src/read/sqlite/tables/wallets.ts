/** Wallets, delegates, and entities and open hash-time locks, which wallets hold. */
import type { Database, Statement } from "../../../store/engine/database.ts";
import { createShownAttributes } from "../../../store/state/holdings.ts";
import { ReadTotals } from "../../../store/state/totals.ts";
import { type WalletTerm, walletTerms } from "../../cursor.ts";
import type { WalletField, WalletFilter, WalletOrder } from "../../filters.ts";
import type { Found, Range } from "../../page.ts";
import type { Delegates, Entities, Locks, QueriesOf, Wallets } from "../../port.ts";
import {
  delegateFromRow,
  entityFromRow,
  type HeldRow,
  lockFromRow,
  type StoredWallet,
  type WalletRow,
  walletFromRow,
} from "../../rows.ts";
import { conditionsOf } from "../../sql.ts";
import { type Field, hasValue, indexed, integer, oneOf, termsOf, text } from "../lists/conditions.ts";
import { type ListDependencies, TableList } from "../lists/table-list.ts";
import { TimeoutCache } from "../lists/time-box.ts";

/** NULL if the attribute is missing: no range contains it, and orders count it as 0. */
const LOCKED_BALANCE = "CAST(attributes ->> '$.htlc.lockedBalance' AS INTEGER)";
const VOTE_BALANCE = "CAST(attributes ->> '$.delegate.voteBalance' AS INTEGER)";

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
  lockedBalance: integer(`coalesce(${LOCKED_BALANCE}, 0)`),
  voteBalance: integer(`coalesce(${VOTE_BALANCE}, 0)`),
  nonce: integer("wallets.nonce"),
  resigned: text("attributes ->> '$.delegate.resigned'"),
} as const satisfies Record<WalletTerm, Field>;

/** Orders that have an index. */
const INDEXED: readonly WalletTerm[] = ["address", "balance", "nonce"];

const COLUMNS = `address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, attributes`;

/** Prepares statements that find a wallet by address, by public key and by delegate username, in this order. */
export const prepareLookups = <Row = WalletRow>(database: Database, columns = COLUMNS): Statement<Row>[] =>
  ["address", "public_key", "username"].map((column) =>
    database.prepare(`SELECT ${columns} FROM wallets WHERE ${column} = +?`),
  );

export class WalletQueries implements QueriesOf<Wallets> {
  readonly #shown: (address: string, attributes: string) => string;
  readonly #timeouts = new TimeoutCache();
  readonly #lookups: readonly Statement<WalletRow>[];
  readonly #addresses: readonly Statement<Pick<WalletRow, "address">>[];
  readonly #secondKey: Statement<unknown>;
  readonly #totals: ReadTotals;
  readonly #list: TableList<WalletRow>;

  constructor(deps: ListDependencies) {
    const { database, time } = deps;
    this.#shown = createShownAttributes(database, () => time.checkRow());
    this.#lookups = prepareLookups(database);
    this.#addresses = prepareLookups(database, "address");
    this.#secondKey = database.prepare(
      "SELECT 1 FROM wallets WHERE address = ? AND second_public_key IS NOT NULL",
    );
    this.#totals = new ReadTotals(database);
    this.#list = new TableList(deps, "wallets", { table: "wallets", key: ["address"], columns: COLUMNS });
  }

  address(id: string): string | undefined {
    return firstRow(this.#addresses, id)?.address;
  }

  find(id: string): StoredWallet | undefined {
    const row = firstRow(this.#lookups, id);
    return row && this.#toWallet(row);
  }

  hasSecondKey(address: string): boolean {
    return this.#secondKey.get(address) !== undefined;
  }

  list(filter: WalletFilter, order: WalletOrder, range: Range): Found<StoredWallet> {
    const { addresses } = filter;
    const conditions = [
      ...conditionsOf(FIELDS, filter, hasValue),
      ...(addresses === undefined ? [] : [indexed(oneOf("address", addresses), "few")]),
    ];
    const query = {
      selection: { conditions, order: termsOf(walletTerms(order), ORDERS) },
      filter: conditions.length === 0 ? "none" : "values",
      isInOrder: INDEXED.includes(order.field),
      ...(conditions.length === 0 && { totalCount: Number(this.#totals.of("wallets")) }),
    } as const;
    const { rows, ...rest } = this.#list.page(query, range);
    return { rows: rows.map((row) => this.#toWallet(row)), ...rest };
  }

  #toWallet(row: WalletRow): StoredWallet {
    const { address, attributes } = row;
    const shown = this.#timeouts.run(
      () => address,
      () => this.#shown(address, attributes),
    );
    return walletFromRow(row, shown);
  }
}

function firstRow<Row>(lookups: readonly Statement<Row>[], id: string): Row | undefined {
  for (const lookup of lookups) {
    const row = lookup.get(id);
    if (row) return row;
  }
  return undefined;
}

type WholeDependencies = Pick<ListDependencies, "database" | "head" | "time">;

/** All rows of a kind, cached until the next block. That there was no time to read them is cached for a while. */
class WholeTable<Row, Result> {
  readonly #deps: WholeDependencies;
  readonly #select: Statement<Row>;
  readonly #convert: (row: Row) => Result;
  readonly #timeouts = new TimeoutCache();
  #known: { readonly id: string; readonly rows: readonly Result[] } | undefined;

  constructor(deps: WholeDependencies, sql: string, convert: (row: Row) => Result) {
    this.#deps = deps;
    this.#select = deps.database.prepare(sql);
    this.#convert = convert;
  }

  all(): readonly Result[] {
    const { head, time } = this.#deps;
    const { id } = head();
    if (this.#known?.id === id) return this.#known.rows;
    const rows = this.#timeouts.run(
      () => "",
      () => time.convert(this.#select.iterate(), this.#convert),
    );
    this.#known = { id, rows };
    return rows;
  }
}

/** The few wallets that have the attribute. */
export const delegateQueries = (deps: WholeDependencies): QueriesOf<Delegates> =>
  new WholeTable(
    deps,
    `SELECT address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, attributes,
       names.value AS explicitValues
     FROM wallets LEFT JOIN properties AS names ON names.token = username AND names.key = 'explicitValues'
     WHERE username IS NOT NULL ORDER BY username, address`,
    delegateFromRow,
  );

const HELD =
  "SELECT address, public_key AS publicKey, id, value FROM holdings CROSS JOIN wallets USING (address)";

/** Queries of the holdings of one kind. */
function heldQueries<Stored>(
  deps: WholeDependencies,
  kind: "entities" | "locks",
  convert: (row: HeldRow) => Stored,
) {
  const select = `${HELD} WHERE kind = '${kind}'`;
  const table = new WholeTable(deps, select, convert);
  const one = deps.database.prepare<HeldRow>(`${select} AND id = +?`);
  return {
    all: () => table.all(),
    find(id: string): Stored | undefined {
      const row = one.get(id);
      return row && convert(row);
    },
  };
}

export const entityQueries = (deps: WholeDependencies): QueriesOf<Entities> =>
  heldQueries(deps, "entities", entityFromRow);

export function lockQueries(deps: WholeDependencies): QueriesOf<Locks> {
  const ofSender = deps.database.prepare<HeldRow>(`${HELD} WHERE address = ? AND kind = 'locks'`);
  const timeouts = new TimeoutCache();
  return {
    ...heldQueries(deps, "locks", lockFromRow),
    of: (address) =>
      timeouts.run(
        () => address,
        () => deps.time.convert(ofSender.iterate(address), lockFromRow),
      ),
  };
}
