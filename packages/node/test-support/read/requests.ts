/** Random requests for lists and single resources, the same for the same seed. */
import type {
  BlockFilter,
  BlockOrder,
  TokenFilter,
  TokenOrder,
  TransactionFilter,
  TransactionOrder,
  WalletFilter,
  WalletOrder,
} from "../../src/read/filters.ts";
import { BLOCKS, TRANSACTIONS, UNIKS, WALLETS } from "../../src/read/lists.ts";
import type { Found, Integer, Interval, Range } from "../../src/read/page.ts";
import type { ReadModel, Snapshot } from "../../src/read/port.ts";
import type { ListedToken, StoredBlock, StoredTransaction, StoredWallet } from "../../src/read/rows.ts";
import type { Random } from "../random.ts";
import { ODD_TEXTS } from "./odd.ts";

/** Rows of a chain: filters are mostly for values that some row has. */
export type Rows = {
  readonly blocks: readonly StoredBlock[];
  readonly transactions: readonly StoredTransaction[];
  readonly wallets: readonly StoredWallet[];
  readonly tokens: readonly ListedToken[];
};

/** `run` reads a page of a list. */
export type ListRequest = {
  readonly name: string;
  readonly filter: object;
  readonly order: object;
  run(snapshot: Snapshot, range: Range): Promise<Found<object>>;
};

const ALL: Range = { offset: 0, limit: 100_000 };

export const readRows = (model: ReadModel): Promise<Rows> =>
  model.snapshot(async ({ blocks, transactions, wallets, tokens }) => ({
    blocks: (await blocks.list({}, { field: "height", direction: "asc" }, ALL)).rows,
    transactions: (await transactions.list({}, { field: "timestamp", direction: "asc" }, ALL)).rows,
    wallets: (await wallets.list({}, { field: "address", direction: "asc" }, ALL)).rows,
    tokens: (await tokens.list({}, { field: "id", direction: "asc" }, ALL)).rows,
  }));

const HUGE = ["9223372036854775807", "9223372036854775808", "-9223372036854775809", "1".padEnd(40, "0")];
const NO_ID = "0".repeat(64);
const MAX_FILTERS = 3;

type Draws = { readonly random: Random; readonly rows: Rows };
/** Draws the value of each filter. */
type Drawing<Filter> = { readonly [Name in keyof Filter]-?: (draws: Draws) => Filter[Name] };

const text =
  <Key extends keyof Rows>(table: Key, pick: (row: Rows[Key][number]) => string | null | undefined) =>
  ({ random, rows }: Draws): string => {
    if (random.chance(0.05)) return random.pick([NO_ID, "", ...ODD_TEXTS, "\ud800", "x\udfff"]);
    return pick(random.pick(rows[table] as Rows[Key][number][])) ?? "";
  };

const integer =
  <Key extends keyof Rows>(table: Key, pick: (row: Rows[Key][number]) => Integer | undefined) =>
  ({ random, rows }: Draws): Integer | Interval => {
    const one = (): Integer => {
      if (random.chance(0.05)) return random.pick([...HUGE, 0, -1, "0"]);
      const value = BigInt(pick(random.pick(rows[table] as Rows[Key][number][])) ?? 0);
      const near = value + BigInt(random.pick([0, 0, 0, 1, -1]));
      return random.chance(0.5) ? `${near}` : Number(near);
    };
    if (random.chance(0.5)) return one();
    return { ...(random.chance(0.7) && { from: one() }), ...(random.chance(0.7) && { to: one() }) };
  };

const many =
  <T>(draw: (draws: Draws) => T) =>
  (draws: Draws): T[] =>
    Array.from({ length: draws.random.integer(0, 4) }, () => draw(draws));

const address = text("wallets", (row) => row.address);
const sender = text("transactions", (row) => row.senderPublicKey);

const BLOCK_FILTERS: Drawing<BlockFilter> = {
  id: text("blocks", (row) => row.id),
  version: integer("blocks", (row) => row.version),
  timestamp: integer("blocks", (row) => row.timestamp),
  previousBlock: text("blocks", (row) => row.previousBlock),
  height: integer("blocks", (row) => row.height),
  numberOfTransactions: integer("blocks", (row) => row.numberOfTransactions),
  totalAmount: integer("blocks", (row) => row.totalAmount),
  totalFee: integer("blocks", (row) => row.totalFee),
  reward: integer("blocks", (row) => row.reward),
  generatorPublicKey: text("blocks", (row) => row.generatorPublicKey),
  payloadLength: integer("blocks", (row) => row.payloadLength),
  payloadHash: text("blocks", (row) => row.payloadHash),
  blockSignature: text("blocks", (row) => row.blockSignature),
  forgedBy: text("blocks", (row) => row.generatorPublicKey),
};

