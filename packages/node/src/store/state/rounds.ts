/** Stores the rounds of the ledger as rows. */
import type { Round } from "@uniknode/ledger";
import type { Database } from "../engine/database.ts";
import { createGenerators } from "./generators.ts";
import { packRound, type RoundRow, unpackRound } from "./packed-round.ts";

export type RoundStore = {
  read(round: number): Round | undefined;
  write(round: Round): void;
  remove(round: number): void;
  /** Discards the cache. Must be called if a transaction around `write` fails. */
  reset(): void;
};

export function createRoundStore(database: Database): RoundStore {
  const generators = createGenerators(database);
  const select = database.prepare<RoundRow>("SELECT round, height, delegates FROM rounds WHERE round = ?");
  const upsert = database.prepare("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM rounds WHERE round = ?");
  return {
    read(round) {
      const row = select.get(round);
      return row && unpackRound(row, generators);
    },
    write(record) {
      const { round, height, delegates } = packRound(record, generators);
      upsert.run(round, height, delegates);
    },
    remove: (round) => void remove.run(round),
    reset: generators.reset,
  };
}
