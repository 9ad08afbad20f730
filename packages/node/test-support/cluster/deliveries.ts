/** Deliveries and attempts as the workers have recorded them. */
import type { Query } from "../../src/postgres/connection.ts";

export type RecordedDelivery = {
  readonly id: string;
  readonly sequence: number;
  readonly event: string;
  readonly reverts: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly attempts: readonly RecordedAttempt[];
};

export type RecordedAttempt = {
  /** Start by the clock of the worker, in seconds since 1970. */
  readonly seconds: number;
  readonly isSuccess: boolean;
};

type Row = Omit<RecordedDelivery, "sequence" | "attempts"> & {
  sequence: string;
  started: string[];
  succeeded: boolean[];
};

/** Returns the deliveries of a webhook in the order of their sequences. */
export async function readRecorded(query: Query, webhook: number): Promise<RecordedDelivery[]> {
  const rows = await query<Row>(
    `SELECT id, sequence, event, reverts, state, reason,
       array(SELECT started_ms / 1000 FROM attempts WHERE delivery = deliveries.number ORDER BY number) AS started,
       array(SELECT coalesce(status, 0) BETWEEN 200 AND 299 FROM attempts WHERE delivery = deliveries.number
         ORDER BY number) AS succeeded
     FROM deliveries WHERE webhook = $1 ORDER BY sequence`,
    [webhook],
  );
  return rows.map(({ sequence, started, succeeded, ...row }) => ({
    ...row,
    sequence: Number(sequence),
    attempts: started.map((text, index) => ({ seconds: Number(text), isSuccess: succeeded[index] === true })),
  }));
}
