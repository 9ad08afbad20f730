/**
 * Filters and orders of the lists, generated from packages/node/src/read/lists.ts by `npm run reference`: do not
 * edit. An object must satisfy all given filters.
 */
import type { Integer, Interval, OrderBy } from "./responses.ts";

export type BlockOrder = OrderBy<
  "height" | "numberOfTransactions" | "reward" | "timestamp" | "totalAmount" | "totalFee" | "version"
>;

export type BlockFilter = {
  readonly id?: string;
  readonly version?: Integer;
  readonly timestamp?: Integer;
  /** Id of the parent; "0" for the genesis block. */
  readonly previousBlock?: string;
  readonly height?: Integer;
  readonly numberOfTransactions?: Integer;
  readonly totalAmount?: Integer;
  readonly totalFee?: Integer;
  readonly reward?: Integer;
  readonly generatorPublicKey?: string;
};

export type BlockSearchFilter = {
  readonly id?: string;
  readonly version?: Integer;
  readonly timestamp?: Interval;
  /** Id of the parent; "0" for the genesis block. */
  readonly previousBlock?: string;
  readonly height?: Interval;
  readonly numberOfTransactions?: Interval;
  readonly totalAmount?: Interval;
  readonly totalFee?: Interval;
  readonly reward?: Interval;
  readonly generatorPublicKey?: string;
};

export type ForgedBlockFilter = BlockFilter & {
  readonly payloadLength?: Integer;
  readonly payloadHash?: string;
  readonly blockSignature?: string;
};

export type TransactionOrder = OrderBy<
  "amount" | "fee" | "nonce" | "timestamp" | "type" | "typeGroup" | "vendorField" | "version"
>;

export type TransactionFilter = {
  readonly id?: string;
  readonly blockId?: string;
  readonly version?: Integer;
  readonly timestamp?: Integer;
  readonly amount?: Integer;
  readonly fee?: Integer;
  /** Substring of the text, case-sensitive; % and _ are ordinary characters. */
  readonly vendorField?: string;
  /** Type number; belongs to the core group if typeGroup is absent. */
  readonly type?: Integer;
  readonly typeGroup?: Integer;
  readonly nonce?: Integer;
  readonly senderPublicKey?: string;
  readonly senderId?: string;
  /** Alone, also finds payees of multi payments, and the address's own transactions that name no recipient. */
  readonly recipientId?: string;
  /** Senders, recipients and payees. */
  readonly address?: string;
};

export type TransactionSearchFilter = {
  readonly id?: string;
  readonly blockId?: string;
  readonly version?: Integer;
  readonly timestamp?: Interval;
  readonly amount?: Interval;
  readonly fee?: Interval;
  /** Substring of the text, case-sensitive; % and _ are ordinary characters. */
  readonly vendorField?: string;
  /** Type number; belongs to the core group if typeGroup is absent. */
  readonly type?: Integer;
  readonly typeGroup?: Integer;
  readonly nonce?: Integer;
  readonly senderPublicKey?: string;
  readonly senderId?: string;
  /** Alone, also finds payees of multi payments, and the address's own transactions that name no recipient. */
  readonly recipientId?: string;
  /** Senders, recipients and payees. */
  readonly addresses?: readonly string[];
  /** Members that the asset must have with the same values, at any depth. */
  readonly asset?: Readonly<Record<string, unknown>>;
};

export type VoteFilter = Omit<TransactionFilter, "type" | "typeGroup" | "nonce" | "address">;

export type BlockTransactionFilter = Omit<TransactionFilter, "typeGroup" | "nonce" | "address">;

export type WalletTransactionFilter = Omit<
  TransactionFilter,
  "senderPublicKey" | "senderId" | "recipientId" | "address"
>;

export type SentTransactionFilter = Omit<TransactionFilter, "senderPublicKey" | "senderId" | "address">;

export type ReceivedTransactionFilter = Omit<TransactionFilter, "recipientId" | "address">;

export type WalletOrder = OrderBy<
  | "address"
  | "balance"
  | "nonce"
  | "publicKey"
  | "secondPublicKey"
  | "username"
  | "vote"
  | "lockedBalance"
  | "voteBalance"
  | "resigned"
>;

