/** Open hash-time locks, which are stored in the wallets of their senders. */
import { prepared } from "../../postgres/reads.ts";
import { locksOf, type OwnerRow } from "../attributes.ts";
import { perSnapshot } from "../head.ts";
import type { Locks } from "../port.ts";
import { bytesOf } from "./bytes.ts";
import { isStorable } from "./lists/conditions.ts";
import type { SnapshotReads } from "./lists/reads.ts";

const OWNERS = `SELECT public_key AS "publicKey", attributes FROM wallets WHERE address`;
const SENDERS = "SELECT convert_from(value, 'UTF8') FROM entries WHERE space = 'locks'";
const ALL = prepared(`${OWNERS} IN (${SENDERS}) ORDER BY address`);
const BY_ID = prepared(`${OWNERS} = (${SENDERS} AND key = $1)`);
const BY_ADDRESS = prepared(`${OWNERS} = $1`);

type SenderRow = Omit<OwnerRow, "address">;

export function createLocks(): (reads: SnapshotReads) => Locks {
  const all = perSnapshot(async ({ query }: SnapshotReads) => (await query<SenderRow>(ALL)).flatMap(locksOf));
  return (reads) => ({
    all: () => all(reads),
    async find(id) {
      const rows = await reads.query<SenderRow>(BY_ID, [bytesOf(id)]);
      return rows.flatMap(locksOf).find((lock) => lock.id === id);
    },
    async of(address) {
      if (!isStorable(address)) return [];
      return (await reads.query<SenderRow>(BY_ADDRESS, [address])).flatMap(locksOf);
    },
  });
}
