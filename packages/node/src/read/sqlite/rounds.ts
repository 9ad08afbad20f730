/** Rounds, as they were at their start. */
import type { Database } from "../../store/engine/database.ts";
import { delegatesOfRound } from "../attributes.ts";
import type { RoundDelegate } from "../rows.ts";

export type RoundQueries = {
  /** Returns the delegates of a round by rank, with their vote balance at its start as decimal text. */
  delegates(round: number): readonly RoundDelegate[] | undefined;
};

export function createRoundQueries(database: Database): RoundQueries {
  const select = database.prepare<{ record: string }>("SELECT record FROM rounds WHERE round = ?");
  return {
    delegates(round) {
      const row = select.get(round);
      return row && delegatesOfRound(row.record);
    },
  };
}
