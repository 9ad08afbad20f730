/**
 * Checks that only calls in progress are repeated. A call without a recorded attempt is one that was in progress when its worker
 * lost the webhook.
 */
import { present } from "../../../src/platform/present.ts";
import type { Query } from "../../../src/postgres/connection.ts";
import type { ReceivedCall } from "../actors/receiver.ts";

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

export type Duplicates = {
  /** Calls beyond the first of each delivery. */
  readonly repeated: number;
  /** Descriptions of calls that must not have been repeated. */
  readonly faults: readonly string[];
};

/** Calls of a parallel webhook at a time: first attempts, a retry and a replay. */
const PARALLEL_CALLS = 10;

/** @param calls of one webhook, in the order of their arrival */
export function findDuplicates(
  calls: readonly ReceivedCall[],
  recorded: readonly RecordedDelivery[],
  { isStrict }: { readonly isStrict: boolean },
): Duplicates {
  const attempts = new Map(recorded.map(({ id, attempts }) => [id, [...attempts]]));
  /** Epoch of the recorded success, by id. */
  const succeeded = new Map<string, number>();
  /** Ids of calls without a recorded attempt, by epoch. */
  const unrecorded = new Map<number, string[]>();
  const faults: string[] = [];
  for (const call of calls) {
    const { id } = call.message;
    const epoch = present(call.epoch, "the epoch of a call");
    const success = succeeded.get(id);
    if (success !== undefined && epoch >= success)
      faults.push(`${id} arrived again after its success was recorded (epochs ${success}, ${epoch})`);
    const attempt = takeAttempt(attempts.get(id) ?? [], call);
    if (attempt?.isSuccess) succeeded.set(id, epoch);
    if (attempt) continue;
    unrecorded.set(epoch, [...(unrecorded.get(epoch) ?? []), id]);
  }
  const limit = isStrict ? 1 : PARALLEL_CALLS;
  for (const [epoch, ids] of unrecorded)
    if (ids.length > limit)
      faults.push(
        `${ids.length} calls of epoch ${epoch} have no recorded attempt: ${ids.slice(0, 3).join(", ")}`,
      );
  const distinct = new Set(calls.map(({ message }) => message.id));
  return { repeated: calls.length - distinct.size, faults };
}

/** Takes the attempt of a call, by its start: a success first, if the receiver has responded with 2xx. */
function takeAttempt(
  attempts: RecordedAttempt[],
  { sentSeconds, isAccepted }: ReceivedCall,
): RecordedAttempt | undefined {
  const isOf = ({ seconds }: RecordedAttempt) => seconds === sentSeconds;
  const best = attempts.findIndex((attempt) => isOf(attempt) && attempt.isSuccess === isAccepted);
  const index = best === -1 ? attempts.findIndex(isOf) : best;
  return index === -1 ? undefined : present(attempts.splice(index, 1)[0]);
}
