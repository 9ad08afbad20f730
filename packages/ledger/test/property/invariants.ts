/** Invariants after every block, expressed in other terms than the rules themselves. */

import assert from "node:assert/strict";
import {
  collapseAttributes,
  holdingKey,
  type MemoryState,
  type ShownAttributes,
  type StateReader,
  TABLE_NAMES,
  walletOf,
} from "@uniknode/ledger";
import { type Milestone, present, type Transaction } from "@uniknode/protocol";
import { shownAttributes } from "../../test-support/holdings.ts";
import { addressOfActor, GENESIS, network } from "./world.ts";

/** Any value as text, down to the order of members. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? `${member}n` : member));

/** Every record of a state as text: equal states give equal texts. */
export const imageOf = (state: MemoryState): string =>
  textOf(TABLE_NAMES.map((table) => [table, state.entries(table).sort(([a], [b]) => (a < b ? -1 : 1))]));

/** Tokens that a transaction creates (state.md 4.1); `before` is the state before it. */
export function createdBy(
  { typeGroup, type, asset, senderPublicKey }: Transaction,
  before: StateReader,
  { unsTokenEcoV2, voucherRewards }: Milestone,
): bigint {
  if (typeGroup !== 2001 || (type !== 3 && type !== 4)) return 0n;
  const { individual, organization, network: ofNetwork } = present(voucherRewards, "voucherRewards");
  const sumOf = ({ forger, sender, foundation }: typeof individual) => BigInt(forger + sender + foundation);
  const { tokenId, properties = {} } = present(asset?.nft?.unik, "unik");
  if (type === 3) {
    if (!properties.UnikVoucherId) return 0n;
    if (properties.type === "1") return unsTokenEcoV2 ? 0n : sumOf(individual);
    return sumOf(properties.type === "2" ? organization : ofNetwork);
  }
  const { tokens } = shownAttributes(before, walletOf(before, senderPublicKey, network));
  const isRewarded = unsTokenEcoV2 && properties["LifeCycle/Status"] === "3" && tokens?.[tokenId]?.type === 1;
  return isRewarded ? sumOf(individual) : 0n;
}

/**
 * state.md 4.2, where the locked tokens belong to the supply; only the genesis sender has a negative balance.
 */
export function checkSupply(state: MemoryState, premine: bigint, created: bigint): void {
  let total = 0n;
  for (const [address, wallet] of state.entries("wallets")) {
    const { balance } = wallet;
    const attributes = shownAttributes(state, wallet);
    const locked = attributes.htlc?.lockedBalance ?? 0n;
    total += balance + locked;
    const sum = Object.values(attributes.htlc?.locks ?? {}).reduce((all, { amount }) => all + amount, 0n);
    assert.equal(sum, locked, `the locked balance of ${address}`);
    if (address === addressOfActor(GENESIS)) assert.equal(balance, -premine);
    else assert.ok(balance >= 0n, `${address} has the balance ${balance}`);
  }
  assert.equal(total, created, "the supply beyond the premine");
}

/** Checks that redundant records agree: holdings of wallets, the token store, and the indexes. */
export function checkIndexes(state: MemoryState): void {
  const wallets = state
    .entries("wallets")
    .map(([address, wallet]) => [address, { attributes: shownAttributes(state, wallet) }] as const);
  checkHoldings(state);
  const inMaps = wallets.flatMap(([address, { attributes }]) =>
    Object.keys(attributes.tokens ?? {}).map((id) => [id, address]),
  );
  assert.deepEqual(
    Object.fromEntries(inMaps),
    Object.fromEntries(state.entries("tokens").map(([id, { ownerId }]) => [id, ownerId])),
  );
  const index = (table: "usernames" | "locks" | "ipfs", names: (attributes: ShownAttributes) => string[]) =>
    assert.deepEqual(
      Object.fromEntries(state.entries(table)),
      Object.fromEntries(
        wallets.flatMap(([address, { attributes }]) => names(attributes).map((name) => [name, address])),
      ),
      table,
    );
  index("usernames", ({ delegate }) => [delegate?.username ?? []].flat());
  index("locks", ({ htlc }) => Object.keys(htlc?.locks ?? {}));
  index("ipfs", ({ ipfs }) => Object.keys(ipfs?.hashes ?? {}));
  const entities = wallets.flatMap(([, { attributes }]) => Object.keys(attributes.entities ?? {}));
  assert.deepEqual(new Set(state.entries("entities").map(([, id]) => id)), new Set(entities), "entities");
}

/** Checks that the collections of attributes and the records are those of the maps that they represent. */
function checkHoldings(state: MemoryState): void {
  const expected = new Map<string, unknown>();
  for (const [address, wallet] of state.entries("wallets")) {
    const { attributes, holdings } = collapseAttributes(shownAttributes(state, wallet));
    assert.deepEqual(wallet.attributes, attributes, `the attributes of ${address}`);
    for (const { kind, id, holding } of holdings) expected.set(holdingKey(address, kind, id), holding);
  }
  assert.deepEqual(Object.fromEntries(state.entries("holdings")), Object.fromEntries(expected), "holdings");
}
