/** Values of the map of uniks (facts.md 10), derived from the transactions of the chain. */
import { hash } from "node:crypto";
import { type TokenEffectContext, tokenEffect } from "@uniknode/ledger";
import { canonicalJson, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { keyOf, type Leaf } from "./map.ts";

/** A unik after a block. */
export type UnikValue = {
  /** Address; null before its mint: a disclosure can name a unik that does not exist (trap A8). */
  readonly owner: string | null;
  /** Stored properties, among them `type`. */
  readonly properties: Readonly<Record<string, string>>;
};

export type ValueContext = Pick<TokenEffectContext, "addressOf" | "usernameOf"> & {
  /** Returns the value of a unik before the transactions. */
  readonly valueBefore: (unik: string) => UnikValue | undefined;
};

const UNKNOWN: UnikValue = { owner: null, properties: {} };

/** Returns the values of all uniks that the transactions change, by id. */
export function changedValues(
  transactions: readonly Transaction[],
  { valueBefore, ...context }: ValueContext,
): Map<string, UnikValue> {
  const changed = new Map<string, UnikValue>();
  const current = (unik: string): UnikValue => changed.get(unik) ?? valueBefore(unik) ?? UNKNOWN;
  for (const transaction of transactions) {
    const effect = tokenEffect(transaction, {
      ...context,
      propertyOf: (unik, key) => new Map(Object.entries(current(unik).properties)).get(key),
    });
    if (!effect) continue;
    const { owner, properties } = current(effect.tokenId);
    changed.set(effect.tokenId, {
      owner: effect.ownerId ?? owner,
      properties: withChanges(properties, effect.properties),
    });
  }
  return changed;
}

function withChanges(
  properties: UnikValue["properties"],
  changes: Readonly<Record<string, string | null>>,
): UnikValue["properties"] {
  const all = new Map(Object.entries(properties));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) all.delete(key);
    else all.set(key, value);
  }
  return Object.fromEntries(all);
}

/** Returns the canonical text of a value, which is hashed. */
export const valueText = ({ owner, properties }: UnikValue): string => canonicalJson({ owner, properties });

/** Returns the value of a stored text. */
export const valueFromText = (text: string): UnikValue => JSON.parse(text) as UnikValue;

/** Returns the leaves of the uniks that exist. */
export const leavesOf = (values: ReadonlyMap<string, UnikValue>): Leaf[] =>
  [...values]
    .filter(([, { owner }]) => owner !== null)
    .map(([unik, value]) => ({ key: keyOf(unik), value: hash("sha256", valueText(value), "binary") }));

/** Groups of the types that can change uniks. */
export const UNIK_GROUPS: readonly number[] = [TYPE_GROUPS.nft, TYPE_GROUPS.uns];