export type WalletFilter = {
  readonly address?: string;
  readonly publicKey?: string;
  readonly secondPublicKey?: string;
  readonly vote?: string;
  readonly username?: string;
  readonly balance?: Integer;
  readonly voteBalance?: Integer;
  readonly producedBlocks?: Integer;
};

export type WalletSearchFilter = {
  readonly address?: string;
  readonly addresses?: readonly string[];
  readonly publicKey?: string;
  readonly secondPublicKey?: string;
  readonly vote?: string;
  readonly username?: string;
  readonly balance?: Interval;
  readonly voteBalance?: Interval;
  readonly lockedBalance?: Interval;
  readonly producedBlocks?: Integer;
};

export type RichestWalletFilter = WalletFilter;

export type VoterFilter = WalletFilter;

export type BalanceOrder = OrderBy<"height">;

export type BalanceFilter = {
  /** Lowest height of the rows. */
  readonly from?: Integer;
  /** Greatest height of the rows. */
  readonly to?: Integer;
};

export type DelegateOrder = OrderBy<
  | "approval"
  | "forgedFees"
  | "forgedRewards"
  | "forgedTotal"
  | "producedBlocks"
  | "publicKey"
  | "rank"
  | "resigned"
  | "username"
  | "voteBalance"
  | "votes"
>;

export type DelegateFilter = {
  readonly type?: "resigned" | "never-forged";
  readonly address?: string;
  readonly publicKey?: string;
  readonly secondPublicKey?: string;
  readonly vote?: string;
  /** Substring of the username. */
  readonly username?: string;
  /** Substring of the displayed name or of the username, case-insensitive. */
  readonly name?: string;
  readonly balance?: Integer;
  readonly voteBalance?: Integer;
  readonly producedBlocks?: Integer;
};

export type DelegateSearchFilter = {
  readonly address?: string;
  readonly publicKey?: string;
  /** Substring of the username. */
  readonly username?: string;
  /** Substring of the displayed name or of the username, case-insensitive. */
  readonly name?: string;
  readonly usernames?: readonly string[];
  /** Percentage with a precision of two decimals. */
  readonly approval?: Interval<number | string>;
  readonly forgedFees?: Interval;
  readonly forgedRewards?: Interval;
  readonly forgedTotal?: Interval;
  readonly voteBalance?: Interval;
  readonly producedBlocks?: Interval;
};

export type LockOrder = OrderBy<
  | "amount"
  | "expirationType"
  | "expirationValue"
  | "isExpired"
  | "lockId"
  | "recipientId"
  | "secretHash"
  | "senderPublicKey"
  | "timestamp"
  | "vendorField"
>;

export type LockFilter = {
  readonly recipientId?: string;
  readonly senderPublicKey?: string;
  readonly lockId?: string;
  readonly secretHash?: string;
  readonly amount?: Integer;
  readonly expirationValue?: Integer;
  readonly expirationType?: 1 | 2;
  readonly isExpired?: boolean;
};

export type LockSearchFilter = {
  readonly recipientId?: string;
  readonly senderPublicKey?: string;
  readonly lockId?: string;
  readonly secretHash?: string;
  /** Exact text of the vendor field. */
  readonly vendorField?: string;
  readonly amount?: Interval;
  readonly timestamp?: Interval;
  readonly expirationValue?: Interval;
  readonly expirationType?: 1 | 2;
  readonly isExpired?: boolean;
};

export type WalletLockFilter = Pick<LockFilter, "isExpired">;

export type EntityOrder = OrderBy<"address" | "id" | "isResigned" | "publicKey" | "subType" | "type">;

export type EntityFilter = {
  readonly publicKey?: string;
  readonly type?: Integer;
  readonly subType?: Integer;
  /** Substring of the name. */
  readonly name?: string;
  readonly isResigned?: boolean;
};

export type EntitySearchFilter = {
  readonly publicKey?: string;
  readonly type?: Integer;
  readonly subType?: Integer;
  /** Substring of the name. */
  readonly name?: string;
  readonly isResigned?: boolean;
};

export type TokenOrder = OrderBy<"id" | "ownerId">;

export type TokenSearchFilter = {
  readonly id?: string | readonly string[];
  readonly ownerId?: string;
};

export type PeerOrder = OrderBy<"height" | "ip" | "latency" | "version">;

export type PeerFilter = {
  readonly version?: string;
};
