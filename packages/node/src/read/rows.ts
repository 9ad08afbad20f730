/**
 * Rows of the read model as plain values; amounts are decimal text of the smallest unit. Every implementation stores the attributes of
 * wallets as JSON text, from which some rows follow.
 */
import type { Attributes, Entity, Lock, Round } from "@uniknode/ledger";
import type { Json } from "../platform/json/lossless.ts";
import { present } from "../platform/present.ts";

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
  /** Username of the generator; null if it is not a delegate, as for the genesis block. */
  readonly username: string | null;
};

export type StoredTransaction = {
  readonly id: string;
  readonly version: number;
  readonly typeGroup: number;
  readonly type: number;
  readonly senderPublicKey: string;
  readonly recipientId: string | null;
  readonly amount: string;
  readonly fee: string;
  readonly vendorField: string | null;
  /** JSON members of the signatures, without the brackets of an object; empty for an unsigned transaction. */
  readonly signatures: string;
  /** JSON; null if the type has none. */
  readonly asset: string | null;
  readonly blockId: string;
  readonly height: number;
  /** Timestamp of the block, in seconds since the network epoch. */
  readonly timestamp: number;
  /** Position among the sender's transactions, from 1, as decimal text. The bytes of version 1 do not contain it. */
  readonly nonce: string;
};

export type StoredWallet = {
  readonly address: string;
  readonly publicKey?: string;
  /** May be negative. */
  readonly balance: string;
  readonly nonce: string;
  /** Attributes of which responses repeat members. */
  readonly attributes: Pick<Json<Attributes>, "delegate" | "multiSignature" | "secondPublicKey" | "vote"> & {
    readonly htlc?: { readonly lockedBalance: string };
  };
  /** JSON of all attributes with what the wallet holds, in the order in which they were set. */
  readonly attributesText: string;
};

/** The balance of a wallet after a block that changed the wallet. */
export type StoredBalance = {
  readonly height: number;
  /** Timestamp of the block, in seconds since the network epoch. */
  readonly timestamp: number;
  readonly balance: string;
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
  /** Id of the transaction that locked the amount. */
  readonly id: string;
  /** Public key of the sender, which gets the amount back after a refund. */
  readonly senderPublicKey: string;
};

export type StoredEntity = Json<Entity> & {
  /** Id of the registration. */
  readonly id: string;
  readonly address: string;
  readonly publicKey: string;
};

/** A token as lists contain it. */
export type ListedToken = Omit<StoredToken, "firstTransaction" | "lastTransaction">;

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

/** Statistics of paid fees; `avg` is rounded to an integer, half up. */
export type FeeStatistics = { avg: string; max: string; min: string; sum: string };
export type TypeFees = FeeStatistics & { readonly typeGroup: number; readonly type: number };

/** A block, transaction, unik or wallet, identified by its id or address. */
export type Identified =
  | { readonly kind: "block"; readonly id: string; readonly height: number }
  | { readonly kind: "transaction" | "unik" | "wallet"; readonly id: string };

/** Most wallets have none. */
const NO_ATTRIBUTES: StoredWallet["attributes"] = {};

export type WalletRow = {
  readonly address: string;
  readonly publicKey: string | null;
  readonly balance: string;
  readonly nonce: string;
  /** JSON; the holdings of the wallet are collections. */
  readonly attributes: string;
};

/** @param attributesText the attributes as responses show them */
export function walletFromRow(
  { address, publicKey, balance, nonce, attributes: text }: WalletRow,
  attributesText = text,
): StoredWallet {
  const attributes = text === "{}" ? NO_ATTRIBUTES : repeatedAttributes(JSON.parse(text));
  const wallet = { address, balance, nonce, attributes, attributesText };
  return publicKey === null ? wallet : { ...wallet, publicKey };
}

function repeatedAttributes(attributes: Json<Attributes>): StoredWallet["attributes"] {
  const { delegate, htlc, multiSignature, secondPublicKey, vote } = attributes;
  return {
    ...(delegate && { delegate }),
    ...(htlc && { htlc: { lockedBalance: htlc.lockedBalance } }),
    ...(multiSignature && { multiSignature }),
    ...(secondPublicKey !== undefined && { secondPublicKey }),
    ...(vote !== undefined && { vote }),
  };
}

export type DelegateRow = {
  readonly address: string;
  readonly publicKey: string;
  readonly balance: string;
  readonly attributes: string;
  /** Disclosed names of the unik of the delegate, separated by commas. */
  readonly explicitValues: string | null;
};

export function delegateFromRow({ attributes, explicitValues, ...row }: DelegateRow): StoredDelegate {
  const { delegate, vote, secondPublicKey } = JSON.parse(attributes) as Json<Attributes>;
  const explicitName = explicitValues?.split(",")[0];
  return {
    ...row,
    // A wallet is listed by its username, which is a member of this attribute.
    delegate: present(delegate, `the delegate of ${row.address}`),
    ...(vote !== undefined && { vote }),
    ...(secondPublicKey !== undefined && { secondPublicKey }),
    ...(explicitName && { explicitName }),
  };
}

/** A lock or an entity of a wallet that has sent transactions; `value` is JSON. */
export type HeldRow = {
  readonly address: string;
  readonly publicKey: string;
  readonly id: string;
  readonly value: string;
};

export const lockFromRow = ({ id, publicKey, value }: HeldRow): StoredLock => ({
  ...(JSON.parse(value) as Json<Lock>),
  id,
  senderPublicKey: publicKey,
});

export const entityFromRow = ({ id, address, publicKey, value }: HeldRow): StoredEntity => ({
  ...(JSON.parse(value) as Json<Entity>),
  id,
  address,
  publicKey,
});

/** Returns the delegates of a round from its record. */
export const delegatesOfRound = (record: string): readonly RoundDelegate[] =>
  (JSON.parse(record) as Pick<Json<Round>, "delegates">).delegates;
