/** The states of vector files as ledger states, and back. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import {
  collapseAttributes,
  createDraft,
  createMemoryState,
  type Draft,
  entityKey,
  expandAttributes,
  type HoldingKind,
  holdingKey,
  type MemoryState,
  propertyKey,
  type ShownAttributes,
  type StateReader,
  TABLE_NAMES,
  type Wallet,
} from "@uniknode/ledger";
import { present } from "../../packages/node/src/platform/present.ts";

/** A record with its amounts as decimal text. */
export type Json = { [member: string]: JsonValue };
export type JsonValue = Json | JsonValue[] | string | number | boolean | null;

export type WalletJson = {
  address: string;
  publicKey?: string;
  balance: string;
  nonce: string;
  // biome-ignore lint/suspicious/noExplicitAny: attributes are compared, not read
  attributes: any;
};
export type NftJson = { ownerId: string; properties: Record<string, string> };

/** Amounts become decimal text; the order of members stays. */
export const toJson = (value: unknown): JsonValue =>
  JSON.parse(JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? `${member}` : member)));

export function memoryOf(
  wallets: readonly WalletJson[],
  nfts: Readonly<Record<string, NftJson>>,
): { state: MemoryState; draft: Draft } {
  const state = createMemoryState();
  const draft = createDraft(state);
  for (const wallet of wallets) loadWallet(draft, wallet);
  for (const [id, nft] of Object.entries(nfts)) loadToken(draft, id, nft);
  return { state, draft };
}

function loadWallet(draft: Draft, { address, publicKey, balance, nonce, attributes }: WalletJson): void {
  const shown = attributesFromJson(attributes);
  const { attributes: collapsed, holdings } = collapseAttributes(shown);
  const wallet: Wallet = {
    address,
    ...(publicKey !== undefined && { publicKey }),
    balance: BigInt(balance),
    nonce: BigInt(nonce),
    attributes: collapsed,
  };
  draft.set("wallets", address, wallet);
  for (const { kind, id, holding } of holdings) draft.set("holdings", holdingKey(address, kind, id), holding);
  const { delegate, htlc, ipfs, entities } = shown;
  if (delegate) draft.set("usernames", delegate.username, address);
  for (const id of Object.keys(htlc?.locks ?? {})) draft.set("locks", id, address);
  for (const hash of Object.keys(ipfs?.hashes ?? {})) draft.set("ipfs", hash, address);
  for (const [id, { type, data }] of Object.entries(entities ?? {})) {
    if (data.name !== undefined) draft.set("entities", entityKey(type, data.name), id);
  }
}

/** The wallet with what it holds, in the form of the vectors. */
export function walletToJson(state: StateReader, wallet: Wallet): WalletJson {
  const find = (kind: HoldingKind, id: string) => state.get("holdings", holdingKey(wallet.address, kind, id));
  return toJson({ ...wallet, attributes: expandAttributes(wallet.attributes, find) }) as WalletJson;
}

function loadToken(draft: Draft, id: string, { ownerId, properties }: NftJson): void {
  draft.set("tokens", id, { id, ownerId, firstTransaction: "", lastTransaction: "" });
  for (const [key, value] of Object.entries(properties)) draft.set("properties", propertyKey(id, key), value);
}

function attributesFromJson(json: WalletJson["attributes"]): ShownAttributes {
  const amounts = new Set(["voteBalance", "weightedVoteBalance", "forgedFees", "forgedRewards"]);
  const revive = (key: string, value: unknown) =>
    amounts.has(key) || key === "lockedBalance" || (key === "amount" && typeof value === "string")
      ? BigInt(value as string)
      : value;
  return JSON.parse(JSON.stringify(json), revive);
}

/** A wallet without balance, transactions and attributes is none (state.md 2.2). */
export const isEmpty = ({ balance, nonce, attributes }: WalletJson): boolean =>
  balance === "0" && nonce === "0" && Object.keys(attributes).length === 0;

/**
 * The order of tokens counts; a public key counts once its wallet has sent something. These recordings leave out that
 * a wallet once had locks, which attributes in the HTTP API show: here, an empty attribute counts as absent.
 */
export function compareWallet(
  actual: WalletJson | undefined,
  expected: WalletJson | undefined,
  address: string,
): void {
  if (!expected || !actual) {
    assert.ok(isEmpty(present(expected ?? actual)), `wallet ${address} on one side only`);
    return;
  }
  const comparable = ({ publicKey, ...wallet }: WalletJson) => ({
    ...wallet,
    attributes: withoutClosedLocks(wallet.attributes),
    tokens: Object.keys(wallet.attributes.tokens ?? {}),
    publicKey: wallet.nonce === "0" ? undefined : publicKey,
  });
  assert.deepEqual(comparable(actual), comparable(expected));
}

function withoutClosedLocks({ htlc, ...others }: WalletJson["attributes"]): WalletJson["attributes"] {
  const isOpen = htlc && !isDeepStrictEqual(htlc, { locks: {}, lockedBalance: "0" });
  return isOpen ? { ...others, htlc } : others;
}

/** Returns the token in the form of the vectors; `null` if there is none. */
export function nftOf(state: StateReader, id: string): NftJson | null {
  const token = state.get("tokens", id);
  const properties = Object.fromEntries([...state.properties(id)].sort(([a], [b]) => (a < b ? -1 : 1)));
  return token ? { ownerId: token.ownerId, properties } : null;
}

/** Every record of a state as text: equal states give equal texts, down to the order of members. */
export const imageOf = (state: MemoryState): string =>
  JSON.stringify(
    TABLE_NAMES.map((table) => [table, state.entries(table).sort(([a], [b]) => (a < b ? -1 : 1))]),
    (_key, member) => (typeof member === "bigint" ? `${member}n` : member),
  );
