/** Delegates, including resigned ones: the few wallets that have the attribute. */
import type { Database } from "../../store/engine/database.ts";
import { type DelegateRow, delegateFromRow } from "../attributes.ts";
import { type Head, perHead } from "../head.ts";
import type { StoredDelegate } from "../rows.ts";

export type DelegateQueries = { all(head: Head): readonly StoredDelegate[] };

export function createDelegateQueries(database: Database): DelegateQueries {
  const all = database.prepare<DelegateRow>(
    `SELECT address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, attributes,
       names.value AS explicitValues
     FROM wallets LEFT JOIN properties AS names ON names.token = username AND names.key = 'explicitValues'
     WHERE username IS NOT NULL ORDER BY username, address`,
  );
  return { all: perHead(() => all.all().map(delegateFromRow)) };
}
