/** Earlier states: the recorded versions of records, or else the present ones. */
import type { Statement } from "../../../store/engine/database.ts";
import { HistoryReader, UNCHANGED } from "../../../store/history/reader.ts";
import { balanceTerms } from "../../cursor.ts";
import type { BalanceFilter, BalanceOrder } from "../../filters.ts";
import type { Found, Range } from "../../page.ts";
import type { Head, History, PastState, QueriesOf } from "../../port.ts";
import {
  delegateFromRow,
  type StoredBalance,
  type StoredDelegate,
  type StoredToken,
  type StoredWallet,
  type WalletRow,
  walletFromRow,
} from "../../rows.ts";
import { type Condition, indexed, integer, termsOf } from "../lists/conditions.ts";
import { type ListDependencies, TableList } from "../lists/table-list.ts";
import { type TimeBox, TimeoutCache } from "../lists/time-box.ts";
import { preparePremine } from "./chain.ts";
import { PastProperties } from "./tokens.ts";
import { prepareLookups } from "./wallets.ts";

const ORDERS = { height: integer("height") } as const;

type PastQueries = {
  readonly [Name in "wallets" | "tokens" | "delegates"]: QueriesOf<PastState[Name]>;
} & QueriesOf<Pick<PastState, "totalSupply">>;

/** Members of a token record, by position (`store/state/json.ts`). */
type TokenMembers = [ownerId: string, firstTransaction: string, lastTransaction: string];

export class HistoryQueries implements QueriesOf<Pick<History, "since" | "balances">> {
  readonly #head: () => Head;
  readonly #time: TimeBox;
  readonly #timeouts = new TimeoutCache();
  readonly #earlier: HistoryReader;
  readonly #properties: PastProperties;
  readonly #walletLookups: readonly Statement<WalletRow>[];
  readonly #token: Statement<{ members: string }>;
  readonly #usernames: Statement<{ address: string }>;
  readonly #premine: Statement<{ amount: bigint }>;
  readonly #balances: TableList<Omit<StoredBalance, "balance">>;

  constructor(deps: ListDependencies) {
    const { database, head, time } = deps;
    this.#head = head;
    this.#time = time;
    this.#earlier = new HistoryReader(database, () => time.checkRow());
    this.#properties = new PastProperties(database, time, this.#earlier);
    this.#walletLookups = prepareLookups(database);
    this.#token = database.prepare(
      "SELECT json_array(owner, first_transaction, last_transaction) AS members FROM tokens WHERE id = ?",
    );
    this.#usernames = database.prepare(
      "SELECT address FROM wallets WHERE username IS NOT NULL ORDER BY username, address",
    );
    this.#premine = preparePremine(database);
    this.#balances = new TableList(deps, "balances", {
      table: "history_wallets",
      key: ["address", "height"],
      columns: "height, timestamp",
      joins: "CROSS JOIN blocks USING (height)",
    });
  }

  since(): number | undefined {
    return this.#earlier.since();
  }

  balances(filter: BalanceFilter, order: BalanceOrder, range: Range): Found<StoredBalance> {
    const { address, from, to } = filter;
    const changed: Condition = {
      ...{ sql: "address = +?", values: [address] },
      index: { selectivity: "some", sortedBy: ["height"] },
    };
    const conditions = [
      changed,
      ...(from === undefined ? [] : [indexed({ sql: "height >= ?", values: [Number(from)] }, "range")]),
      ...(to === undefined ? [] : [indexed({ sql: "height <= ?", values: [Number(to)] }, "range")]),
    ];
    const selection = { conditions, order: termsOf(balanceTerms(order), ORDERS) };
    // The index has the rows of an address in order: they are read as if the list had no filter.
    const { rows, ...rest } = this.#balances.page({ selection, filter: "none", isInOrder: true }, range);
    const withBalance = ({ height, timestamp }: Omit<StoredBalance, "balance">): StoredBalance => ({
      ...{ height, timestamp },
      balance: this.#balanceAt(height, address),
    });
    return { rows: rows.map(withBalance), ...rest };
  }

  /** Returns the queries of the state after a block. */
  at(height: number): PastQueries {
    const property = (id: string, key: string) => this.#properties.value(height, id, key);
    return {
      wallets: {
        find: (id) => this.#find(height, id),
        hasSecondKey: (address) => this.#walletAt(height, address)?.attributes.secondPublicKey !== undefined,
      },
      tokens: {
        find: (id) => this.#tokenAt(height, id),
        properties: (id, range) => this.#properties.page(this.#head(), height, id, range),
        storedKeys: (id, keys) => new Set(keys.filter((key) => property(id, key) !== undefined)),
        property,
      },
      delegates: {
        all: () =>
          this.#timeouts.run(
            () => "delegates",
            () => this.#delegatesAt(height),
          ),
      },
      totalSupply: () => (this.#earlier.coins(height) ?? 0n) + (this.#premine.get()?.amount ?? 0n),
    };
  }

  #balanceAt(height: number, address: string): string {
    const version = this.#earlier.wallet(address, height);
    return (version === UNCHANGED ? this.#present(address) : version)?.balance ?? "0";
  }

  #walletAt(height: number, address: string): StoredWallet | undefined {
    const row = this.#present(address);
    return row && this.#versionOf(row, height);
  }

  #find(height: number, id: string): StoredWallet | undefined {
    for (const lookup of this.#walletLookups) {
      const row = lookup.get(id);
      const wallet = row && this.#versionOf(row, height);
      if (wallet && namesOf(wallet).includes(id)) return wallet;
    }
    return undefined;
  }

  #tokenAt(height: number, id: string): StoredToken | undefined {
    const record = this.#earlier.record("tokens", id, height);
    const text = record === UNCHANGED ? this.#token.get(id)?.members : record;
    if (text === undefined) return undefined;
    const [ownerId, firstTransaction, lastTransaction] = JSON.parse(text) as TokenMembers;
    const type = this.#properties.value(height, id, "type") ?? null;
    const explicitValues = this.#properties.value(height, id, "explicitValues") ?? null;
    return { id, ownerId, type, explicitValues, firstTransaction, lastTransaction };
  }

  #delegatesAt(height: number): StoredDelegate[] {
    return this.#usernames.all().flatMap(({ address }) => {
      this.#time.check();
      const wallet = this.#walletAt(height, address);
      if (!wallet?.attributes.delegate) return [];
      const { username } = wallet.attributes.delegate;
      const explicitValues = this.#properties.value(height, username, "explicitValues") ?? null;
      // A delegate has sent its registration.
      const { balance, publicKey = "", attributesText: attributes } = wallet;
      return [delegateFromRow({ address, publicKey, balance, attributes, explicitValues })];
    });
  }

  #present(address: string): WalletRow | undefined {
    return this.#walletLookups[0]?.get(address);
  }

  #versionOf(row: WalletRow, height: number): StoredWallet | undefined {
    const { address } = row;
    const version = this.#earlier.wallet(address, height);
    if (version === undefined) return undefined;
    const attributes = this.#earlier.attributes(address, height, row.attributes);
    if (version === UNCHANGED) return walletFromRow({ ...row, attributes });
    const { balance, nonce, hasPublicKey } = version;
    const publicKey = hasPublicKey ? row.publicKey : null;
    return walletFromRow({ address, publicKey, balance, nonce, attributes });
  }
}

const namesOf = ({ address, publicKey, attributes }: StoredWallet) => [
  address,
  publicKey,
  attributes.delegate?.username,
];
