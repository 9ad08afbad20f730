/** What the read model answers: rows as plain values, amounts as decimal text of the smallest unit. */
import type { Attributes, Entity, Lock, Round } from "@uniknode/ledger";
import type { VisibleFields } from "../store/chain/visible-fields.ts";
import type { Json } from "../store/state/json.ts";

export type StoredBlock = {
  readonly id: string;
  readonly version: number;
  /** Seconds since the network epoch. */
  readonly timestamp: number;
  readonly height: number;
  /** Id of the parent; `"0"` for the genesis block. */
  readonly previousBlock: string;
  readonly numberOfTransactions: number;
  readonly totalAmount: string;
  readonly totalFee: string;
  readonly reward: string;
  readonly payloadLength: number;
  readonly payloadHash: string;
  readonly generatorPublicKey: string;
  readonly blockSignature: string;
  /** Of the generator; null where it is no delegate: the genesis block. */
  readonly username: string | null;
};

export type StoredTransaction = VisibleFields & {
  readonly id: string;
  readonly version: number;
  readonly typeGroup: number;
  readonly type: number;
  readonly senderPublicKey: string;
  readonly recipientId: string | null;
  readonly amount: string;
  readonly fee: string;
  readonly vendorField: string | null;
  readonly blockId: string;
  readonly height: number;
  /** Of the block, seconds since the network epoch. */
  readonly timestamp: number;
  /** Position among the sender's transactions, from 1: version 1 does not carry it. Decimal text. */
  readonly nonce: string;
};

/** Attributes that answers read. */
export const SHOWN_ATTRIBUTES = ["delegate", "htlc", "multiSignature", "secondPublicKey", "vote"] as const;

export type StoredWallet = {
  readonly address: string;
  readonly publicKey?: string;
  /** May be negative. */
  readonly balance: string;
  readonly nonce: string;
  /** The part that answers read. */
  readonly attributes: Pick<Json<Attributes>, (typeof SHOWN_ATTRIBUTES)[number]>;
  /** All of them, as JSON, in the order in which they were set. */
  readonly attributesText: string;
};

export type StoredDelegate = {
  readonly address: string;
  readonly publicKey: string;
  readonly balance: string;
  readonly vote?: string;
  readonly secondPublicKey?: string;
  readonly delegate: Json<NonNullable<Attributes["delegate"]>>;
  /** First name that the delegate's unik disclosed. */
  readonly explicitName?: string;
};

export type StoredLock = Json<Lock> & {
  /** Id of the transaction that made it. */
  readonly id: string;
  /** Of the wallet that gets the amount back. */
  readonly senderPublicKey: string;
};

export type StoredEntity = Json<Entity> & {
  /** Id of the registration. */
  readonly id: string;
  readonly address: string;
  readonly publicKey: string;
};

export type StoredToken = {
  readonly id: string;
  readonly ownerId: string;
  readonly firstTransaction: string;
  readonly lastTransaction: string;
  /** Properties that summaries show; null when not stored. */
  readonly type: string | null;
  /** Disclosed names, separated by commas. */
  readonly explicitValues: string | null;
};

export type TokenProperty = { readonly key: string; readonly value: string };

/** A delegate of a round with the vote balance that it had then. */
export type RoundDelegate = Json<Round>["delegates"][number];

/** Of fees that were paid; `avg` is cut to an integer. */
export type FeeStatistics = { avg: string; max: string; min: string; sum: string };
export type TypeFees = FeeStatistics & { readonly typeGroup: number; readonly type: number };
