/** Entities, which are stored in the wallets that registered them. */
import { prepared } from "../../postgres/reads.ts";
import { entitiesOf, type OwnerRow } from "../attributes.ts";
import { perSnapshot } from "../head.ts";
import type { Entities } from "../port.ts";
import type { SnapshotReads } from "./lists/reads.ts";

// The entry of a name contains the id of its registration, whose sender is the wallet.
const OWNERS = prepared(
  `SELECT address, public_key AS "publicKey", attributes FROM wallets WHERE public_key IN (
     SELECT sender FROM transactions WHERE id IN (
       SELECT convert_from(value, 'UTF8') FROM entries WHERE space = 'entities'))
   ORDER BY public_key`,
);

export function createEntities(): (reads: SnapshotReads) => Entities {
  const all = perSnapshot(async ({ query }: SnapshotReads) =>
    (await query<OwnerRow>(OWNERS)).flatMap(entitiesOf),
  );
  return (reads) => ({ all: () => all(reads) });
}
