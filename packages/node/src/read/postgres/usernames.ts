/**
 * Usernames of the generators of blocks, cached by head: few delegates forge, and a join with their wallets would
 * double the planning time.
 */
import { prepared } from "../../postgres/reads.ts";
import { perHead } from "../head.ts";
import type { SnapshotReads } from "./pages/reads.ts";

/** Returns the usernames of public keys; null for a wallet that is not a delegate, or does not exist. */
export type Usernames = (
  reads: SnapshotReads,
  publicKeys: readonly string[],
) => Promise<ReadonlyMap<string, string | null>>;

const USERNAMES = prepared(
  `SELECT public_key AS "publicKey", username FROM wallets WHERE public_key = ANY ($1::text[]) AND username IS NOT NULL`,
);
type Named = { readonly publicKey: string; readonly username: string };

export function createUsernames(): Usernames {
  /** At most one entry for each delegate that has ever forged. */
  const knownAt = perHead(() => new Map<string, string | null>());
  return async (reads, publicKeys) => {
    const known = knownAt(reads.head);
    const missing = [...new Set(publicKeys)].filter((key) => !known.has(key));
    if (missing.length === 0) return known;
    const found = await reads.query<Named>(USERNAMES, [missing]);
    for (const key of missing) known.set(key, null);
    for (const { publicKey, username } of found) known.set(publicKey, username);
    return known;
  };
}
