/** Compares what a receiver has with what the chain requires. */
import { present } from "../../../src/platform/present.ts";
import type { Message } from "../actors/receiver.ts";
import {
  type Case,
  type Evidence,
  evidenceOf,
  type Occurrence,
  type Period,
  type Replay,
  subjectOf,
} from "./evidence.ts";
import { type Fact, FORGOTTEN_FACTS, KNOWN_FACTS, PARTLY_KNOWN_FACTS } from "./facts.ts";
import type { Kind } from "./kinds.ts";
import { findOrderFaults, findReversalFaults } from "./order.ts";

/** Returns descriptions of failures; empty if there are none. */
export function judge(given: Case): string[] {
  const faults: string[] = [];
  const evidence = evidenceOf(given, faults);
  faults.push(...findNumberFaults(evidence));
  const { delivered, ids } = findDelivered(evidence, faults);
  return [
    ...faults,
    ...findMissingFacts(evidence, ids),
    ...findReversalFaults(evidence, delivered),
    ...findOrderFaults(evidence),
    ...findWalletFaults(evidence),
  ];
}

/** Checks that numbers increase by one with each delivery: missing ones were cancelled. */
function findNumberFaults({ deliveries, cancelled, isChanged }: Evidence): string[] {
  const faults: string[] = [];
  const numbers = new Map<number, string>();
  for (const { message } of deliveries.values()) {
    const { sequence, id } = message;
    if (sequence === undefined) continue;
    const other = numbers.get(sequence);
    if (other !== undefined) faults.push(`number ${sequence} is that of ${other} and of ${id}`);
    numbers.set(sequence, id);
  }
  if (isChanged) return faults;
  const gaps = new Set(cancelled.values());
  const highest = Math.max(0, ...numbers.keys());
  for (let number = 1; number <= highest; number++) {
    if (!numbers.has(number) && !gaps.has(number)) faults.push(`number ${number} never arrived`);
  }
  return faults;
}

type Delivered = {
  /** Fact of the chain by the id of its delivery. */
  readonly delivered: Map<string, Occurrence>;
  readonly ids: Map<Occurrence, string>;
};

/** Checks that each delivered fact is one of the chain that the webhook subscribes to, delivered with one id. */
function findDelivered(evidence: Evidence, faults: string[]): Delivered {
  const delivered = new Map<string, Occurrence>();
  const ids = new Map<Occurrence, string>();
  const byKey = Map.groupBy(evidence.occurrences, ({ fact }) => keyOf(fact));
  for (const { message } of evidence.deliveries.values()) {
    if (message.reverts !== undefined || !KNOWN_FACTS.has(message.event)) continue;
    if (evidence.isAftermath(message)) continue;
    const key = keyOfMessage(message);
    const candidates = byKey.get(key) ?? [];
    const occurrence = candidates.find((candidate) => !ids.has(candidate));
    if (occurrence && mayReceive(evidence, occurrence)) {
      ids.set(occurrence, message.id);
      delivered.set(message.id, occurrence);
      continue;
    }
    // A wallet may change for other reasons, and is also delivered after the revert of a block that was not
    // delivered.
    const isUnsure = candidates.length === 0 || !evidence.standing.has(present(message.blockId));
    if (PARTLY_KNOWN_FACTS.has(message.event) && isUnsure) continue;
    if (occurrence) faults.push(`${message.id} has ${key}, to which the webhook does not subscribe`);
    else faults.push(`${message.id} has ${key}, which is no (further) fact of the chain`);
  }
  return { delivered, ids };
}

const findMissingFacts = (evidence: Evidence, ids: Delivered["ids"]): string[] =>
  evidence.occurrences
    .filter((occurrence) => mustReceive(evidence, occurrence) && !ids.has(occurrence))
    .map(({ fact }) => `${keyOf(fact)} at height ${fact.block.height} never arrived`);

