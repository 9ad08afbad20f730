/** Compares what the receivers have with the chain, with the deliveries that a node would create, and with what workers recorded. */

import { present } from "../../../src/platform/present.ts";
import type { Query } from "../../../src/postgres/connection.ts";
import type { Arrival, Receiver } from "../actors/receiver.ts";
import type { Subject } from "../actors/subject.ts";
import type { Case } from "../checks/evidence.ts";
import { judge } from "../checks/verdict.ts";
import { shown } from "../scenario.ts";
import type { ExpectedDelivery } from "./oracle.ts";

const MAX_SHOWN = 8;

type JudgedWebhook = Pick<Subject, "id" | "last" | "periods"> & {
  readonly receiver: Pick<Receiver, "arrivals" | "refused">;
};

type WebhookEvidence = Pick<Case, "changes" | "wallets"> & {
  readonly wanted: readonly ExpectedDelivery[];
  readonly recorded: readonly RecordedDelivery[];
};

export function judgeWebhook(
  { id, last: { kind }, periods, receiver: { arrivals, refused } }: JudgedWebhook,
  { wanted, recorded, ...chain }: WebhookEvidence,
) {
  const current = withoutLateCalls(arrivals);
  const cancelled = recorded.filter(({ state }) => state === "cancelled");
  const numbers = new Map(cancelled.map(({ id, sequence }) => [id, sequence]));
  const duplicates = findDuplicates(arrivals, recorded, kind);
  const faults = [
    ...compareRecorded(recorded, wanted),
    ...findMissing(arrivals, wanted, recorded),
    ...findUnexpected(arrivals, wanted),
    ...duplicates.faults,
    ...judge({ ...chain, arrivals: current, periods, replays: [], cancelled: numbers }),
  ];
  const ids = new Set(arrivals.map(({ message }) => message.id));
  return {
    counts: {
      /** Deliveries that were not cancelled. */
      expected: wanted.length - numbers.size,
      // A failed attempt of a cancelled delivery may have arrived.
      arrived: ids.difference(numbers).size,
      /** Calls beyond the first of each delivery. */
      repeated: duplicates.repeated,
      /** Calls of former owners. */
      late: arrivals.length - current.length + refused,
    },
    faults: shown(faults, MAX_SHOWN).map((fault) => `webhook ${id} (${kind.name}): ${fault}`),
  };
}

/** Omits the calls of former owners, as a receiver with a fence does. */
function withoutLateCalls(calls: readonly Arrival[]): Arrival[] {
  let highest = 0;
  return calls.filter(({ epoch = 0 }) => {
    highest = Math.max(highest, epoch);
    return epoch === highest;
  });
}

/** Workers have recorded the same deliveries as a node, in the same order, and finished all of them. */
function compareRecorded(
  recorded: readonly RecordedDelivery[],
  expected: readonly ExpectedDelivery[],
): string[] {
  const nameOf = ({ sequence, id, event, reverts }: Omit<ExpectedDelivery, "webhook">) =>
    `${sequence} ${id} ${event}${reverts === null ? "" : ` of ${reverts}`}`;
  const [own, wanted] = [recorded.map(nameOf), expected.map(nameOf)];
  const differences = Array.from({ length: Math.max(own.length, wanted.length) }, (_, index) => {
    const [ownName = "nothing", wantedName = "nothing"] = [own[index], wanted[index]];
    return ownName === wantedName ? [] : [`the workers recorded ${ownName}, where a node has ${wantedName}`];
  }).flat();
  const unfinished = recorded.filter(({ state }) => state !== "delivered" && state !== "cancelled");
  return [...differences, ...unfinished.map(({ id, state, reason }) => `${id} is ${state}: ${reason}`)];
}

function findMissing(
  calls: readonly Arrival[],
  expected: readonly ExpectedDelivery[],
  recorded: readonly RecordedDelivery[],
): string[] {
  const idsOf = (some: readonly Arrival[]) => new Set(some.map(({ message }) => message.id));
  const [arrived, accepted] = [idsOf(calls), idsOf(calls.filter(({ isAccepted }) => isAccepted))];
  const states = new Map(recorded.map(({ id, state }) => [id, state]));
  return expected.flatMap(({ id, event, sequence }) => {
    const state = states.get(id);
    if (state === "cancelled" || (state === "delivered" ? accepted : arrived).has(id)) return [];
    return [`${id} (${event}, sequence ${sequence}) is ${state ?? "missing"}, and never arrived`];
  });
}

