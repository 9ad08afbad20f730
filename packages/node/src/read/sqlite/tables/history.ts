/** Earlier states: the recorded versions of records, or else the present ones. */
import type { Database } from "../../../store/engine/database.ts";
import { HistoryReader, UNCHANGED } from "../../../store/history/reader.ts";
import { balanceTerms } from "../../cursor.ts";
import type { BalanceFilter } from "../../filters.ts";
import type { History, PastState, QueriesOf } from "../../port.ts";
import {
  type DelegateRow,
  delegateFromRow,
  type StoredBalance,
  type StoredDelegate,
  type StoredToken,
  type StoredWallet,
  type WalletRow,
  walletFromRow,
} from "../../rows.ts";
import { type Condition, indexed, integer } from "../lists/conditions.ts";
import { termsOf } from "../lists/keyset-cursor.ts";
import { createTableList, type ListDependencies } from "../lists/table-list.ts";
import { createRowCheck } from "../lists/time-box.ts";
import { createPastProperties, createPastProperty, createPropertyLists } from "./tokens.ts";

/** Queries of the state after a block. */
type PastQueries = {
  readonly [Name in "wallets" | "tokens" | "delegates"]: QueriesOf<PastState[Name]>;
} & QueriesOf<Pick<PastState, "totalSupply">>;

type HistoryQueries = QueriesOf<Pick<History, "since" | "balances">> & {
  at(height: number): PastQueries;
};

const WALLET = `SELECT address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce, attributes
  FROM wallets WHERE`;

/** Members of a token record, by position (`store/state/json.ts`). */
type TokenMembers = [ownerId: string, firstTransaction: string, lastTransaction: string];

export function createHistoryQueries(deps: ListDependencies): HistoryQueries {
  const { database, head, time } = deps;
  const earlier = new HistoryReader(database, createRowCheck(time));
  const walletAt = createWalletAt(database, earlier);
  const tokenAt = createTokenAt(database, earlier);
  const property = createPastProperty(database, earlier);
  const propertiesAt = createPastProperties(database, earlier);
  const propertyList = createPropertyLists(database, time);
  const usernames = database.prepare<{ address: string }>(
    "SELECT address FROM wallets WHERE username IS NOT NULL ORDER BY username, address",
  );
  const premine = database.prepare<{ amount: bigint }>(
    "SELECT total_amount AS amount FROM blocks WHERE height = 1",
    { bigints: true },
  );

  function find(height: number, id: string): StoredToken | undefined {
    const members = tokenAt(height, id);
    if (!members) return undefined;
    const [ownerId, firstTransaction, lastTransaction] = members;
    const type = property(height, id, "type") ?? null;
    const explicitValues = property(height, id, "explicitValues") ?? null;
    return { id, ownerId, type, explicitValues, firstTransaction, lastTransaction };
  }

  const delegates = (height: number): StoredDelegate[] =>
    usernames.all().flatMap(({ address }) => {
      const wallet = walletAt.byAddress(height, address);
      if (!wallet?.attributes.delegate) return [];
      const { username } = wallet.attributes.delegate;
      const explicitValues = property(height, username, "explicitValues") ?? null;
      return [delegateFromRow({ ...toDelegateRow(wallet), explicitValues })];
    });

  return {
    since: () => earlier.since(),
    balances: createBalanceList(deps, walletAt.balance),
    at: (height) => ({
      wallets: {
        find: (id) => walletAt.find(height, id),
        hasSecondKey: (address) =>
          walletAt.byAddress(height, address)?.attributes.secondPublicKey !== undefined,
      },
      tokens: {
        find: (id) => find(height, id),
        properties: (id, range) => propertyList(head(), propertiesAt(height, id), range),
        storedKeys: (id, keys) => new Set(keys.filter((key) => property(height, id, key) !== undefined)),
        property: (id, key) => property(height, id, key),
      },
      delegates: { all: () => delegates(height) },
      totalSupply: () => (earlier.coins(height) ?? 0n) + (premine.get()?.amount ?? 0n),
    }),
  };
}