/** Returns some of the members of an asset, or others. */
function asset({ random, rows }: Draws): object {
  const { asset } = random.pick(rows.transactions.filter((row) => row.asset !== null));
  if (random.chance(0.1)) return random.pick([{}, { none: 1 }, { votes: [] }, { nft: { a: "\ud800" } }]);
  return partOf(random, JSON.parse(asset ?? "{}")) as object;
}

function partOf(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(() => random.chance(0.7)).map((one) => partOf(random, one));
  if (typeof value !== "object" || value === null) {
    return random.chance(0.05) ? random.pick([`${value}x`, null, 1, true, [value]]) : value;
  }
  const kept = Object.entries(value).filter(() => random.chance(0.8));
  return Object.fromEntries(kept.map(([name, member]) => [name, partOf(random, member)]));
}

const lockId = ({ random, rows }: Draws): string => {
  const ids = rows.transactions.flatMap(
    ({ asset }) => asset?.match(/"lockTransactionId":"(\w+)"/)?.[1] ?? [],
  );
  return random.pick([...ids, NO_ID]);
};

const TRANSACTION_FILTERS: Drawing<TransactionFilter> = {
  id: text("transactions", (row) => row.id),
  blockId: text("transactions", (row) => row.blockId),
  version: integer("transactions", (row) => row.version),
  timestamp: integer("transactions", (row) => row.timestamp),
  amount: integer("transactions", (row) => row.amount),
  fee: integer("transactions", (row) => row.fee),
  vendorField(draws) {
    const value = text("transactions", (row) => row.vendorField)(draws);
    const start = draws.random.integer(0, value.length);
    return value.slice(start, start + draws.random.integer(0, 3));
  },
  type: integer("transactions", (row) => row.type),
  typeGroup: integer("transactions", (row) => row.typeGroup),
  nonce: integer("transactions", (row) => row.nonce),
  senderPublicKey: sender,
  senderId: address,
  recipientId: address,
  addresses: many(address),
  asset,
  height: integer("transactions", (row) => row.height),
  participant: address,
  lockIds: many(lockId),
};

const WALLET_FILTERS: Drawing<WalletFilter> = {
  address,
  addresses: many(address),
  publicKey: text("wallets", (row) => row.publicKey),
  secondPublicKey: text("wallets", (row) => row.attributes.secondPublicKey),
  vote: text("wallets", (row) => row.attributes.vote),
  votesFor: text("wallets", (row) => row.attributes.vote),
  username: text("wallets", (row) => row.attributes.delegate?.username),
  balance: integer("wallets", (row) => row.balance),
  voteBalance: integer("wallets", (row) => row.attributes.delegate?.voteBalance),
  lockedBalance: integer("wallets", (row) => row.attributes.htlc?.lockedBalance),
  producedBlocks: integer("wallets", (row) => row.attributes.delegate?.producedBlocks),
};

const TOKEN_FILTERS: Drawing<TokenFilter> = {
  id: many(text("tokens", (row) => row.id)),
  ownerId: text("tokens", (row) => row.ownerId),
};

function filterOf<Filter extends object>(filters: Drawing<Filter>, draws: Draws): Filter {
  const { random } = draws;
  const names = Object.keys(filters) as (keyof Filter)[];
  const filter: Partial<Filter> = {};
  for (let count = random.integer(0, MAX_FILTERS); count > 0; count--) {
    const name = random.pick(names);
    filter[name] = filters[name](draws);
  }
  return filter as Filter;
}

const direction = (random: Random) => random.pick(["asc", "desc"] as const);
const orderOf = <Field>(random: Random, fields: readonly Field[]) => ({
  field: random.pick(fields),
  direction: direction(random),
});

type Draw = (draws: Draws) => ListRequest;
const LISTS: readonly Draw[] = [
  (draws) => {
    const filter = filterOf<BlockFilter>(BLOCK_FILTERS, draws);
    const order: BlockOrder = orderOf(draws.random, BLOCKS.orders);
    const run: ListRequest["run"] = ({ blocks }, range) => blocks.list(filter, order, range);
    return { name: "blocks", filter, order, run };
  },
  (draws) => {
    const { filter, order } = transactionsAsked(draws);
    const run: ListRequest["run"] = ({ transactions }, range) => transactions.list(filter, order, range);
    return { name: "transactions", filter, order, run };
  },
  (draws) => {
    const { filter, order } = transactionsAsked(draws);
    const run: ListRequest["run"] = ({ transactions }, range) =>
      transactions.signedList(filter, order, range);
    return { name: "signed transactions", filter, order, run };
  },
  (draws) => {
    const filter = filterOf<WalletFilter>(WALLET_FILTERS, draws);
    const order: WalletOrder = orderOf(draws.random, WALLETS.orders);
    const run: ListRequest["run"] = ({ wallets }, range) => wallets.list(filter, order, range);
    return { name: "wallets", filter, order, run };
  },
  (draws) => {
    const filter = filterOf<TokenFilter>(TOKEN_FILTERS, draws);
    const order: TokenOrder = orderOf(draws.random, UNIKS.orders);
    const run: ListRequest["run"] = ({ tokens }, range) => tokens.list(filter, order, range);
    return { name: "tokens", filter, order, run };
  },
];

