/** Filters and orders of lists. A row must match all members of a filter; absent members do not filter. */
import type { Direction, Integer, Interval } from "./page.ts";

export type BlockFilter = {
  readonly id?: string;
  readonly version?: Integer | Interval;
  readonly height?: Integer | Interval;
  readonly timestamp?: Integer | Interval;
  /** Id of the parent; `"0"` for the genesis block. */
  readonly previousBlock?: string;
  readonly numberOfTransactions?: Integer | Interval;
  readonly totalAmount?: Integer | Interval;
  readonly totalFee?: Integer | Interval;
  readonly reward?: Integer | Interval;
  readonly generatorPublicKey?: string;
  /** Generator of the blocks. Set by the list of a delegate's blocks, in addition to `generatorPublicKey`. */
  readonly forgedBy?: string;
  readonly payloadLength?: Integer | Interval;
  readonly payloadHash?: string;
  readonly blockSignature?: string;
};

export const BLOCK_ORDERS = [
  "height",
  "numberOfTransactions",
  "reward",
  "timestamp",
  "totalAmount",
  "totalFee",
  "version",
] as const;

/** Ties are broken by height, highest first. */
export type BlockOrder = { readonly field: (typeof BLOCK_ORDERS)[number]; readonly direction: Direction };

export type TransactionFilter = {
  readonly id?: string;
  /** Type number; belongs to the core group if `typeGroup` is absent. */
  readonly type?: Integer | Interval;
  readonly typeGroup?: Integer | Interval;
  readonly version?: Integer | Interval;
  readonly senderPublicKey?: string;
  readonly nonce?: Integer | Interval;
  readonly amount?: Integer | Interval;
  readonly fee?: Integer | Interval;
  readonly height?: Integer | Interval;
  readonly blockId?: string;
  readonly timestamp?: Integer | Interval;
  /** Substring of the text, case-sensitive; % and _ are ordinary characters. */
  readonly vendorField?: string;
  /** Address of the sender. */
  readonly senderId?: string;
  /** Also finds payees of multi payments, and the address's own transactions that name no recipient. */
  readonly recipientId?: string;
  /** Senders and recipients, but not payees. */
  readonly addresses?: readonly string[];
  /** Address of a sender, recipient or payee. */
  readonly participant?: string;
  /** Members that the asset must have with the same values, at any depth. */
  readonly asset?: object;
  /** Locks that the transaction claims or refunds. */
  readonly lockIds?: readonly string[];
};

export const TRANSACTION_ORDERS = [
  "amount",
  "fee",
  "nonce",
  "timestamp",
  "type",
  "typeGroup",
  "vendorField",
  "version",
] as const;

/**
 * Ties are broken by the position in the chain, newest first; absent vendorFields count as the highest. Transactions of one
 * block are in the order of the block, or reversed.
 */
export type TransactionOrder = {
  readonly field: (typeof TRANSACTION_ORDERS)[number];
  readonly direction: Direction;
  /** Direction of rows of one block that are equal in the field. Default: descending. */
  readonly sequence?: Direction;
};

export type WalletFilter = {
  readonly address?: string;
  readonly addresses?: readonly string[];
  readonly publicKey?: string;
  readonly secondPublicKey?: string;
  readonly vote?: string;
  /** Delegate whose voters are listed, in addition to `vote`. */
  readonly votesFor?: string;
  readonly username?: string;
  readonly balance?: Integer | Interval;
  readonly lockedBalance?: Integer | Interval;
  readonly voteBalance?: Integer | Interval;
  readonly producedBlocks?: Integer | Interval;
};

export const WALLET_ORDERS = [
  "address",
  "balance",
  "nonce",
  "publicKey",
  "secondPublicKey",
  "username",
  "vote",
  "lockedBalance",
  "voteBalance",
  "resigned",
] as const;

/**
 * Wallets without a value come last in both directions, but count as 0 if the value is an amount; resigned delegates
 * come first in both. Ties are broken by address: in the same direction for `balance` and `nonce`, else ascending.
 */
export type WalletOrder = { readonly field: (typeof WALLET_ORDERS)[number]; readonly direction: Direction };

export type TokenFilter = { readonly ids?: readonly string[]; readonly ownerId?: string };

/** Ties are broken by id, in the same direction. */
export type TokenOrder = { readonly field: "id" | "ownerId"; readonly direction: Direction };
