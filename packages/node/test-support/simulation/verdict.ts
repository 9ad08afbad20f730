/** Compares what a receiver has with what the chain requires. */

import { present } from "../../src/platform/present.ts";
import {
  type Case,
  createIsAftermath,
  type Delivery,
  isFactOfChain,
  type Occurrence,
  occurrencesOf,
  type Period,
  type Replay,
  standingBlocks,
} from "./case.ts";
import { type Fact, FORGOTTEN_FACTS, KNOWN_FACTS, PARTLY_KNOWN_FACTS } from "./facts.ts";
import type { Kind } from "./kinds.ts";
import { findOrderFaults } from "./order.ts";
import type { Arrival, Message } from "./receiver.ts";
import { findWalletFaults } from "./wallets.ts";

/** Descriptions of failures; empty if there are none. */
export function judge(given: Case): string[] {
  const { arrivals, periods, replays, changes, cancelled } = given;
  const faults: string[] = [];
  const deliveries = deliveriesOf(arrivals, faults);
  const occurrences = occurrencesOf(changes);
  const last = present(periods.at(-1));
  const isChanged = periods.length > 1;
  const standing = standingBlocks(changes);
  const isAftermath = createIsAftermath([...deliveries.values()]);

  checkNumbers();
  const delivered = checkFacts();
  checkReversals(delivered);
  faults.push(...findOrderFaults(given, [...deliveries.values()]));
  faults.push(...findWalletFaults(given, [...deliveries.values()]));
  return faults;

  /** Checks that numbers increase by one with each delivery: missing ones were cancelled. */
  function checkNumbers(): void {
    const numbers = new Map<number, string>();
    for (const { message } of deliveries.values()) {
      const { sequence, id } = message;
      if (sequence === undefined) continue;
      const other = numbers.get(sequence);
      if (other !== undefined) faults.push(`number ${sequence} is that of ${other} and of ${id}`);
      numbers.set(sequence, id);
    }
    if (isChanged) return;
    const gaps = new Set(cancelled.values());
    const highest = Math.max(0, ...numbers.keys());
    for (let number = 1; number <= highest; number++) {
      if (!numbers.has(number) && !gaps.has(number)) faults.push(`number ${number} never arrived`);
    }
  }

  /**
   * Checks that each fact of the chain that the webhook subscribes to arrived with one id, and no other did.
   */
  function checkFacts(): Map<string, Occurrence> {
    const delivered = new Map<string, Occurrence>();
    const ids = new Map<Occurrence, string>();
    const byKey = new Map<string, Occurrence[]>();
    for (const occurrence of occurrences) {
      const key = keyOf(occurrence.fact);
      byKey.set(key, [...(byKey.get(key) ?? []), occurrence]);
    }
    for (const { message } of deliveries.values()) {
      if (message.reverts !== undefined || !KNOWN_FACTS.has(message.event)) continue;
      if (isAftermath(message)) continue;
      const key = keyOfMessage(message);
      const candidates = byKey.get(key) ?? [];
      const occurrence = candidates.find((candidate) => !ids.has(candidate));
      if (
        occurrence &&
        (periods.some((period) => mayReceive(period, occurrence)) || mayBeReplayed(occurrence))
      ) {
        ids.set(occurrence, message.id);
        delivered.set(message.id, occurrence);
        continue;
      }
      // A wallet may change for other reasons, and is also delivered after the revert of a block that was not
      // delivered.
      const isUnsure = candidates.length === 0 || !standing.has(present(message.blockId));
      if (PARTLY_KNOWN_FACTS.has(message.event) && isUnsure) continue;
      if (occurrence) faults.push(`${message.id} has ${key}, to which the webhook does not subscribe`);
      else faults.push(`${message.id} has ${key}, which is no (further) fact of the chain`);
    }
    for (const occurrence of occurrences) {
      if (mustReceive(occurrence) && !ids.has(occurrence)) {
        faults.push(`${keyOf(occurrence.fact)} at height ${occurrence.fact.block.height} never arrived`);
      }
    }
    return delivered;
  }

  function mayReceive({ kind, notBefore, until }: Period, occurrence: Occurrence): boolean {
    const { fact, appliedAt } = occurrence;
    const isWithin = appliedAt > notBefore && (until === undefined || appliedAt <= until);
    return isWithin && kind.matches(fact) && isDeepEnough(kind, occurrence);
  }

  function mayBeReplayed(occurrence: Occurrence): boolean {
    const { undoneAt = Number.POSITIVE_INFINITY } = occurrence;
    return replays.some((replay) => undoneAt > replay.requestedAt && isWithin(replay, occurrence));
  }

  function isWithin({ fromHeight, toHeight }: Replay, occurrence: Occurrence): boolean {
    const { height } = occurrence.fact.block;
    return (
      !FORGOTTEN_FACTS.has(occurrence.fact.name) &&
      height >= fromHeight &&
      height <= toHeight &&
      last.kind.matches(occurrence.fact) &&
      isDeepEnough(last.kind, occurrence)
    );
  }

  /** A fact that was reverted since need not have arrived: a failed attempt is not repeated. */
  function mustReceive(occurrence: Occurrence): boolean {
    const isReplayed = replays.some((replay) => replay.isFinished && isWithin(replay, occurrence));
    if (isReplayed && occurrence.undoneAt === undefined) return true;
    return (
      last.until === undefined &&
      occurrence.appliedAt > last.fullyFrom &&
      occurrence.undoneAt === undefined &&
      last.kind.matches(occurrence.fact) &&
      isDeepEnough(last.kind, occurrence)
    );
  }

  /** Returns true if enough blocks followed the fact before its revert. */
  function isDeepEnough({ confirmations }: Kind, { fact, appliedAt, undoneAt = Infinity }: Occurrence) {
    if (confirmations === 0) return true;
    return changes.some(
      ({ kind, position, block }) =>
        kind === "applied" &&
        position > appliedAt &&
        position < undoneAt &&
        block.height >= fact.block.height + confirmations,
    );
  }

  /** Checks that each delivered fact of a reverted block is retracted once, and nothing else is. */
  function checkReversals(delivered: ReadonlyMap<string, Occurrence>): void {
    const cameAt = new Map(
      changes.flatMap(({ kind, position, block }) => (kind === "applied" ? [[block.id, position]] : [])),
    );
    const retracted = new Map<string, Delivery>();
    for (const delivery of deliveries.values()) {
      const { reverts, event, id, blockId } = delivery.message;
      if (reverts === undefined) continue;
      if (retracted.has(reverts)) faults.push(`${reverts} is retracted twice`);
      retracted.set(reverts, delivery);
      const original = deliveries.get(reverts);
      if (!original) {
        // An attempt that never reached the receiver may have been the only one.
        const isExplained = isChanged || cancelled.has(reverts);
        if (!isExplained) faults.push(`${id} retracts ${reverts}, which never arrived`);
        continue;
      }
      if (blockId !== original.message.blockId) faults.push(`${id} retracts a fact of another block`);
      if (standing.has(present(blockId))) faults.push(`${id} (${event}) retracts what is still true`);
      if (original.last > delivery.first) faults.push(`${reverts} arrived again after ${id} retracted it`);
      if ((original.message.sequence ?? 0) > (delivery.message.sequence ?? 0)) {
        faults.push(`${id} has a smaller number than ${reverts}, which it retracts`);
      }
    }
    for (const { message } of deliveries.values()) {
      const { id, event, blockId, reverts } = message;
      if (reverts !== undefined || blockId === undefined || !isFactOfChain(event)) continue;
      if (event.endsWith(".reverted") || isAftermath(message)) continue;
      // Facts from before the registration were not delivered, and so are not retracted.
      if (event === "wallet.saved" && (cameAt.get(blockId) ?? 0) <= present(periods[0]).fullyFrom) continue;
      const isSure = !isChanged || (delivered.get(id)?.appliedAt ?? 0) > last.fullyFrom;
      if (!standing.has(blockId) && isSure && last.until === undefined && !retracted.has(id)) {
        faults.push(`${event} ${id} of block ${blockId} was undone, and never retracted`);
      }
    }
    checkAskedReversals();
  }

  /** Checks that reverts that the webhook subscribes to by name are delivered even if the fact was not. */
  function checkAskedReversals(): void {
    if (last.kind.confirmations > 0 || last.until !== undefined) return;
    const received = new Set(
      [...deliveries.values()].map(({ message }) => `${message.event} ${subjectOf(message)}`),
    );
    for (const { fact, undoneAt } of occurrences) {
      const name = fact.name.replace("applied", "reverted");
      if (undoneAt === undefined || undoneAt <= last.fullyFrom || !last.kind.reversals.includes(name))
        continue;
      const subject = fact.transaction?.id ?? fact.block.id;
      if (!received.has(`${name} ${subject}`)) faults.push(`${name} ${subject} never arrived`);
    }
  }
}

