/**
 * The read model, and its errors. A route reads from a snapshot, so that all rows of a response belong to the state
 * after one block. Each implementation has its own folder; all of them must pass the same tests
 * (`packages/node/test/read/port`).
 */
import type { Transaction } from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import { CodedError } from "../platform/coded-error.ts";
import type {
  BalanceFilter,
  BalanceOrder,
  BlockFilter,
  BlockOrder,
  TokenFilter,
  TokenOrder,
  TransactionFilter,
  TransactionOrder,
  WalletFilter,
  WalletOrder,
} from "./filters.ts";
import type { Found, PropertyRange, Range } from "./page.ts";
import type {
  FeeStatistics,
  Identified,
  ListedToken,
  RoundDelegate,
  StoredBalance,
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
   * Returns the block that a new snapshot would see; undefined before the genesis block. Returns the block without a promise if
   * it is known: every request reads it, and awaiting would add 25 % to a cached response.
   */
  head(): Head | undefined | Promise<Head | undefined>;
  /**
   * Runs `work` with reads of one state. `work` may await only reads of its snapshot, so that an implementation can share
   * the resources of the snapshot and release them soon.
   *
   * @throws {SnapshotError}
   */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /** Releases the resources of snapshots. Callers must not read afterwards. */
  close(): void;
};

/**
 * The state after the block `head`. Every read may fail with a `SnapshotError`: an implementation ends a read that exceeds
 * its time with `SNAPSHOT_TIMEOUT`. The snapshot and its other reads remain valid.
 */
export type Snapshot = {
  readonly head: Head;
  readonly blocks: Blocks;
  readonly chain: Chain;
  readonly delegates: Delegates;
  readonly entities: Entities;
  readonly fees: Fees;
  /** Undefined: the implementation has no earlier states. */
  readonly history: History | undefined;
  readonly locks: Locks;
  readonly rounds: Rounds;
  readonly tokens: Tokens;
  readonly transactions: Transactions;
  readonly wallets: Wallets;
};

/**
 * Returns a page of a list.
 *
 * @throws {CursorError}
 */
type List<Filter, Order, Row> = (filter: Filter, order: Order, range: Range) => Promise<Found<Row>>;

export type Blocks = {
  byHeight(height: number): Promise<StoredBlock | undefined>;
  byId(id: string): Promise<StoredBlock | undefined>;
  /** Height of the first block at or after a network time in seconds; one above the head if no such block exists. */
  heightAt(timestamp: number): Promise<number>;
  /** Returns the numbers of blocks and of transactions before each network time in seconds. */
  before(timestamps: readonly number[]): Promise<readonly CountsBefore[]>;
  /** Returns the sums of the fees of all blocks from each height up to the next one: one sum less than heights. Reads each block. */
  feesBetween(heights: readonly number[]): Promise<readonly bigint[]>;
  readonly list: List<BlockFilter, BlockOrder, StoredBlock>;
};

export type CountsBefore = { readonly blocks: number; readonly transactions: number };

/** Confirmed transactions. */
export type Transactions = {
  byId(id: string): Promise<StoredTransaction | undefined>;
  /** Returns the transaction as it was signed. */
  signedById(id: string): Promise<Transaction | undefined>;
  /** Returns the signed bytes of a transaction. */
  bytesById(id: string): Promise<Uint8Array | undefined>;
  /** Returns the ids of the transactions of a block, in block order. */
  idsInBlock(height: number): Promise<readonly string[]>;
  /** Returns the certified mints and updates of a block, in block order: only these are rewarded. */
  certifiedInBlock(height: number): Promise<Transaction[]>;
  readonly list: List<TransactionFilter, TransactionOrder, StoredTransaction>;
  readonly signedList: List<TransactionFilter, TransactionOrder, Transaction>;
};

export type Wallets = {
  /** Finds the address of a wallet as `find`, without the rest of it: its attributes contain all that it holds. */
  address(id: string): Promise<string | undefined>;
  /** Finds a wallet by address, then by public key, then by delegate username. */
  find(id: string): Promise<StoredWallet | undefined>;
  /** Returns whether the wallet of an address has registered a second key. */
  hasSecondKey(address: string): Promise<boolean>;
  readonly list: List<WalletFilter, WalletOrder, StoredWallet>;
};

/** Includes resigned ones. */
export type Delegates = { all(): Promise<readonly StoredDelegate[]> };

/** Includes resigned ones. */
export type Entities = {
  /** The order is arbitrary. */
  all(): Promise<readonly StoredEntity[]>;
  find(id: string): Promise<StoredEntity | undefined>;
};

/** Open locks. */
export type Locks = {
  /** The order is arbitrary. */
  all(): Promise<readonly StoredLock[]>;
  find(id: string): Promise<StoredLock | undefined>;
  /** Returns the open locks of one sender, in any order. */
  of(address: string): Promise<readonly StoredLock[]>;
};

