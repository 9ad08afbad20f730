/** Random states of the ledger, to compare the store with the model in memory. */

import {
  type Attributes,
  type Change,
  propertyKey,
  type StateReader,
  TABLE_NAMES,
  type TableName,
  type Tables,
} from "@uniknode/ledger";
import fc from "fast-check";
import { present } from "../../../src/platform/present.ts";

const digest = (digit: number) => digit.toString(16).repeat(64);
const publicKeys = [0, 1, 2, 3].map((digit) => `02${digest(digit)}`);
const tokenIds = [4, 5, 6].map(digest);

const amount = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
/** The sum of those of all wallets fits into 64 bits, as that of all balances of a chain. */
const balance = fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n });
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const publicKey = fc.constantFrom(...publicKeys);

const delegate = fc.record(
  {
    username: text,
    type: fc.integer({ min: 1, max: 3 }),
    voteBalance: amount,
    weightedVoteBalance: amount,
    forgedFees: amount,
    forgedRewards: amount,
    producedBlocks: fc.nat(),
    lastBlock: fc.record({ id: text, height: fc.nat(), timestamp: fc.nat() }),
    round: fc.nat(),
    rank: fc.nat(),
    resigned: fc.constant(true as const),
  },
  { requiredKeys: ["username", "voteBalance", "forgedFees", "forgedRewards", "producedBlocks", "round"] },
);

const lock = fc.record(
  {
    amount,
    recipientId: text,
    timestamp: fc.nat(),
    vendorField: text,
    secretHash: text,
    expiration: fc.record({ type: fc.constantFrom(1, 2), value: fc.nat() }),
  },
  { requiredKeys: ["amount", "recipientId", "timestamp", "secretHash", "expiration"] },
);

const collection = fc.record({ size: fc.nat(), first: text, last: text });
/** The records of holdings need not fit to the collections: the store does not read them together. */
const holding = fc.record(
  {
    value: fc.oneof(fc.constant(true as const), fc.record({ type: fc.nat() }), text, lock),
    previous: text,
    next: text,
  },
  { requiredKeys: ["value"] },
) as fc.Arbitrary<Tables["holdings"]>;

const attributes = fc.record(
  {
    secondPublicKey: publicKey,
    vote: publicKey,
    multiSignature: fc.record({ min: fc.nat(), publicKeys: fc.array(publicKey) }),
    delegate,
    tokens: collection,
    ipfs: fc.record({ hashes: collection }),
    htlc: fc.record({ locks: collection, lockedBalance: balance }),
    entities: collection,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Attributes>;

const addresses = ["A", "B", "C", "D", "E"];

const wallet = (address: string) =>
  fc.record(
    { address: fc.constant(address), publicKey, balance, nonce: amount, attributes },
    { requiredKeys: ["address", "balance", "nonce", "attributes"] },
  ) as fc.Arbitrary<Tables["wallets"]>;

const token = (id: string) =>
  fc.record({ id: fc.constant(id), ownerId: text, firstTransaction: text, lastTransaction: text });

const round = (key: string) =>
  fc
    .tuple(fc.nat(), fc.shuffledSubarray(publicKeys), fc.array(amount, { minLength: 4, maxLength: 4 }))
    .map(([height, order, balances]) => ({
      round: Number(key),
      height,
      delegates: order.toSorted().map((publicKey, index) => ({
        publicKey,
        voteBalance: present(balances[index], "an item of balances"),
      })),
      order,
    }));

/** Keys of each table that the random changes use: few, so that they collide. */
export const KEYS: Record<TableName, readonly string[]> = {
  wallets: addresses,
  tokens: tokenIds,
  properties: tokenIds.flatMap((id) => ["type", "a/b", "0"].map((key) => propertyKey(id, key))),
  usernames: ["name", ""],
  locks: tokenIds,
  ipfs: ["hash"],
  entities: ["1/name"],
  vouchers: ["4/unik/voucher"],
  disclosures: ["subject"],
  rounds: ["1", "2"],
  holdings: ["A/tokens/1", "A/tokens/2", "B/locks/1", "B/bridgechainNames/a/b"],
};

const record = (table: TableName, key: string): fc.Arbitrary<Tables[TableName]> => {
  if (table === "wallets") return wallet(key);
  if (table === "tokens") return token(key);
  if (table === "rounds") return round(key);
  if (table === "holdings") return holding;
  return text;
};

type Written = { table: TableName; key: string; after: Tables[TableName] | undefined };

const written: fc.Arbitrary<Written> = fc
  .oneof({ weight: 4, arbitrary: fc.constant("wallets" as const) }, fc.constantFrom(...TABLE_NAMES))
  .chain((table) =>
    fc.constantFrom(...KEYS[table]).chain((key) =>
      fc.record({
        table: fc.constant(table),
        key: fc.constant(key),
        after: fc.option(record(table, key), { nil: undefined, freq: 4 }),
      }),
    ),
  );

/** Writes of the blocks of a chain, block by block; each record once per block. */
export const blocksOfWrites = fc.array(
  fc.uniqueArray(written, { selector: ({ table, key }) => `${table} ${key}`, maxLength: 6 }),
  { minLength: 1, maxLength: 8 },
);

/** Converts the writes to changes of a state. */
export const changesOn = (state: StateReader, writes: readonly Written[]): Change[] =>
  writes.map(({ table, key, after }) => ({ table, key, before: state.get(table, key), after }) as Change);

/** Every result of a reader. The text shows the order of members, too. */
export function resultsOf(state: StateReader): unknown {
  const show = (value: unknown) =>
    JSON.stringify(value, (_, member) => (typeof member === "bigint" ? `${member}n` : member));
  return {
    records: TABLE_NAMES.flatMap((table) =>
      KEYS[table].map((key) => [table, key, show(state.get(table, key))]),
    ),
    delegates: [...state.delegates()].sort(),
    voters: publicKeys.map((key) => [...state.voters(key)].sort()),
    properties: tokenIds.map((id) =>
      [...state.properties(id)].map(([key, value]) => `${key}=${value}`).sort(),
    ),
  };
}