function deliveriesOf(arrivals: readonly Arrival[], faults: string[]): Map<string, Delivery> {
  const deliveries = new Map<string, Delivery & { body: string }>();
  for (const [index, { message, body, id, isVerified }] of arrivals.entries()) {
    if (message.event === "ping") continue;
    if (id === undefined || id !== message.id) faults.push(`a delivery of ${message.event} has no proper id`);
    if (!isVerified) faults.push(`${message.id} (${message.event}) does not verify`);
    const known = deliveries.get(message.id);
    if (known && known.body !== body) faults.push(`${message.id} arrived with two bodies`);
    deliveries.set(message.id, { message, body, first: known?.first ?? index, last: index });
  }
  return deliveries;
}

const keyOf = ({ name, block, transaction, address }: Fact): string =>
  [name, block.id, address ?? transaction?.id ?? ""].join(" ").trim();

const keyOfMessage = (message: Message): string =>
  message.event === "block.applied"
    ? `${message.event} ${message.blockId}`
    : `${message.event} ${message.blockId} ${subjectOf(message)}`;

/** Transaction, block or wallet that a message reports. */
function subjectOf({ data }: Message): string {
  const { id, transaction, address } = (data ?? {}) as {
    id?: string;
    transaction?: { id: string };
    address?: string;
  };
  return transaction?.id ?? id ?? address ?? "";
}