export type Tokens = {
  find(id: string): Promise<StoredToken | undefined>;
  readonly list: List<TokenFilter, TokenOrder, ListedToken>;
  /** Lists the stored properties by ascending key. */
  properties(id: string, range: PropertyRange): Promise<Found<TokenProperty>>;
  /** Returns those of some keys that have a stored property. */
  storedKeys(id: string, keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns the value of a stored property. */
  property(id: string, key: string): Promise<string | undefined>;
  /** Counts the tokens of each type of a unik: those whose property `type` is 1, 2 or 3. */
  countsByType(): Promise<ReadonlyMap<string, number>>;
};

/** Earlier states, if the node records them. Heights must be from `since` to the head. */
export type History = {
  /** Returns the lowest height whose state is recorded; undefined if none is. */
  since(): Promise<number | undefined>;
  /** Returns reads of the state after a block. */
  at(height: number): PastState;
  /** Lists the blocks that changed balance, nonce or public key of a wallet, with the balance after each. */
  readonly balances: List<BalanceFilter, BalanceOrder, StoredBalance>;
};

export type PastState = {
  readonly height: number;
  readonly wallets: Pick<Wallets, "find" | "hasSecondKey">;
  readonly tokens: Pick<Tokens, "find" | "properties" | "property" | "storedKeys">;
  readonly delegates: Delegates;
  /** Returns the sum of all balances, the premine and the open locks. */
  totalSupply(): Promise<bigint>;
};

export type Rounds = {
  /** Returns the delegates of a round by rank at its start; undefined for a round that has not started. */
  delegates(round: number): Promise<readonly RoundDelegate[] | undefined>;
};

export type Fees = {
  /** Returns the statistics of the last transactions of a type; undefined if the type has none. */
  ofLast(count: number, typeGroup: number, type: number): Promise<FeeStatistics | undefined>;
  /** Returns the statistics by type of all transactions from a height on whose fee is at least `minFee`. */
  since(height: number, minFee: number): Promise<readonly TypeFees[]>;
};

export type Chain = {
  /** Coins in circulation (state.md 4.2): the sum of all balances and the premine, without open locks. */
  supply(): Promise<bigint>;
  /** Sum of the amounts of open hash-time locks. */
  lockedSupply(): Promise<bigint>;
  /** Returns a few blocks, transactions, uniks and wallets whose id or address begins with `prefix`, by kind. */
  beginningWith(prefix: string): Promise<readonly Identified[]>;
};

/** The same reads without promises, for a database whose results are there at once: the classes in `sqlite/tables`. */
export type QueriesOf<Reads> = {
  readonly [Name in keyof Reads]: Reads[Name] extends (...asked: infer Asked) => Promise<infer Result>
    ? (...asked: Asked) => Result
    : never;
};

/** The cursor does not belong to this list in this order. */
export class CursorError extends CodedError<"CURSOR_UNKNOWN"> {
  constructor() {
    super("CURSOR_UNKNOWN", "the cursor does not belong to this list in this order", { isRetryable: false });
  }
}

/**
 * - `SNAPSHOT_TIMEOUT`: the reads exceed their time; the worker for slow queries has more
 * - `SNAPSHOT_EMPTY`: the chain has no block yet, or a mirror is being built
 * - `SNAPSHOT_ENDED`: a read came after the end of its snapshot, because the work waited for something other than reads
 * - `SNAPSHOT_BUSY`: all connections to the database are in use
 * - `SNAPSHOT_UNREACHABLE`: the database cannot be reached, or it ended the snapshot
 */
type SnapshotErrorCode =
  | "SNAPSHOT_TIMEOUT"
  | "SNAPSHOT_EMPTY"
  | "SNAPSHOT_ENDED"
  | "SNAPSHOT_BUSY"
  | "SNAPSHOT_UNREACHABLE";

const MESSAGES: Readonly<Record<SnapshotErrorCode, string>> = {
  SNAPSHOT_TIMEOUT: "reads aborted: time limit exceeded",
  SNAPSHOT_EMPTY: "the database has no block yet, or its mirror is being built",
  SNAPSHOT_ENDED: "the snapshot has ended: await only its reads inside it",
  SNAPSHOT_BUSY: "reads refused: all connections to the database are in use; retry",
  SNAPSHOT_UNREACHABLE: "reads failed: the database cannot be reached; check that it runs",
};

/** Thrown by reads of a snapshot. */
export class SnapshotError extends CodedError<SnapshotErrorCode> {
  /** Not retryable after a timeout: the same reads would take as long again. */
  constructor(code: SnapshotErrorCode, cause?: unknown) {
    super(code, MESSAGES[code], { isRetryable: code !== "SNAPSHOT_TIMEOUT", cause });
  }
}

/** The last committed block. */
export type Head = {
  readonly id: string;
  readonly height: number;
  /** Seconds since the network epoch. */
  readonly timestamp: number;
};

/** Caches a value that depends only on the head: it is computed once per head. */
export function perHead<T>(compute: (head: Head) => T): (head: Head) => T {
  let known: { id: string; value: T } | undefined;
  return (head) => {
    if (known?.id !== head.id) known = { id: head.id, value: compute(head) };
    return known.value;
  };
}

/**
 * Reads by name, whose results are cached. Errors are not cached: a caller that waited for the read of another snapshot, which
 * failed, reads in its own, which may have more time.
 */
export class SharedReads<T> {
  readonly #known: LRUCache<string, Promise<T>>;

  /** @param max maximum number of cached results */
  constructor(max: number) {
    this.#known = new LRUCache({ max });
  }

  read(name: string, compute: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name);
    if (known) return known.catch(() => this.read(name, compute));
    const value = compute();
    this.#known.set(name, value);
    value.catch(() => {
      if (this.#known.peek(name) === value) this.#known.delete(name);
    });
    return value;
  }
}

/** Caches a value that is read in a snapshot, once per head. */
export function perSnapshot<S extends { readonly head: Head }, T>(
  compute: (snapshot: S) => Promise<T>,
): (snapshot: S) => Promise<T> {
  const reads = new SharedReads<T>(1);
  return (snapshot) => reads.read(snapshot.head.id, () => compute(snapshot));
}
