/** Delegates, including resigned ones: the few wallets that have the attribute. */
import { prepared } from "../../postgres/reads.ts";
import { type DelegateRow, delegateFromRow } from "../attributes.ts";
import { perSnapshot } from "../head.ts";
import type { Delegates } from "../port.ts";
import { textOrNull } from "./bytes.ts";
import type { SnapshotReads } from "./lists/reads.ts";

const ALL = prepared(
  `SELECT address, public_key AS "publicKey", balance, attributes, names.value AS "explicitValues"
   FROM wallets LEFT JOIN properties AS names ON names.token = username AND names.key = 'explicitValues'::bytea
   WHERE username IS NOT NULL ORDER BY username, address`,
);

type Row = Omit<DelegateRow, "explicitValues"> & { readonly explicitValues: Uint8Array | null };

export function createDelegates(): (reads: SnapshotReads) => Delegates {
  const all = perSnapshot(async ({ query }: SnapshotReads) =>
    (await query<Row>(ALL)).map((row) =>
      delegateFromRow({ ...row, explicitValues: textOrNull(row.explicitValues) }),
    ),
  );
  return (reads) => ({ all: () => all(reads) });
}
