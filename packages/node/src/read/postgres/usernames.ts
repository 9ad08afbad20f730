/**
 * Usernames of the generators of blocks, cached by head: few delegates forge, and a join with their wallets would
 * double the planning time.
 */
import { prepared } from "../../postgres/reads.ts";
import { perHead } from "../head.ts";
import type { SnapshotReads } from "./lists/reads.ts";

/** A block without the username of its generator; null for a generator that is not a delegate, or has no wallet. */
export type Unnamed = { readonly generatorPublicKey: string; username: string | null };

/** Sets the usernames of blocks. */
export type NameGenerators = (reads: SnapshotReads, blocks: readonly Unnamed[]) => Promise<void>;

const USERNAMES = prepared(
  `SELECT public_key AS "publicKey", username FROM wallets WHERE public_key = ANY ($1::text[]) AND username IS NOT NULL`,
);
type Named = { readonly publicKey: string; readonly username: string };

export function createNameGenerators(): NameGenerators {
  /** At most one entry for each delegate that has ever forged. */
  const knownAt = perHead(() => new Map<string, string | null>());
  return async (reads, blocks) => {
    const known = knownAt(reads.head);
    const missing = setKnown(blocks, known);
    if (missing.size === 0) return;
    const found = await reads.query<Named>(USERNAMES, [[...missing]]);
    for (const key of missing) known.set(key, null);
    for (const { publicKey, username } of found) known.set(publicKey, username);
    setKnown(blocks, known);
  };
}

/** Sets known usernames, and returns the public keys of the others. */
function setKnown(
  blocks: readonly Unnamed[],
  known: ReadonlyMap<string, string | null>,
): ReadonlySet<string> {
  const missing = new Set<string>();
  for (const block of blocks) {
    const username = known.get(block.generatorPublicKey);
    if (username === undefined) missing.add(block.generatorPublicKey);
    else block.username = username;
  }
  return missing;
}
