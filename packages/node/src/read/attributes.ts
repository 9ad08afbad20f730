/** Rows of the read model that follow from the attributes of wallets. Every implementation stores attributes as JSON text. */
import type { Attributes, Entity, Lock, Round } from "@uniknode/ledger";
import type { Json } from "../platform/json/lossless.ts";
import { present } from "../platform/present.ts";
import type { RoundDelegate, StoredDelegate, StoredEntity, StoredLock, StoredWallet } from "./rows.ts";

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
