/** Compares what a receiver holds with what the chain says it must hold. */
import type { Change } from "./chronicle.ts";
import { type Fact, factsOf, type Kind, KNOWN_FACTS } from "./kinds.ts";
import type { Arrival, Message } from "./receiver.ts";

/** A time in which a webhook was of one kind, by positions in the chronicle; the ends are known roughly. */
export type Period = {
  readonly kind: Kind;
  /** Nothing up to here is heard. */
  readonly notBefore: number;
  /** Everything behind is heard. */
  readonly fullyFrom: number;
  /** Nothing behind is heard; absent: the period has not ended. */
  readonly until?: number;
};

/** A part of the chain that was asked for again, at a position in the chronicle. */
export type Replay = {
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly askedAt: number;
  /** It was told to its end. */
  readonly isFinished?: true;
};

export type Case = {
  readonly arrivals: readonly Arrival[];
  readonly periods: readonly Period[];
  readonly replays: readonly Replay[];
  readonly changes: readonly Change[];
  /** Deliveries that were cancelled, because their blocks were undone: number by id. */
  readonly cancelled: ReadonlyMap<string, number>;
};

/** A delivery as the receiver knows it. */
type Delivery = {
  readonly message: Message;
  /** Indexes among the arrivals. */
  readonly first: number;
  readonly last: number;
};

/** A fact that became true at one position, and untrue at another if it was undone. */
type Occurrence = {
  readonly fact: Fact;
  readonly appliedAt: number;
  readonly order: number;
  readonly undoneAt?: number;
  readonly undoneOrder?: number;
};

