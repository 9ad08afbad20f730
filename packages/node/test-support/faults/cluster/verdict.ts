/** Compares what the receivers have with the chain, with the deliveries that a node would create, and with what workers recorded. */

import type { ReceivedCall, Receiver } from "../actors/receiver.ts";
import type { ChainWallet, Change } from "../checks/chronicle.ts";
import type { Case } from "../checks/evidence.ts";
import { judge } from "../checks/verdict.ts";
import { shown } from "../scenario.ts";
import { findDuplicates, type RecordedDelivery } from "./duplicates.ts";
import type { ExpectedDelivery } from "./oracle.ts";
import type { ClusterWebhook } from "./webhooks.ts";

export type Counts = {
  /** Deliveries that were not cancelled. */
  expected: number;
  arrived: number;
  /** Calls beyond the first of each delivery. */
  repeated: number;
  /** Calls of former owners. */
  late: number;
};

export type Chain = {
  readonly changes: readonly Change[];
  readonly wallets: ReadonlyMap<string, ChainWallet>;
  /** Position of the chronicle at which the webhooks were registered. */
  readonly registeredAt: number;
};

export type WebhookVerdict = { readonly counts: Counts; readonly faults: readonly string[] };

/** Printed failures of a webhook. */
const MAX_SHOWN = 8;

export type WebhookEvidence = {
  readonly chain: Chain;
  /** Deliveries that a node would create. */
  readonly wanted: readonly ExpectedDelivery[];
  readonly recorded: readonly RecordedDelivery[];
};

export type JudgedWebhook = Pick<ClusterWebhook, "id" | "kind"> & {
  readonly receiver: Pick<Receiver, "arrivals" | "refused">;
};

export function judgeWebhook(
  webhook: JudgedWebhook,
  { chain, wanted, recorded }: WebhookEvidence,
): WebhookVerdict {
  const { id, kind, receiver } = webhook;
  const current = withoutLateCalls(receiver.arrivals);
  const given = caseOf(webhook, current, recorded, chain);
  const duplicates = findDuplicates(receiver.arrivals, recorded, kind);
  const faults = [
    ...compareRecorded(recorded, wanted),
    ...findMissing(receiver.arrivals, wanted, recorded),
    ...findUnexpected(receiver.arrivals, wanted),
    ...duplicates.faults,
    ...judge(given),
  ];
  const cancelled = new Set(recorded.flatMap(({ id, state }) => (state === "cancelled" ? id : [])));
  const arrived = new Set(receiver.arrivals.map(({ message }) => message.id));
  return {
    counts: {
      expected: wanted.length - cancelled.size,
      // A failed attempt of a cancelled delivery may have arrived.
      arrived: arrived.difference(cancelled).size,
      repeated: duplicates.repeated,
      late: receiver.arrivals.length - current.length + receiver.refused(),
    },
    faults: shown(faults, MAX_SHOWN).map((fault) => `webhook ${id} (${kind.name}): ${fault}`),
  };
}

/** Omits the calls of former owners, as a receiver with a fence does. */
function withoutLateCalls(calls: readonly ReceivedCall[]): ReceivedCall[] {
  let highest = 0;
  return calls.filter(({ epoch = 0 }) => {
    highest = Math.max(highest, epoch);
    return epoch === highest;
  });
}

function caseOf(
  { kind }: JudgedWebhook,
  arrivals: readonly ReceivedCall[],
  recorded: readonly RecordedDelivery[],
  { changes, wallets, registeredAt }: Chain,
): Case {
  const cancelled = recorded.filter(({ state }) => state === "cancelled");
  return {
    ...{ arrivals, changes, wallets, replays: [] },
    periods: [{ kind, notBefore: registeredAt, fullyFrom: registeredAt }],
    cancelled: new Map(cancelled.map(({ id, sequence }) => [id, sequence])),
  };
}

/** Workers have recorded the same deliveries as a node, in the same order, and finished all of them. */
function compareRecorded(
  recorded: readonly RecordedDelivery[],
  expected: readonly ExpectedDelivery[],
): string[] {
  const nameOf = ({ sequence, id, event, reverts }: Omit<ExpectedDelivery, "webhook">) =>
    `${sequence} ${id} ${event}${reverts === null ? "" : ` of ${reverts}`}`;
  const length = Math.max(recorded.length, expected.length);
  const differences = Array.from({ length }, (_, index) => {
    const [own, wanted] = [recorded[index], expected[index]];
    const [ownName, wantedName] = [own ? nameOf(own) : "nothing", wanted ? nameOf(wanted) : "nothing"];
    return ownName === wantedName ? [] : [`the workers recorded ${ownName}, where a node has ${wantedName}`];
  }).flat();
  const unfinished = recorded.filter(({ state }) => state !== "delivered" && state !== "cancelled");
  return [...differences, ...unfinished.map(({ id, state, reason }) => `${id} is ${state}: ${reason}`)];
}

/** Deliveries that must have arrived. */
function findMissing(
  calls: readonly ReceivedCall[],
  expected: readonly ExpectedDelivery[],
  recorded: readonly RecordedDelivery[],
): string[] {
  const arrived = new Set(calls.map(({ message }) => message.id));
  const accepted = new Set(calls.filter(({ isAccepted }) => isAccepted).map(({ message }) => message.id));
  const states = new Map(recorded.map(({ id, state }) => [id, state]));
  return expected.flatMap(({ id, event, sequence }) => {
    const state = states.get(id);
    if (state === "cancelled" || (arrived.has(id) && (state !== "delivered" || accepted.has(id)))) return [];
    return [`${id} (${event}, sequence ${sequence}) is ${state ?? "missing"}, and never arrived`];
  });
}

function findUnexpected(calls: readonly ReceivedCall[], expected: readonly ExpectedDelivery[]): string[] {
  const ids = new Set(expected.map(({ id }) => id));
  return calls.flatMap(({ message: { id, event } }) =>
    ids.has(id) ? [] : [`${id} (${event}) arrived, which a node would not send`],
  );
}