const keyOf = ({ name, block, transaction, address }: Fact): string =>
  [name, block.id, address ?? transaction?.id ?? ""].join(" ").trim();

const keyOfMessage = (message: Message): string =>
  message.event === "block.applied"
    ? `${message.event} ${message.blockId}`
    : `${message.event} ${message.blockId} ${subjectOf(message)}`;

const mayReceive = (evidence: Evidence, occurrence: Occurrence): boolean =>
  evidence.periods.some((period) => mayReceiveIn(evidence, period, occurrence)) ||
  mayBeReplayed(evidence, occurrence);

function mayReceiveIn(evidence: Evidence, period: Period, occurrence: Occurrence): boolean {
  const { kind, notBefore, until } = period;
  const { fact, appliedAt } = occurrence;
  const isWithin = appliedAt > notBefore && (until === undefined || appliedAt <= until);
  return isWithin && kind.matches(fact) && isDeepEnough(evidence, kind, occurrence);
}

function mayBeReplayed(evidence: Evidence, occurrence: Occurrence): boolean {
  const { undoneAt = Number.POSITIVE_INFINITY } = occurrence;
  return evidence.replays.some(
    (replay) => undoneAt > replay.requestedAt && isReplayed(evidence, replay, occurrence),
  );
}

function isReplayed(evidence: Evidence, { fromHeight, toHeight }: Replay, occurrence: Occurrence): boolean {
  const { height } = occurrence.fact.block;
  const { kind } = evidence.last;
  return (
    !FORGOTTEN_FACTS.has(occurrence.fact.name) &&
    height >= fromHeight &&
    height <= toHeight &&
    kind.matches(occurrence.fact) &&
    isDeepEnough(evidence, kind, occurrence)
  );
}

/** A fact that was reverted since need not have arrived: a failed attempt is not repeated. */
function mustReceive(evidence: Evidence, occurrence: Occurrence): boolean {
  const { last, replays } = evidence;
  if (occurrence.undoneAt !== undefined) return false;
  if (replays.some((replay) => replay.isFinished && isReplayed(evidence, replay, occurrence))) return true;
  return (
    occurrence.appliedAt > last.fullyFrom &&
    last.kind.matches(occurrence.fact) &&
    isDeepEnough(evidence, last.kind, occurrence)
  );
}

/** Returns true if enough blocks followed the fact before its revert. */
function isDeepEnough(
  { changes }: Evidence,
  { confirmations }: Kind,
  { fact, appliedAt, undoneAt = Number.POSITIVE_INFINITY }: Occurrence,
): boolean {
  if (confirmations === 0) return true;
  return changes.some(
    ({ kind, position, block }) =>
      kind === "applied" &&
      position > appliedAt &&
      position < undoneAt &&
      block.height >= fact.block.height + confirmations,
  );
}

/**
 * Checks a webhook that received every change of some wallets: the last delivery has the state of the wallet.
 */
function findWalletFaults({ isChanged, last, standing, wallets, numbered }: Evidence): string[] {
  if (isChanged || last.kind.confirmations > 0) return [];
  const latest = new Map<string, { id: string; blockId: string; balance: string; nonce: string }>();
  for (const { message } of numbered) {
    if (message.event !== "wallet.saved") continue;
    const { address, balance, nonce } = message.data as Record<"address" | "balance" | "nonce", string>;
    latest.set(address, { id: message.id, blockId: present(message.blockId), balance, nonce });
  }
  return [...latest].flatMap(([address, { id, blockId, balance, nonce }]) => {
    const wallet = wallets.get(address);
    // A wallet that a block created is removed by its revert, without a further event.
    if (!wallet)
      return standing.has(blockId) ? [`${id} has the wallet ${address}, which does not exist`] : [];
    if (wallet.balance === balance && wallet.nonce === nonce) return [];
    return [`${id} has the balance ${balance} of the wallet ${address}, which has ${wallet.balance}`];
  });
}