function findUnexpected(calls: readonly Arrival[], expected: readonly ExpectedDelivery[]): string[] {
  const ids = new Set(expected.map(({ id }) => id));
  return calls.flatMap(({ message: { id, event } }) =>
    ids.has(id) ? [] : [`${id} (${event}) arrived, which a node would not send`],
  );
}

export type RecordedDelivery = Omit<ExpectedDelivery, "webhook"> & {
  readonly state: string;
  readonly reason: string | null;
  readonly attempts: readonly RecordedAttempt[];
};

type RecordedAttempt = {
  /** Start by the clock of the worker, in seconds since 1970. */
  readonly seconds: number;
  readonly isSuccess: boolean;
};

type Row = Omit<RecordedDelivery, "attempts"> & { started: number[]; succeeded: boolean[] };

export async function readRecorded(query: Query, webhook: number): Promise<RecordedDelivery[]> {
  const rows = await query<Row>(
    `SELECT id, sequence::integer, event, reverts, state, reason,
       array(SELECT (started_ms / 1000)::integer FROM attempts WHERE delivery = deliveries.number
         ORDER BY number) AS started,
       array(SELECT coalesce(status, 0) BETWEEN 200 AND 299 FROM attempts WHERE delivery = deliveries.number
         ORDER BY number) AS succeeded
     FROM deliveries WHERE webhook = $1 ORDER BY sequence`,
    [webhook],
  );
  return rows.map(({ started, succeeded, ...row }) => ({
    ...row,
    attempts: started.map((seconds, index) => ({ seconds, isSuccess: succeeded[index] === true })),
  }));
}

/** Calls of a parallel webhook at a time: first attempts, a retry and a replay. */
const PARALLEL_CALLS = 10;

/** Checks that only calls in progress are repeated: they have no recorded attempt, because their worker lost the webhook. */
export function findDuplicates(
  calls: readonly Arrival[],
  recorded: readonly RecordedDelivery[],
  { isStrict }: { readonly isStrict: boolean },
): { readonly repeated: number; readonly faults: readonly string[] } {
  const attempts = new Map(recorded.map(({ id, attempts }) => [id, [...attempts]]));
  /** Epoch of the recorded success, by id. */
  const succeeded = new Map<string, number>();
  const unrecorded: { readonly epoch: number; readonly id: string }[] = [];
  const faults: string[] = [];
  for (const call of calls) {
    const { id } = call.message;
    const epoch = present(call.epoch, "the epoch of a call");
    const success = succeeded.get(id);
    if (success !== undefined && epoch >= success)
      faults.push(`${id} arrived again after its success was recorded (epochs ${success}, ${epoch})`);
    const attempt = takeAttempt(attempts.get(id) ?? [], call);
    if (attempt?.isSuccess) succeeded.set(id, epoch);
    if (!attempt) unrecorded.push({ epoch, id });
  }
  for (const [epoch, some] of Map.groupBy(unrecorded, ({ epoch }) => epoch)) {
    if (some.length <= (isStrict ? 1 : PARALLEL_CALLS)) continue;
    const ids = some.slice(0, 3).map(({ id }) => id);
    faults.push(`${some.length} calls of epoch ${epoch} have no recorded attempt: ${ids.join(", ")}`);
  }
  const distinct = new Set(calls.map(({ message }) => message.id));
  return { repeated: calls.length - distinct.size, faults };
}

/** Takes the attempt of a call, by its start: a success first, if the receiver has responded with 2xx. */
function takeAttempt(
  attempts: RecordedAttempt[],
  { sentSeconds, isAccepted }: Arrival,
): RecordedAttempt | undefined {
  const started = attempts.filter(({ seconds }) => seconds === sentSeconds);
  const taken = started.find(({ isSuccess }) => isSuccess === isAccepted) ?? started[0];
  if (taken) attempts.splice(attempts.indexOf(taken), 1);
  return taken;
}
