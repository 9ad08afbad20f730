/** A wallet that no network has, with many uniks, locks or entities, which no transaction made. */

import type { Database } from "../../src/store/engine/database.ts";
import { countState } from "../../src/store/state/totals.ts";

type Kind = "entities" | "locks" | "tokens";

export type InventedHolder = {
  readonly address: string;
  readonly publicKey: string;
  /** Numbers of what it holds. */
  readonly holds: Readonly<Partial<Record<Kind, number>>>;
};

/** Returns the id of one of the holdings, which are numbered from 0. */
export const inventedHolding = (number: number): string => number.toString(16).padStart(64, "0");

/** Inserts a wallet and what it holds. */
export function inventHolder(database: Database, { address, publicKey, holds }: InventedHolder): void {
  const { tokens = 0, locks = 0, entities = 0 } = holds;
  const attributes = {
    ...(tokens > 0 && { tokens: collectionOf(tokens) }),
    ...(locks > 0 && { htlc: { locks: collectionOf(locks), lockedBalance: `${locks}` } }),
    ...(entities > 0 && { entities: collectionOf(entities) }),
  };
  const values: Readonly<Record<Kind, unknown>> = {
    tokens: { type: 1 },
    locks: {
      ...{ amount: "1", recipientId: address, timestamp: 100, secretHash: inventedHolding(1) },
      expiration: { type: 1, value: 1_000_000_000 },
    },
    entities: { type: 1, subType: 0, data: { name: "name" } },
  };
  const wallet = database.prepare("INSERT INTO wallets VALUES (?, ?, 0, 0, NULL, NULL, NULL, ?)");
  const holding = database.prepare("INSERT INTO holdings VALUES (?, ?, ?, ?, ?, ?)");
  const token = database.prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)");
  const entry = database.prepare("INSERT INTO entries VALUES ('locks', ?, ?)");
  database.transaction(() => {
    wallet.run(address, publicKey, JSON.stringify(attributes));
    for (const [kind, count] of Object.entries(holds) as [Kind, number][]) {
      const value = JSON.stringify(values[kind]);
      for (let number = 0; number < count; number++) {
        const id = inventedHolding(number);
        const previous = number === 0 ? null : inventedHolding(number - 1);
        const next = number === count - 1 ? null : inventedHolding(number + 1);
        holding.run(address, kind, id, previous, next, value);
        if (kind === "tokens") token.run(id, address, id, id);
        if (kind === "locks") entry.run(id, address);
      }
    }
  }, "process death");
  countState(database);
}

const collectionOf = (size: number) => ({ size, first: inventedHolding(0), last: inventedHolding(size - 1) });
