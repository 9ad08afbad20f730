/** Checks that deliveries have the order of the chain, and that those of reverted blocks are retracted. */
import { present } from "../../../src/platform/present.ts";
import type { Message } from "../actors/receiver.ts";
import type { Change } from "./chronicle.ts";
import { type Delivery, type Evidence, isFactOfChain, type Occurrence, subjectOf } from "./evidence.ts";

/** Delivery with the change of the chain that it reports: index and position. */
type Placed = { readonly delivery: Delivery; readonly order: number; readonly position: number };

/** Numbers follow the chain; a strict receiver receives smaller numbers first. */
export function findOrderFaults({ periods, last, replays, changes, numbered }: Evidence): string[] {
  const faults: string[] = [];
  const first = present(periods[0]);
  const placed = placedOf(numbered, changes);
  // Events from before the registration are delivered by replays, with later sequence numbers.
  const past = placed.filter(({ position }) => position <= first.notBefore);
  const liveFrom = replays.length === 0 ? first.notBefore : first.fullyFrom;
  const live = placed.filter(({ position }) => position > liveFrom);

  if (last.kind.confirmations === 0) {
    faults.push(...descentsOf(live));
    // Each replay starts at any height, and ascends.
    const descents = descentsOf(past);
    if (descents.length >= Math.max(1, replays.length)) faults.push(...descents);
  }
  if (last.kind.isStrict) {
    const isSteady = periods.length === 1 && replays.length === 0;
    // Queued deliveries of a removed webhook were given up, and arrived again in no order.
    const later = live.filter(({ position }) => position > last.fullyFrom);
    faults.push(...earlyArrivalsOf(isSteady ? numbered : later.map(({ delivery }) => delivery)));
  }
  return faults;
}

function earlyArrivalsOf(deliveries: readonly Delivery[]): string[] {
  let latest = -1;
  return deliveries.flatMap((delivery) => {
    const isEarly = delivery.first < latest;
    latest = Math.max(latest, delivery.first);
    return isEarly ? [`${nameOf(delivery)} arrived before a smaller number`] : [];
  });
}

/** Describes larger numbers that report earlier changes of the chain. */
const descentsOf = (placed: readonly Placed[]): string[] =>
  placed.flatMap(({ delivery, order }, index) => {
    const before = placed[index - 1];
    return before && order < before.order
      ? [`${nameOf(delivery)} is numbered after ${before.delivery.message.id}`]
      : [];
  });

const nameOf = ({ message: { id, event } }: Delivery) => `${id} (${event})`;

function placedOf(numbered: readonly Delivery[], changes: readonly Change[]): Placed[] {
  const orders = new Map(changes.map(({ kind, block }, index) => [`${kind} ${block.id}`, index]));
  return numbered.flatMap((delivery) => {
    const order = orders.get(changeOf(delivery.message) ?? "");
    return order === undefined ? [] : [{ delivery, order, position: present(changes[order]).position }];
  });
}

/** Change of the chain that a message reports: a block was applied, or reverted. */
function changeOf({ event, blockId, reverts }: Message): string | undefined {
  if (blockId === undefined || (reverts === undefined && !isFactOfChain(event))) return undefined;
  // Delivered when a block is applied, and again when it is reverted.
  if (event === "wallet.saved") return undefined;
  return `${reverts !== undefined || event.endsWith(".reverted") ? "reverted" : "applied"} ${blockId}`;
}

/** Checks that each delivered fact of a reverted block is retracted once, and nothing else is. */
export function findReversalFaults(evidence: Evidence, delivered: ReadonlyMap<string, Occurrence>): string[] {
  const retracted = new Set<string>();
  const faults: string[] = [];
  for (const delivery of evidence.deliveries.values()) {
    const { reverts } = delivery.message;
    if (reverts === undefined) continue;
    if (retracted.has(reverts)) faults.push(`${reverts} is retracted twice`);
    retracted.add(reverts);
    faults.push(...faultsOfRetraction(evidence, delivery, reverts));
  }
  return [
    ...faults,
    ...findMissingRetractions(evidence, delivered, retracted),
    ...findMissingReversals(evidence),
  ];
}

function faultsOfRetraction(evidence: Evidence, delivery: Delivery, reverts: string): string[] {
  const { deliveries, isChanged, cancelled, isStanding } = evidence;
  const { event, id, blockId, sequence = 0 } = delivery.message;
  const original = deliveries.get(reverts);
  if (!original) {
    // An attempt that never reached the receiver may have been the only one.
    const isExplained = isChanged || cancelled.has(reverts);
    return isExplained ? [] : [`${id} retracts ${reverts}, which never arrived`];
  }
  const faults: string[] = [];
  if (blockId !== original.message.blockId) faults.push(`${id} retracts a fact of another block`);
  if (isStanding(blockId)) faults.push(`${id} (${event}) retracts what is still true`);
  if (original.last > delivery.first) faults.push(`${reverts} arrived again after ${id} retracted it`);
  if ((original.message.sequence ?? 0) > sequence) {
    faults.push(`${id} has a smaller number than ${reverts}, which it retracts`);
  }
  return faults;
}

function findMissingRetractions(
  { deliveries, changes, periods, isChanged, isAftermath, last, isStanding }: Evidence,
  delivered: ReadonlyMap<string, Occurrence>,
  retracted: ReadonlySet<string>,
): string[] {
  const appliedAt = new Map(
    changes.flatMap(({ kind, position, block }) => (kind === "applied" ? [[block.id, position]] : [])),
  );
  const faults: string[] = [];
  for (const { message } of deliveries.values()) {
    const { id, event, blockId, reverts } = message;
    if (reverts !== undefined || blockId === undefined || !isFactOfChain(event)) continue;
    if (event.endsWith(".reverted") || isAftermath(message)) continue;
    // Facts from before the registration were not delivered, and so are not retracted.
    if (event === "wallet.saved" && (appliedAt.get(blockId) ?? 0) <= present(periods[0]).fullyFrom) continue;
    const isSure = !isChanged || (delivered.get(id)?.appliedAt ?? 0) > last.fullyFrom;
    if (!isStanding(blockId) && isSure && !retracted.has(id)) {
      faults.push(`${event} ${id} of block ${blockId} was undone, and never retracted`);
    }
  }
  return faults;
}

/** Checks that reverts that the webhook subscribes to by name are delivered even if the fact was not. */
function findMissingReversals({ deliveries, occurrences, last }: Evidence): string[] {
  if (last.kind.confirmations > 0) return [];
  const received = new Set(
    [...deliveries.values()].map(({ message }) => `${message.event} ${subjectOf(message)}`),
  );
  return occurrences.flatMap(({ fact, undoneAt }) => {
    const name = fact.name.replace("applied", "reverted");
    if (undoneAt === undefined || undoneAt <= last.fullyFrom || !last.kind.reversals.includes(name))
      return [];
    const subject = fact.transaction?.id ?? fact.block.id;
    return received.has(`${name} ${subject}`) ? [] : [`${name} ${subject} never arrived`];
  });
}
