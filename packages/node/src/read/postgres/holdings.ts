/** Reads of wallets with what they hold (state.md 2.4), and of all open locks and entities. */
import { type HoldingRow, hasCollections, shownText } from "@uniknode/ledger";
import { prepared } from "../../postgres/reads.ts";
import { entityFromRow, type HeldRow, lockFromRow, type WalletRow, walletFromRow } from "../attributes.ts";
import { perSnapshot } from "../head.ts";
import type { Entities, Locks } from "../port.ts";
import type { StoredWallet } from "../rows.ts";
import { isStorable } from "./lists/conditions.ts";
import type { SnapshotReads } from "./lists/reads.ts";

/** Locks or entities, with their wallets. */
const HELD = `SELECT address, public_key AS "publicKey", id, value
  FROM holdings JOIN wallets USING (address)`;

const OF_WALLETS = prepared("SELECT address, kind, id, next, value FROM holdings WHERE address = ANY ($1)");

type Row = HoldingRow & { readonly address: string };

/** Returns the wallets of rows. Wallets with holdings cost one more query. */
export async function toWallets(
  { query }: SnapshotReads,
  rows: readonly WalletRow[],
): Promise<StoredWallet[]> {
  const holders = rows.filter(({ attributes }) => hasCollections(attributes)).map(({ address }) => address);
  const held = holders.length > 0 ? await query<Row>(OF_WALLETS, [holders]) : [];
  const byAddress = Map.groupBy(held, ({ address }) => address);
  return rows.map((row) =>
    hasCollections(row.attributes)
      ? walletFromRow(row, shownText(row.attributes, byAddress.get(row.address) ?? []))
      : walletFromRow(row),
  );
}

const LOCKS = prepared(`${HELD} WHERE kind = 'locks'`);
const LOCK_BY_ID = prepared(`${HELD} WHERE kind = 'locks' AND id = $1`);
const LOCKS_OF_WALLET = prepared(`${HELD} WHERE address = $1 AND kind = 'locks'`);

export function createLocks(): (reads: SnapshotReads) => Locks {
  const all = perSnapshot(async ({ query }: SnapshotReads) => (await query<HeldRow>(LOCKS)).map(lockFromRow));
  return (reads) => ({
    all: () => all(reads),
    async find(id) {
      if (!isStorable(id)) return undefined;
      const [row] = await reads.query<HeldRow>(LOCK_BY_ID, [id]);
      return row && lockFromRow(row);
    },
    async of(address) {
      if (!isStorable(address)) return [];
      return (await reads.query<HeldRow>(LOCKS_OF_WALLET, [address])).map(lockFromRow);
    },
  });
}

/** Entities include resigned ones. */
const ENTITIES = prepared(`${HELD} WHERE kind = 'entities'`);
const ENTITY_BY_ID = prepared(`${HELD} WHERE kind = 'entities' AND id = $1`);

export function createEntities(): (reads: SnapshotReads) => Entities {
  const all = perSnapshot(async ({ query }: SnapshotReads) =>
    (await query<HeldRow>(ENTITIES)).map(entityFromRow),
  );
  return (reads) => ({
    all: () => all(reads),
    async find(id) {
      if (!isStorable(id)) return undefined;
      const [row] = await reads.query<HeldRow>(ENTITY_BY_ID, [id]);
      return row && entityFromRow(row);
    },
  });
}
