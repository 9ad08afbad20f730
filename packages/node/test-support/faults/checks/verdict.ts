/** Compares what a receiver has with what the chain requires. */
import { present } from "../../../src/platform/present.ts";
import type { Message } from "../actors/receiver.ts";
import { type Case, type Evidence, evidenceOf, type Occurrence, type Replay, subjectOf } from "./evidence.ts";
import { type Fact, FORGOTTEN_FACTS, KNOWN_FACTS, PARTLY_KNOWN_FACTS } from "./facts.ts";
import type { Kind } from "./kinds.ts";
import { findOrderFaults, findReversalFaults } from "./order.ts";

export function judge(given: Case): string[] {
  const faults: string[] = [];
  const evidence = evidenceOf(given, faults);
  faults.push(...findNumberFaults(evidence));
  const delivered = findDelivered(evidence, faults);
  return [
    ...faults,
    ...findMissingFacts(evidence, new Set(delivered.values())),
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

/** Checks that delivered facts are those of the chain with a subscription, each with one id. Returns them by the id of the delivery. */
function findDelivered(evidence: Evidence, faults: string[]): Map<string, Occurrence> {
  const delivered = new Map<string, Occurrence>();
  const found = new Set<Occurrence>();
  const byKey = Map.groupBy(evidence.occurrences, ({ fact }) => keyOf(fact));
  for (const { message } of evidence.deliveries.values()) {
    if (message.reverts !== undefined || !KNOWN_FACTS.has(message.event)) continue;
    if (evidence.isAftermath(message)) continue;
    const key = keyOfMessage(message);
    const candidates = byKey.get(key) ?? [];
    const occurrence = candidates.find((candidate) => !found.has(candidate));
    if (occurrence && mayReceive(evidence, occurrence)) {
      found.add(occurrence);
      delivered.set(message.id, occurrence);
      continue;
    }
    // A wallet may change for other reasons, and is also delivered after the revert of an undelivered block.
    const isUnsure = candidates.length === 0 || !evidence.isStanding(message.blockId);
    if (PARTLY_KNOWN_FACTS.has(message.event) && isUnsure) continue;
    if (occurrence) faults.push(`${message.id} has ${key}, to which the webhook does not subscribe`);
    else faults.push(`${message.id} has ${key}, which is no (further) fact of the chain`);
  }
  return delivered;
}

const findMissingFacts = (evidence: Evidence, delivered: ReadonlySet<Occurrence>): string[] =>
  evidence.occurrences
    .filter((occurrence) => mustReceive(evidence, occurrence) && !delivered.has(occurrence))
    .map(({ fact }) => `${keyOf(fact)} at height ${fact.block.height} never arrived`);

const keyOf = ({ name, block, transaction, address }: Fact): string =>
  [name, block.id, address ?? transaction?.id ?? ""].join(" ").trim();

const keyOfMessage = (message: Message): string =>
  message.event === "block.applied"
    ? `${message.event} ${message.blockId}`
    : `${message.event} ${message.blockId} ${subjectOf(message)}`;

function mayReceive(evidence: Evidence, occurrence: Occurrence): boolean {
  const { appliedAt, undoneAt = Number.POSITIVE_INFINITY } = occurrence;
  const isLive = evidence.periods.some(
    ({ kind: { matches }, notBefore, until = Number.POSITIVE_INFINITY }, index) =>
      appliedAt > notBefore &&
      appliedAt <= until &&
      isReceived(evidence, { matches, confirmations: fewestFrom(evidence, index) }, occurrence),
  );
  const isPast = evidence.replays.some(
    (replay) => undoneAt > replay.requestedAt && isReplayed(evidence, replay, occurrence),
  );
  return isLive || isPast;
}

/** A change of the webhook keeps facts that wait; they are delivered after the number of confirmations that it has then. */
const fewestFrom = ({ periods }: Evidence, index: number): number =>
  Math.min(...periods.slice(index).map(({ kind }) => kind.confirmations));

function isReplayed(evidence: Evidence, { fromHeight, toHeight }: Replay, occurrence: Occurrence): boolean {
  const { name, block } = occurrence.fact;
  const isInRange = block.height >= fromHeight && block.height <= toHeight;
  return isInRange && !FORGOTTEN_FACTS.has(name) && isReceived(evidence, evidence.last.kind, occurrence);
}

/** A fact that was reverted since need not have arrived: a failed attempt is not repeated. */
function mustReceive(evidence: Evidence, occurrence: Occurrence): boolean {
  const { last, replays } = evidence;
  if (occurrence.undoneAt !== undefined) return false;
  if (replays.some((replay) => replay.isFinished && isReplayed(evidence, replay, occurrence))) return true;
  return occurrence.appliedAt > last.fullyFrom && isReceived(evidence, last.kind, occurrence);
}

/** Returns true if the kind matches the fact, and enough blocks followed the fact before its revert. */
function isReceived(
  { changes }: Evidence,
  { confirmations, matches }: Pick<Kind, "confirmations" | "matches">,
  { fact, appliedAt, undoneAt = Number.POSITIVE_INFINITY }: Occurrence,
): boolean {
  if (!matches(fact)) return false;
  if (confirmations === 0) return true;
  return changes.some(
    ({ kind, position, block }) =>
      kind === "applied" &&
      position > appliedAt &&
      position < undoneAt &&
      block.height >= fact.block.height + confirmations,
  );
}

/** Checks a webhook that received every change of some wallets: the last delivery has the state of the wallet. */
function findWalletFaults({ isChanged, last, isStanding, wallets, numbered }: Evidence): string[] {
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
    if (!wallet) return isStanding(blockId) ? [`${id} has the wallet ${address}, which does not exist`] : [];
    if (wallet.balance === balance && wallet.nonce === nonce) return [];
    return [`${id} has the balance ${balance} of the wallet ${address}, which has ${wallet.balance}`];
  });
}
