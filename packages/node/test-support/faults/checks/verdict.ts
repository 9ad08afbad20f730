/** Compares what a receiver has with what the chain requires. */
import { present } from "../../../src/platform/present.ts";
import type { Message } from "../actors/receiver.ts";
import type { Case, Occurrence } from "./case.ts";
import { type Evidence, evidenceOf, subjectOf } from "./evidence.ts";
import { mayReceive, mustReceive } from "./expected.ts";
import { type Fact, KNOWN_FACTS, PARTLY_KNOWN_FACTS } from "./facts.ts";
import { findOrderFaults } from "./order.ts";
import { findReversalFaults } from "./reversals.ts";
import { findWalletFaults } from "./wallets.ts";

/** Returns descriptions of failures; empty if there are none. */
export function judge(given: Case): string[] {
  const faults: string[] = [];
  const evidence = evidenceOf(given, faults);
  const deliveries = [...evidence.deliveries.values()];
  faults.push(...findNumberFaults(evidence));
  const { delivered, ids } = findDelivered(evidence, faults);
  faults.push(...findMissingFacts(evidence, ids));
  faults.push(...findReversalFaults(evidence, delivered));
  faults.push(...findOrderFaults(given, deliveries));
  faults.push(...findWalletFaults(given, deliveries));
  return faults;
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