const ORDERS = { height: integer("height") } as const;
const HEIGHTS = { from: ">=", to: "<=" } as const;

type ChangeRow = Omit<StoredBalance, "balance">;

function createBalanceList(
  deps: ListDependencies,
  balanceAt: (height: number, address: string) => string,
): HistoryQueries["balances"] {
  const list = createTableList<ChangeRow>(deps, "balances", {
    table: "history_wallets",
    key: ["address", "height"],
    columns: "height, timestamp",
    joins: "CROSS JOIN blocks USING (height)",
  });
  return (filter, order, range) => {
    const conditions = [changesOf(filter.address), ...heightsOf(filter)];
    const selection = { conditions, order: termsOf(balanceTerms(order), ORDERS) };
    // The index has the rows of an address in order: they are read as if the list had no filter.
    const { rows, ...rest } = list({ selection, filter: "none", isInOrder: true }, range);
    const withBalance = ({ height, timestamp }: ChangeRow): StoredBalance => ({
      ...{ height, timestamp },
      balance: balanceAt(height, filter.address),
    });
    return { rows: rows.map(withBalance), ...rest };
  };
}

const changesOf = (address: string): Condition => ({
  ...{ sql: "address = +?", values: [address] },
  index: { selectivity: "some", sortedBy: ["height"] },
});

const heightsOf = (filter: BalanceFilter): Condition[] =>
  (["from", "to"] as const).flatMap((name) => {
    const height = filter[name];
    if (height === undefined) return [];
    return [indexed({ sql: `height ${HEIGHTS[name]} ?`, values: [Number(height)] }, "range")];
  });

const toDelegateRow = (wallet: StoredWallet): Omit<DelegateRow, "explicitValues"> => ({
  address: wallet.address,
  // A delegate has sent its registration.
  publicKey: wallet.publicKey ?? "",
  balance: wallet.balance,
  attributes: wallet.attributesText,
});

function createWalletAt(database: Database, earlier: HistoryReader) {
  const byAddress = database.prepare<WalletRow>(`${WALLET} address = ?`);
  const lookups = ["address", "public_key", "username"].map((column) =>
    database.prepare<WalletRow>(`${WALLET} ${column} = +?`),
  );

  function versionOf(row: WalletRow, height: number): StoredWallet | undefined {
    const { address } = row;
    const version = earlier.wallet(address, height);
    if (version === undefined) return undefined;
    const attributes = earlier.attributes(address, height, row.attributes);
    if (version === UNCHANGED) return walletFromRow({ ...row, attributes });
    const { balance, nonce, hasPublicKey } = version;
    const publicKey = hasPublicKey ? row.publicKey : null;
    return walletFromRow({ address, publicKey, balance, nonce, attributes });
  }

  return {
    balance(height: number, address: string): string {
      const version = earlier.wallet(address, height);
      return (version === UNCHANGED ? byAddress.get(address) : version)?.balance ?? "0";
    },
    byAddress(height: number, address: string): StoredWallet | undefined {
      const row = byAddress.get(address);
      return row && versionOf(row, height);
    },
    find(height: number, id: string): StoredWallet | undefined {
      for (const lookup of lookups) {
        const row = lookup.get(id);
        const wallet = row && versionOf(row, height);
        if (wallet && namesOf(wallet).includes(id)) return wallet;
      }
      return undefined;
    },
  };
}

const namesOf = ({ address, publicKey, attributes }: StoredWallet) => [
  address,
  publicKey,
  attributes.delegate?.username,
];

function createTokenAt(database: Database, earlier: HistoryReader) {
  const present = database.prepare<{ members: string }>(
    "SELECT json_array(owner, first_transaction, last_transaction) AS members FROM tokens WHERE id = ?",
  );
  return (height: number, id: string): TokenMembers | undefined => {
    const record = earlier.record("tokens", id, height);
    const text = record === UNCHANGED ? present.get(id)?.members : record;
    return text === undefined ? undefined : JSON.parse(text);
  };
}
