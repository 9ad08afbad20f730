/** Reads the data, in addition to the block, from which past facts are derived (`event-log/past-facts.ts`). */
import type { Round } from "@uniknode/ledger";
import type { BlockHeader } from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { createRoundStore } from "../state/packed-round.ts";
import { createBlockStore } from "./blocks.ts";
import { createOwnerStore, type OwnerStore } from "./token-owners.ts";

/** Reads of one state, for blocks on its chain. */
export type FactLookups = OwnerStore & {
  header(height: number): BlockHeader | undefined;
  round(number: number): Round | undefined;
  /** Returns the public keys that forged blocks from one height to another, both included. */
  generators(from: number, to: number): ReadonlySet<string>;
};

export function createFactLookups(database: Database): FactLookups {
  const blocks = createBlockStore(database);
  const rounds = createRoundStore(database);
  const generators = database.prepare<{ generator: string }>(
    `SELECT lower(hex(public_key)) AS generator FROM generators
     WHERE number IN (SELECT generator FROM blocks WHERE height BETWEEN ? AND ?)`,
  );
  return {
    ...createOwnerStore(database),
    header: (height) => blocks.header(height),
    round: rounds.read,
    generators: (from, to) => new Set(generators.all(from, to).map(({ generator }) => generator)),
  };
}
