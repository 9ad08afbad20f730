/** Shards: groups of webhooks, each of which one worker owns (docs/decisions/0052). */

import type { Kind } from "./sql.ts";

/** Number of shards; the generated column `webhooks.shard` contains it. */
export const SHARDS = 32;

/**
 * Returns an SQL condition for webhooks, which are a column, in the shards of a parameter. The owner of the webhooks in SQLite has
 * all shards.
 */
export const isOwned = (kind: Kind, webhook: string, shards: string): string =>
  kind === "sqlite" ? "true" : `(${webhook} % ${SHARDS})::integer = ANY (${shards})`;

export const shardOf = (webhook: number): number => webhook % SHARDS;

export type OwnedShard = {
  readonly shard: number;
  /** Epoch of this process as the owner of the shard (`nextEpoch`). */
  readonly epoch: number;
};

/** Numbers of shards that a worker should own: with webhooks, and altogether. */
export type Share = { readonly used: number; readonly all: number };

/** Returns the first of the shards that are within a share. Shards with webhooks are shared separately, because a few webhooks are in a few shards. */
export function withinShare<T>(
  shards: readonly T[],
  { used, all }: Share,
  isUsed: (shard: T) => boolean,
): readonly T[] {
  const kept = shards.filter(isUsed).slice(0, used);
  const unused = shards.filter((shard) => !isUsed(shard));
  return [...kept, ...unused.slice(0, Math.max(0, all - kept.length))];
}