/** What is wrong, in words; nothing when everything is right. */
export function judge({ arrivals, periods, replays, changes, cancelled }: Case): string[] {
  const faults: string[] = [];
  const deliveries = deliveriesOf(arrivals, faults);
  const occurrences = occurrencesOf(changes);
  const last = periods.at(-1)!;
  const isChanged = periods.length > 1;

  checkNumbers();
  const told = checkFacts();
  checkReversals(told);
  checkOrder();
  return faults;

  /** Numbers grow by one with each delivery: what is missing was cancelled. */
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

  /** Each fact that the chain brought about and the webhook asked for has arrived by one id, and no other has. */
  function checkFacts(): Map<string, Occurrence> {
    const told = new Map<string, Occurrence>();
    const ids = new Map<Occurrence, string>();
    const byKey = new Map<string, Occurrence[]>();
    for (const occurrence of occurrences) {
      const key = keyOf(occurrence.fact);
      byKey.set(key, [...(byKey.get(key) ?? []), occurrence]);
    }
    for (const { message } of deliveries.values()) {
      if (message.reverts !== undefined || !KNOWN_FACTS.has(message.event)) continue;
      const key = keyOfMessage(message);
      const candidates = byKey.get(key) ?? [];
      const occurrence = candidates.find((candidate) => !ids.has(candidate));
      if (!occurrence) faults.push(`${message.id} tells ${key}, which is no (further) fact of the chain`);
      else if (!periods.some((period) => mayHear(period, occurrence)) && !mayHearAgain(occurrence)) {
        faults.push(`${message.id} tells ${key}, which the webhook does not ask for`);
      } else {
        ids.set(occurrence, message.id);
        told.set(message.id, occurrence);
      }
    }
    for (const occurrence of occurrences) {
      if (mustHear(occurrence) && !ids.has(occurrence)) {
        faults.push(`${keyOf(occurrence.fact)} at height ${occurrence.fact.block.height} never arrived`);
      }
    }
    return told;
  }

  function mayHear({ kind, notBefore, until }: Period, occurrence: Occurrence): boolean {
    const { fact, appliedAt } = occurrence;
    const isWithin = appliedAt > notBefore && (until === undefined || appliedAt <= until);
    return isWithin && kind.hears(fact) && isDeepEnough(kind, occurrence);
  }

  function mayHearAgain(occurrence: Occurrence): boolean {
    const { undoneAt = Number.POSITIVE_INFINITY } = occurrence;
    return replays.some((replay) => undoneAt > replay.askedAt && isWithin(replay, occurrence));
  }

  function isWithin({ fromHeight, toHeight }: Replay, occurrence: Occurrence): boolean {
    const { height } = occurrence.fact.block;
    return (
      height >= fromHeight &&
      height <= toHeight &&
      last.kind.hears(occurrence.fact) &&
      isDeepEnough(last.kind, occurrence)
    );
  }

  /** What was undone since needs not have arrived: an attempt that failed before is not repeated. */
  function mustHear(occurrence: Occurrence): boolean {
    const isAskedFor = replays.some((replay) => replay.isFinished && isWithin(replay, occurrence));
    if (isAskedFor && occurrence.undoneAt === undefined) return true;
    return (
      last.until === undefined &&
      occurrence.appliedAt > last.fullyFrom &&
      occurrence.undoneAt === undefined &&
      last.kind.hears(occurrence.fact) &&
      isDeepEnough(last.kind, occurrence)
    );
  }

  /** Whether the chain once stood high enough above the fact, before it was undone. */
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

  /** Whatever was told of an undone block is taken back, once, and nothing else is. */
  function checkReversals(told: ReadonlyMap<string, Occurrence>): void {
    const standing = standingBlocks(changes);
    const takenBack = new Map<string, Delivery>();
    for (const delivery of deliveries.values()) {
      const { reverts, event, id, blockId } = delivery.message;
      if (reverts === undefined) continue;
      if (takenBack.has(reverts)) faults.push(`${reverts} is taken back twice`);
      takenBack.set(reverts, delivery);
      const original = deliveries.get(reverts);
      if (!original) {
        // An attempt that never reached the receiver may have been the only one.
        const isExplained = isChanged || cancelled.has(reverts);
        if (!isExplained) faults.push(`${id} takes back ${reverts}, which never arrived`);
        continue;
      }
      if (blockId !== original.message.blockId) faults.push(`${id} takes back a fact of another block`);
      if (standing.has(blockId!)) faults.push(`${id} (${event}) takes back what is still true`);
      if (original.last > delivery.first) faults.push(`${reverts} arrived again after ${id} took it back`);
      if ((original.message.sequence ?? 0) > (delivery.message.sequence ?? 0)) {
        faults.push(`${id} has a smaller number than ${reverts}, which it takes back`);
      }
    }
    for (const { message } of deliveries.values()) {
      const { id, event, blockId, reverts } = message;
      if (reverts !== undefined || blockId === undefined || !isFactOfChain(event)) continue;
      if (event.endsWith(".reverted") || isAftermath(message)) continue;
      const isSure = !isChanged || (told.get(id)?.appliedAt ?? 0) > last.fullyFrom;
      if (!standing.has(blockId) && isSure && last.until === undefined && !takenBack.has(id)) {
        faults.push(`${event} ${id} of block ${blockId} was undone, and never taken back`);
      }
    }
    checkAskedReversals();
  }

  /** A wallet is also told as it is after the removal of a block. */
  function isAftermath({ event, blockId, sequence = 0 }: Message): boolean {
    return (
      event === "wallet.saved" &&
      [...deliveries.values()].some(
        ({ message }) =>
          message.event === "block.reverted" &&
          message.blockId === blockId &&
          (message.sequence ?? 0) < sequence,
      )
    );
  }

  /** Reversals that the webhook asked for by name are told whether it knew the fact or not. */
  function checkAskedReversals(): void {
    if (last.kind.confirmations > 0 || last.until !== undefined) return;
    const heard = new Set(
      [...deliveries.values()].map(({ message }) => `${message.event} ${subjectOf(message)}`),
    );
    for (const { fact, undoneAt } of occurrences) {
      const name = fact.name.replace("applied", "reverted");
      if (undoneAt === undefined || undoneAt <= last.fullyFrom || !last.kind.reversals.includes(name))
        continue;
      const subject = fact.transaction?.id ?? fact.block.id;
      if (!heard.has(`${name} ${subject}`)) faults.push(`${name} ${subject} never arrived`);
    }
  }

  /** Numbers follow the chain; a strict receiver sees first what has the smaller number. */
  function checkOrder(): void {
    // What is told of the past comes behind everything else.
    if (replays.length > 0) return;
    const ordered = [...deliveries.values()]
      .filter(({ message }) => message.sequence !== undefined)
      .sort((a, b) => a.message.sequence! - b.message.sequence!);
    const orders = ordersOf(changes);
    let before = { order: 0, id: "" };
    for (const { message } of ordered) {
      const order = orderOf(message, orders);
      if (order === undefined || last.kind.confirmations > 0) continue;
      if (order < before.order)
        faults.push(`${message.id} (${message.event}) is numbered after ${before.id}`);
      before = { order, id: message.id };
    }
    if (isChanged || !last.kind.isStrict) return;
    let latest = -1;
    for (const { message, first } of ordered) {
      if (first < latest) faults.push(`${message.id} (${message.event}) arrived before a smaller number`);
      latest = Math.max(latest, first);
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

function occurrencesOf(changes: readonly Change[]): Occurrence[] {
  return changes.flatMap(({ kind, position, block }, order) => {
    if (kind !== "applied") return [];
    const undone = changes.findIndex(
      (change, index) => index > order && change.kind === "reverted" && change.block.id === block.id,
    );
    return factsOf(block).map((fact) => ({
      fact,
      appliedAt: position,
      order,
      ...(undone !== -1 && { undoneAt: changes[undone]!.position, undoneOrder: undone }),
    }));
  });
}

function standingBlocks(changes: readonly Change[]): Set<string> {
  const standing = new Set<string>();
  for (const { kind, block } of changes) {
    if (kind === "applied") standing.add(block.id);
    else standing.delete(block.id);
  }
  return standing;
}

/** Index of the change by which a block came, and of the one by which it left. */
const ordersOf = (changes: readonly Change[]): Map<string, number> =>
  new Map(changes.map(({ kind, block }, index) => [`${kind} ${block.id}`, index]));

function orderOf({ event, blockId, reverts }: Message, orders: ReadonlyMap<string, number>) {
  if (blockId === undefined || (reverts === undefined && !isFactOfChain(event))) return undefined;
  // Told when a block comes, and again when it has left.
  if (event === "wallet.saved") return undefined;
  const kind = reverts !== undefined || event.endsWith(".reverted") ? "reverted" : "applied";
  return orders.get(`${kind} ${blockId}`);
}

const FAMILIES = ["delegate.", "round.", "unik.", "wallet."];
const OTHERS = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];

const isFactOfChain = (event: string): boolean =>
  OTHERS.includes(event) ||
  event.startsWith("forger.missing") ||
  FAMILIES.some((family) => event.startsWith(family));

const keyOf = ({ name, block, transaction }: Fact): string =>
  [name, block.id, transaction?.id ?? ""].join(" ").trim();

const keyOfMessage = (message: Message): string =>
  message.event === "block.applied"
    ? `${message.event} ${message.blockId}`
    : `${message.event} ${message.blockId} ${subjectOf(message)}`;

/** The transaction, or the block, that a message speaks of. */
function subjectOf({ data }: Message): string {
  const { id, transaction } = (data ?? {}) as { id?: string; transaction?: { id: string } };
  return transaction?.id ?? id ?? "";
}
