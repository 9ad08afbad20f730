/** Entities, which are stored in the wallets that registered them. */
import type { Database } from "../../store/engine/database.ts";
import { entitiesOf, type OwnerRow } from "../attributes.ts";
import { type Head, perHead } from "../head.ts";
import type { StoredEntity } from "../rows.ts";

/** Includes resigned ones. */
export type EntityQueries = { all(head: Head): readonly StoredEntity[] };

export function createEntityQueries(database: Database): EntityQueries {
  // The entry of a name contains the id of its registration, whose sender is the wallet.
  const owners = database.prepare<OwnerRow>(
    `SELECT address, public_key AS publicKey, attributes FROM wallets WHERE public_key IN (
       SELECT sender FROM transactions WHERE id IN (SELECT value FROM entries WHERE space = 'entities'))
     ORDER BY public_key`,
  );
  return { all: perHead(() => owners.all().flatMap(entitiesOf)) };
}
