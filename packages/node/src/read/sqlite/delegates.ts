/** Delegates: the few wallets that have the attribute, resigned ones included. */

import type { Attributes } from "@uniknode/ledger";
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import type { Json } from "../../store/state/json.ts";
import { type Head, perHead } from "../head.ts";
import type { StoredDelegate } from "../rows.ts";

export type DelegateQueries = { all(head: Head): readonly StoredDelegate[] };

type DelegateRow = {
  address: string;
  publicKey: string;
  balance: string;
  attributes: string;
  explicitValues: string | null;
};

export function createDelegateQueries(database: Database): DelegateQueries {
  const all = database.prepare<DelegateRow>(
    `SELECT address, public_key AS publicKey, CAST(balance AS TEXT) AS balance, attributes,
       names.value AS explicitValues
     FROM wallets LEFT JOIN properties AS names ON names.token = username AND names.key = 'explicitValues'
     WHERE username IS NOT NULL`,
  );
  return { all: perHead(() => all.all().map(delegateFromRow)) };
}

function delegateFromRow({ attributes, explicitValues, ...row }: DelegateRow): StoredDelegate {
  const { delegate, vote, secondPublicKey } = JSON.parse(attributes) as Json<Attributes>;
  const explicitName = explicitValues?.split(",")[0];
  return {
    ...row,
    // A wallet is listed by its username, which is a member of this attribute.
    delegate: present(delegate, `the delegate of ${row.address}`),
    ...(vote !== undefined && { vote }),
    ...(secondPublicKey !== undefined && { secondPublicKey }),
    ...(explicitName && { explicitName }),
  };
}
