/** Open hash-time locks, which are stored in the wallets of their senders. */
import type { Database } from "../../store/engine/database.ts";
import { locksOf, type OwnerRow } from "../attributes.ts";
import { type Head, perHead } from "../head.ts";
import type { StoredLock } from "../rows.ts";

export type LockQueries = {
  all(head: Head): readonly StoredLock[];
  find(id: string): StoredLock | undefined;
  /** Returns the open locks of one sender. */
  of(address: string): StoredLock[];
};

type SenderRow = Omit<OwnerRow, "address">;

const OWNERS = "SELECT public_key AS publicKey, attributes FROM wallets WHERE address";

export function createLockQueries(database: Database): LockQueries {
  const owners = database.prepare<SenderRow>(
    `${OWNERS} IN (SELECT value FROM entries WHERE space = 'locks') ORDER BY address`,
  );
  const ownerOf = database.prepare<SenderRow>(
    `${OWNERS} = (SELECT value FROM entries WHERE space = 'locks' AND key = ?)`,
  );
  const owner = database.prepare<SenderRow>(`${OWNERS} = ?`);
  return {
    all: perHead(() => owners.all().flatMap(locksOf)),
    find: (id) =>
      ownerOf
        .all(id)
        .flatMap(locksOf)
        .find((lock) => lock.id === id),
    of: (address) => owner.all(address).flatMap(locksOf),
  };
}
