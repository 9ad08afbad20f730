/** Rows of the read model that follow from the attributes of wallets. Every implementation stores attributes as JSON text. */
import type { Attributes, Round } from "@uniknode/ledger";
import type { Json } from "../platform/json/decimal.ts";
import { present } from "../platform/present.ts";
import {
  type RoundDelegate,
  SHOWN_ATTRIBUTES,
  type StoredDelegate,
  type StoredEntity,
  type StoredLock,
  type StoredWallet,
} from "./rows.ts";

/** Some wallets own thousands of tokens: attributes without any of these names are not parsed. */
const NAMES_SEEN = new RegExp(`"(${SHOWN_ATTRIBUTES.join("|")})"`);
const NONE_SEEN: StoredWallet["attributes"] = {};

export type WalletRow = {
  readonly address: string;
  readonly publicKey: string | null;
  readonly balance: string;
  readonly nonce: string;
  readonly attributes: string;
};

export function walletFromRow({
  address,
  publicKey,
  balance,
  nonce,
  attributes: text,
}: WalletRow): StoredWallet {
  const attributes = NAMES_SEEN.test(text) ? JSON.parse(text) : NONE_SEEN;
  const wallet = { address, balance, nonce, attributes, attributesText: text };
  return publicKey === null ? wallet : { ...wallet, publicKey };
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

/** A wallet that has sent transactions. */
export type OwnerRow = { readonly address: string; readonly publicKey: string; readonly attributes: string };

/** Returns the open locks of a wallet. */
export function locksOf({ publicKey, attributes }: Omit<OwnerRow, "address">): StoredLock[] {
  const { htlc } = JSON.parse(attributes) as Json<Attributes>;
  return Object.entries(htlc?.locks ?? {}).map(([id, lock]) => ({ ...lock, id, senderPublicKey: publicKey }));
}

/** Returns the entities of a wallet. */
export function entitiesOf({ address, publicKey, attributes }: OwnerRow): StoredEntity[] {
  const { entities = {} } = JSON.parse(attributes) as Json<Attributes>;
  return Object.entries(entities).map(([id, entity]) => ({ ...entity, id, address, publicKey }));
}

/** Returns the delegates of a round from its record. */
export const delegatesOfRound = (record: string): readonly RoundDelegate[] =>
  (JSON.parse(record) as Pick<Json<Round>, "delegates">).delegates;
