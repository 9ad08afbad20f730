/** Rounds, as they were at their start. */
import { prepared } from "../../postgres/reads.ts";
import { delegatesOfRound } from "../attributes.ts";
import type { Rounds } from "../port.ts";
import { first, type SnapshotReads } from "./lists/reads.ts";

const RECORD = prepared("SELECT record FROM rounds WHERE round = $1");

export const createRounds = ({ query }: SnapshotReads): Rounds => ({
  async delegates(round) {
    if (!Number.isSafeInteger(round)) return undefined;
    const row = await first(query<{ record: string }>(RECORD, [round]));
    return row && delegatesOfRound(row.record);
  },
});
