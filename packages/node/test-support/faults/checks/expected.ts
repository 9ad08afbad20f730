/** Facts of the chain that a webhook may receive, and facts that it must receive. */
import type { Occurrence, Period, Replay } from "./case.ts";
import type { Evidence } from "./evidence.ts";
import { FORGOTTEN_FACTS } from "./facts.ts";
import type { Kind } from "./kinds.ts";

export const mayReceive = (evidence: Evidence, occurrence: Occurrence): boolean =>
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
export function mustReceive(evidence: Evidence, occurrence: Occurrence): boolean {
  const { last, replays } = evidence;
  if (occurrence.undoneAt !== undefined) return false;
  if (replays.some((replay) => replay.isFinished && isReplayed(evidence, replay, occurrence))) return true;
  return (
    last.until === undefined &&
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
