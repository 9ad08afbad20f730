/** Checks the retractions of delivered facts, whose blocks were reverted. */
import { present } from "../../../src/platform/present.ts";
import { type Delivery, isFactOfChain, type Occurrence } from "./case.ts";
import { type Evidence, subjectOf } from "./evidence.ts";

/** Checks that each delivered fact of a reverted block is retracted once, and nothing else is. */
export function findReversalFaults(evidence: Evidence, delivered: ReadonlyMap<string, Occurrence>): string[] {
  const retracted = new Map<string, Delivery>();
  const faults: string[] = [];
  for (const delivery of evidence.deliveries.values()) {
    const { reverts } = delivery.message;
    if (reverts === undefined) continue;
    if (retracted.has(reverts)) faults.push(`${reverts} is retracted twice`);
    retracted.set(reverts, delivery);
    faults.push(...faultsOfRetraction(evidence, delivery, reverts));
  }
  return [
    ...faults,
    ...findMissingRetractions(evidence, delivered, retracted),
    ...findMissingReversals(evidence),
  ];
}

/** @param reverts id of the delivery that is retracted */
function faultsOfRetraction(evidence: Evidence, delivery: Delivery, reverts: string): string[] {
  const { deliveries, isChanged, cancelled, standing } = evidence;
  const { event, id, blockId, sequence = 0 } = delivery.message;
  const original = deliveries.get(reverts);
  if (!original) {
    // An attempt that never reached the receiver may have been the only one.
    const isExplained = isChanged || cancelled.has(reverts);
    return isExplained ? [] : [`${id} retracts ${reverts}, which never arrived`];
  }
  const faults: string[] = [];
  if (blockId !== original.message.blockId) faults.push(`${id} retracts a fact of another block`);
  if (standing.has(present(blockId))) faults.push(`${id} (${event}) retracts what is still true`);
  if (original.last > delivery.first) faults.push(`${reverts} arrived again after ${id} retracted it`);
  if ((original.message.sequence ?? 0) > sequence) {
    faults.push(`${id} has a smaller number than ${reverts}, which it retracts`);
  }
  return faults;
}

function findMissingRetractions(
  { deliveries, changes, periods, isChanged, isAftermath, last, standing }: Evidence,
  delivered: ReadonlyMap<string, Occurrence>,
  retracted: ReadonlyMap<string, Delivery>,
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
    if (!standing.has(blockId) && isSure && last.until === undefined && !retracted.has(id)) {
      faults.push(`${event} ${id} of block ${blockId} was undone, and never retracted`);
    }
  }
  return faults;
}

/** Checks that reverts that the webhook subscribes to by name are delivered even if the fact was not. */
function findMissingReversals({ deliveries, occurrences, last }: Evidence): string[] {
  if (last.kind.confirmations > 0 || last.until !== undefined) return [];
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
