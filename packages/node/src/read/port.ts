/**
 * The read model, from which answers are made. A route reads from a snapshot, and all rows of the answer are those
 * of one block. Implementations are in folders of their own; one suite of tests holds for each of them
 * (`packages/node/test/read/port`).
 */
import type { Transaction } from "@uniknode/protocol";
import type {
  BlockFilter,
  BlockOrder,
  TokenFilter,
  TokenOrder,
  TransactionFilter,
  TransactionOrder,
  WalletFilter,
  WalletOrder,
} from "./filters.ts";
import type { Head } from "./head.ts";
import type { Found, Range } from "./page.ts";
import type {
  FeeStatistics,
  Identified,
  RoundDelegate,
  StoredBlock,
  StoredDelegate,
  StoredEntity,
  StoredLock,
  StoredToken,
  StoredTransaction,
  StoredWallet,
  TokenProperty,
  TypeFees,
} from "./rows.ts";

export type ReadModel = {
  /**
   * The block that a snapshot begun now would see; undefined while there is none. No promise if it is known at once: every
   * request reads it, and a promise takes a fourth of the time of a kept answer.
   */
  head(): Head | undefined | Promise<Head | undefined>;
  /**
   * Reads of one state. `work` waits for nothing but reads of its snapshot, so that an implementation may share the
   * resources of the snapshot, and release them soon. It is begun before the call returns.
   *
   * @throws {SnapshotError}
   */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Releases the resources of snapshots. No read is made afterwards. */
  close(): void;
};

/**
 * The state after the block `head`. Every read may fail with a `SnapshotError`: an implementation gives each read a time, and
 * ends one that needs longer with `SNAPSHOT_TIMEOUT`; the snapshot remains, and so do its other reads.
 */
export type Snapshot = {
  readonly head: Head;
  readonly blocks: Blocks;
  readonly chain: Chain;
  readonly delegates: Delegates;
  readonly entities: Entities;
  readonly fees: Fees;
  readonly locks: Locks;
  readonly rounds: Rounds;
  readonly tokens: Tokens;
  readonly transactions: Transactions;
  readonly wallets: Wallets;
};

/**
 * A page of a list.
 *
 * @throws {CursorError}
 */
export type List<Filter, Order, Row> = (filter: Filter, order: Order, range: Range) => Promise<Found<Row>>;

export type Blocks = {
  byHeight(height: number): Promise<StoredBlock | undefined>;
  byId(id: string): Promise<StoredBlock | undefined>;
  /** Height of the first block at or after a network time in seconds; one above the head when there is none. */
  heightAt(timestamp: number): Promise<number>;
  readonly list: List<BlockFilter, BlockOrder, StoredBlock>;
};

/** Confirmed transactions. */
export type Transactions = {
  byId(id: string): Promise<StoredTransaction | undefined>;
  /** The same as it was signed. */
  signedById(id: string): Promise<Transaction | undefined>;
  /** Mints and updates of a block that carry a certification, in its order: only these are rewarded. */
  certifiedInBlock(height: number): Promise<Transaction[]>;
  readonly list: List<TransactionFilter, TransactionOrder, StoredTransaction>;
  readonly signedList: List<TransactionFilter, TransactionOrder, Transaction>;
};

export type Wallets = {
  /** By address, else public key, else delegate username. */
  find(id: string): Promise<StoredWallet | undefined>;
  /** Whether the wallet of an address has registered a second key. */
  hasSecondKey(address: string): Promise<boolean>;
  readonly list: List<WalletFilter, WalletOrder, StoredWallet>;
};

/** Resigned ones included. */
export type Delegates = { all(): Promise<readonly StoredDelegate[]> };

/** Resigned ones included. */
export type Entities = { all(): Promise<readonly StoredEntity[]> };

/** Open locks. */
export type Locks = {
  all(): Promise<readonly StoredLock[]>;
  find(id: string): Promise<StoredLock | undefined>;
  /** Open locks of one sender. */
  of(address: string): Promise<readonly StoredLock[]>;
};

export type Tokens = {
  find(id: string): Promise<StoredToken | undefined>;
  readonly list: List<TokenFilter, TokenOrder, StoredToken>;
  /** Stored properties by ascending key. */
  properties(id: string): Promise<readonly TokenProperty[]>;
  /** The value of a stored property. */
  property(id: string, key: string): Promise<string | undefined>;
  /** How many tokens have each value of the property `type`. */
  countsByType(): Promise<ReadonlyMap<string, number>>;
};

export type Rounds = {
  /** Delegates of a round by rank, at its beginning; undefined for a round that has not begun. */
  delegates(round: number): Promise<readonly RoundDelegate[] | undefined>;
};

export type Fees = {
  /** Of the last transactions of a type; undefined when there is none. */
  ofLast(count: number, typeGroup: number, type: number): Promise<FeeStatistics | undefined>;
  /** By type, of all transactions from a height on whose fee is at least `minFee`. */
  since(height: number, minFee: number): Promise<readonly TypeFees[]>;
};

export type Chain = {
  /** Coins in circulation (state.md 4.2): the sum of all balances and the premine. Without open locks. */
  supply(): Promise<bigint>;
  /** Amount inside open hash-time locks. */
  lockedSupply(): Promise<bigint>;
  /** A few blocks, transactions, uniks and wallets whose id or address begins with a text, by kind. */
  beginningWith(prefix: string): Promise<readonly Identified[]>;
};
