/**
 * Filters and orders of the read model, by the definitions of the lists. A row must match all members of a filter; absent
 * members do not filter.
 */
import type { FilterOf, OrderOf } from "./list-definition.ts";
import type {
  BALANCES,
  BLOCKS,
  DELEGATE_BLOCKS,
  DELEGATES,
  ENTITIES,
  LOCKS,
  PEERS,
  TRANSACTIONS,
  UNIKS,
  WALLETS,
} from "./lists.ts";
import type { Direction, Integer, Interval } from "./page.ts";

export type BlockFilter = FilterOf<typeof DELEGATE_BLOCKS> & {
  /** Generator of the blocks. Set by the list of a delegate's blocks, in addition to `generatorPublicKey`. */
  readonly forgedBy?: string;
};

/** Filters of blocks that compare a column with a value. */
export type BlockField = Exclude<keyof BlockFilter, "height" | "timestamp" | "previousBlock">;

/** Ties are broken by height, highest first. */
export type BlockOrder = OrderOf<typeof BLOCKS>;

/** The parameter `address` of the list becomes `addresses`. */
export type TransactionFilter = Omit<FilterOf<typeof TRANSACTIONS>, "address"> & {
  /** Set by the list of a block's transactions. */
  readonly height?: Integer | Interval;
  /** Address of a sender, recipient or payee. Set by the list of a wallet's transactions. */
  readonly participant?: string;
  /** Locks that the transaction claims or refunds. Set by the list of ended locks. */
  readonly lockIds?: readonly string[];
};

/** Filters of transactions that compare a column with a value. */
export type TransactionField = Exclude<
  keyof TransactionFilter,
  | "addresses"
  | "asset"
  | "blockId"
  | "height"
  | "lockIds"
  | "participant"
  | "recipientId"
  | "senderId"
  | "timestamp"
  | "type"
  | "typeGroup"
  | "vendorField"
>;

/**
 * Ties are broken by the position in the chain, newest first; absent vendorFields count as the highest. Transactions of one
 * block are in the order of the block, or reversed.
 */
export type TransactionOrder = OrderOf<typeof TRANSACTIONS> & {
  /** Direction of rows of one block that are equal in the field. Default: descending. */
  readonly sequence?: Direction;
};

export type WalletFilter = FilterOf<typeof WALLETS> & {
  /** Delegate whose voters are listed, in addition to `vote`. */
  readonly votesFor?: string;
};

/** Filters of wallets that compare a column with a value. */
export type WalletField = Exclude<keyof WalletFilter, "addresses">;

/**
 * Wallets without a value come last in both directions, but count as 0 if the value is an amount; resigned delegates
 * come first in both. Ties are broken by address: in the same direction for `balance` and `nonce`, else ascending.
 */
export type WalletOrder = OrderOf<typeof WALLETS>;

/** The read model does not filter and order these: they fit in memory (`http/responses`). */
export type DelegateFilter = FilterOf<typeof DELEGATES>;
export type DelegateOrder = OrderOf<typeof DELEGATES>;
export type LockFilter = FilterOf<typeof LOCKS>;
export type LockOrder = OrderOf<typeof LOCKS>;
export type EntityFilter = FilterOf<typeof ENTITIES>;
export type EntityOrder = OrderOf<typeof ENTITIES>;
export type PeerOrder = OrderOf<typeof PEERS>;

/** The blocks that changed a wallet. */
export type BalanceFilter = FilterOf<typeof BALANCES> & { readonly address: string };
export type BalanceOrder = OrderOf<typeof BALANCES>;

export type TokenFilter = FilterOf<typeof UNIKS>;

/** Ties are broken by id, in the same direction. */
export type TokenOrder = OrderOf<typeof UNIKS>;
