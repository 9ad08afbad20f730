/** Open hash-time locks, which are stored in the wallets of their senders. */
import type { Attributes } from "@uniknode/ledger";
import type { Database } from "../../store/engine/database.ts";
import type { Json } from "../../store/state/json.ts";
import { type Head, perHead } from "../head.ts";
import type { StoredLock } from "../rows.ts";

export type LockQueries = {
  all(head: Head): readonly StoredLock[];
  find(id: string): StoredLock | undefined;
  /** Returns the open locks of one sender. */
  of(address: string): StoredLock[];
};

type OwnerRow = { publicKey: string; attributes: string };

const OWNERS = "SELECT public_key AS publicKey, attributes FROM wallets WHERE address";

export function createLockQueries(database: Database): LockQueries {
  const owners = database.prepare<OwnerRow>(`${OWNERS} IN (SELECT value FROM entries WHERE space = 'locks')`);
  const ownerOf = database.prepare<OwnerRow>(
    `${OWNERS} = (SELECT value FROM entries WHERE space = 'locks' AND key = ?)`,
  );
  const owner = database.prepare<OwnerRow>(`${OWNERS} = ?`);
  return {
    all: perHead(() => owners.all().flatMap(locksOf)),
    find: (id) => locksOf(ownerOf.get(id)).find((lock) => lock.id === id),
    of: (address) => locksOf(owner.get(address)),
  };
}

function locksOf(row: OwnerRow | undefined): StoredLock[] {
  if (!row) return [];
  const { htlc } = JSON.parse(row.attributes) as Json<Attributes>;
  return Object.entries(htlc?.locks ?? {}).map(([id, lock]) => ({
    ...lock,
    id,
    senderPublicKey: row.publicKey,
  }));
}