function transactionsAsked(draws: Draws) {
  const { random } = draws;
  const filter = filterOf<TransactionFilter>(TRANSACTION_FILTERS, draws);
  const order: TransactionOrder = {
    ...orderOf(random, TRANSACTIONS.orders),
    ...(random.chance(0.5) && { sequence: direction(random) }),
  };
  return { filter, order };
}

/** Transactions have the most filters and orders. */
const WEIGHTED = [0, 1, 1, 1, 1, 2, 3, 3, 4].map((index) => LISTS[index] as Draw);

export const listRequest = (draws: Draws): ListRequest => draws.random.pick(WEIGHTED)(draws);

/** A read of single resources. */
export type SingleRead = { readonly name: string; run(snapshot: Snapshot): Promise<unknown> };

export function singleRead(draws: Draws): SingleRead {
  const { random } = draws;
  const id = random.pick([address, sender, ...IDS])(draws);
  const prefix = id.slice(0, random.integer(0, 6));
  const number = random.pick([-1, 0, 1.5, 2 ** 40, random.integer(0, 200)]);
  const [time, count, type, height] = [
    random.integer(-10, 2_000),
    random.integer(1, 20),
    random.integer(0, 9),
    random.integer(1, 100),
  ];
  const typeGroup = random.pick([1, 2000, 2001]);
  const minFee = random.pick([0, 1, 10_000_000, 1e15]);
  const key = random.pick(["type", "usr/odd", ...ODD_TEXTS]);
  const reads: Record<string, SingleRead["run"]> = {
    byHeight: ({ blocks }) => blocks.byHeight(number),
    byId: async ({ blocks, transactions }) => [await blocks.byId(id), await transactions.byId(id)],
    heightAt: ({ blocks }) => blocks.heightAt(time),
    before: ({ blocks }) => blocks.before([time, Math.trunc(number), 0]),
    paid: ({ blocks }) => blocks.feesBetween([1, type + 1, height]),
    signed: ({ transactions }) => transactions.signedById(id),
    idsInBlock: ({ transactions }) => transactions.idsInBlock(Math.trunc(number)),
    certified: ({ transactions }) => transactions.certifiedInBlock(Math.trunc(number)),
    wallet: async ({ wallets }) => [await wallets.find(id), await wallets.hasSecondKey(id)],
    token: ({ tokens }) => tokens.find(id),
    properties: ({ tokens }) => tokens.properties(id, { offset: count - 1, limit: type }),
    propertiesAfter: ({ tokens }) => tokens.properties(id, { offset: 0, limit: type, afterKey: key }),
    storedKeys: async ({ tokens }) => [...(await tokens.storedKeys(id, ["type", key, "usr/odd"]))].sort(),
    property: ({ tokens }) => tokens.property(id, key),
    counts: async ({ tokens }) => [...(await tokens.countsByType())],
    delegates: ({ delegates }) => delegates.all(),
    entities: ({ entities }) => entities.all(),
    locks: async ({ locks }) => [await locks.all(), await locks.of(id), await locks.find(id)],
    rounds: ({ rounds }) => rounds.delegates(number),
    fees: async ({ fees }) => [await fees.ofLast(count, typeGroup, type), await fees.since(height, minFee)],
    chain: async ({ chain }) => [await chain.supply(), await chain.lockedSupply()],
    identified: ({ chain }) => chain.beginningWith(prefix),
  };
  const [name, run] = random.pick(Object.entries(reads));
  return {
    name: `${name} ${JSON.stringify([id, prefix, number, time, count, typeGroup, type, height, minFee, key])}`,
    run,
  };
}

const IDS = [
  text("blocks", (row) => row.id),
  text("transactions", (row) => row.id),
  text("tokens", (row) => row.id),
  text("wallets", (row) => row.attributes.delegate?.username),
  ({ random }: Draws) => `${random.integer(0, 16)}`.padStart(64, random.pick(["c", "f"])),
];
