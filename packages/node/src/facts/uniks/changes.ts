/** Changes of the maps of uniks (facts.md 10), derived from the transactions of the chain. */
import { type TokenEffectContext, tokenEffect } from "@uniknode/ledger";
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { changeLeaves, keyOf } from "./map.ts";
import {
  changeProperties,
  MAP_PAGES,
  ownerKey,
  pagesOf,
  type Rows,
  readOwner,
  readProperty,
  unikDigest,
} from "./rows.ts";

export type ChangeContext = Pick<TokenEffectContext, "addressOf" | "usernameOf">;

export type Changes = {
  /** Number of changed properties, and of transactions. */
  size(): number;
  /**
   * Adds changes of the next transaction.
   *
   * @param first index of its first property to add
   * @param limit number of properties to add
   * @returns index of the first property that is left; undefined if none is
   */
  add(transaction: Transaction, first: number, limit: number): number | undefined;
  /** Writes the changes; returns the number of minted uniks. */
  write(): number;
};

/** Changes of a unik: its new owner, and its new properties, `null` for removed ones. */
type UnikChanges = { owner: string | undefined; readonly properties: Map<string, string | null> };

/** Groups of the types that can change uniks. */
export const UNIK_GROUPS: readonly number[] = [TYPE_GROUPS.nft, TYPE_GROUPS.uns];

export function createChanges(rows: Rows, context: ChangeContext): Changes {
  const uniks = new Map<string, UnikChanges>();
  let size = 0;

  function propertyOf(unik: string, name: string): string | undefined {
    const changed = uniks.get(unik)?.properties.get(name);
    return changed === undefined ? readProperty(rows, unik, name) : (changed ?? undefined);
  }

  return {
    size: () => size,
    add(transaction, first, limit) {
      const effect = tokenEffect(transaction, { ...context, propertyOf });
      if (!effect) return undefined;
      const unik = uniks.get(effect.tokenId) ?? { owner: undefined, properties: new Map() };
      uniks.set(effect.tokenId, unik);
      unik.owner = effect.ownerId ?? unik.owner;
      const given = Object.entries(effect.properties);
      const end = Math.min(first + limit, given.length);
      for (const [name, value] of given.slice(first, end)) unik.properties.set(name, value);
      size += 1 + end - first;
      return end < given.length ? end : undefined;
    },
    write() {
      const changes = [...uniks].map(([unik, changed]) => ({ unik, ...writeUnik(rows, unik, changed) }));
      const leaves = changes.flatMap(({ unik, digest }) =>
        digest === undefined ? [] : [{ key: keyOf(unik), value: digest, text: "" }],
      );
      if (leaves.length > 0) changeLeaves(pagesOf(rows, MAP_PAGES), leaves);
      return changes.filter(({ isMinted }) => isMinted).length;
    },
  };
}

/** Writes the owner and the properties of a unik; returns the digest of its value if it exists. */
function writeUnik(
  rows: Rows,
  unik: string,
  { owner, properties }: UnikChanges,
): { isMinted: boolean; digest: string | undefined } {
  const before = readOwner(rows, unik);
  if (owner !== undefined && owner !== before) rows.change(ownerKey(unik), Buffer.from(owner));
  const root = changeProperties(rows, unik, properties);
  const now = owner ?? before;
  return {
    isMinted: now !== undefined && before === undefined,
    digest: now === undefined ? undefined : unikDigest(now, root),
  };
}
