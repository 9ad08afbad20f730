/** Tokens for the tests of the ledger. */
import { type Draft, propertyKey, walletOf } from "@uniknode/ledger";
import { bytesToHex, type NftAsset, sha256, utf8ToBytes } from "@uniknode/protocol";
import { network, publicKeyOf, walletNamed } from "./fixtures.ts";
import { putWallet, shownAttributes } from "./holdings.ts";

/** Id of the token that a test calls `name`. */
export const tokenId = (name: string): string => bytesToHex(sha256(utf8ToBytes(`token ${name}`)));

/** Gives a unik to an actor: last in its map, with these properties in the store. */
export function giveUnik(
  draft: Draft,
  owner: string,
  name: string,
  properties: Readonly<Record<string, string>> = { type: "1" },
): void {
  const id = tokenId(name);
  const wallet = walletOf(draft, publicKeyOf(owner), network);
  const attributes = shownAttributes(draft, wallet);
  const tokens = { ...attributes.tokens, [id]: { type: Number(properties.type) } };
  putWallet(draft, { ...wallet, attributes: { ...attributes, tokens } });
  draft.set("tokens", id, { id, ownerId: wallet.address, firstTransaction: "mint", lastTransaction: "mint" });
  for (const [key, value] of Object.entries(properties)) draft.set("properties", propertyKey(id, key), value);
}

/** Asset of a unik. */
export const unik = (name: string, properties?: Record<string, string | null>): NftAsset => ({
  unik: { tokenId: tokenId(name), ...(properties && { properties }) },
});

export const propertiesOf = (draft: Draft, name: string): Record<string, string> =>
  Object.fromEntries(draft.properties(tokenId(name)));

export const propertyOf = (draft: Draft, name: string, key: string): string | undefined =>
  draft.get("properties", propertyKey(tokenId(name), key));

/** Ids in the map of an actor, in order of acquisition. */
export const held = (draft: Draft, owner: string): string[] =>
  Object.keys(walletNamed(draft, owner).attributes.tokens ?? {});
