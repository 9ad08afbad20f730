/**
 * Evaluates which webhooks fire for an event, before the deliveries are planned and in short slices of the event loop:
 * conditions may take long, and neither the chain nor requests may wait for them. A crash loses only verdicts, which are
 * evaluated again.
 */
import type { Logger } from "pino";
import type { LoggedEvent } from "../../events/event.ts";
import type { MeteredConditions, Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Definition, Definitions } from "./definitions.ts";

export type Verdicts = {
  /** Evaluates for a slice of time. Returns the number of finished events, from the first one on. */
  find(events: readonly LoggedEvent[], definitions: Pick<Definitions, "forEvent">): number;
  /** Returns a verdict; undefined if it is not evaluated yet. */
  of(event: Pick<LoggedEvent, "sequence">, definition: Definition): Verdict | undefined;
};

export type VerdictDeps = {
  observer: MatchingObserver;
  logger: Pick<Logger, "info">;
};

/** Time of the evaluation per tick; one more evaluation may exceed it. */
const SLICE_MS = 10;

type State = VerdictDeps & {
  /** Verdicts by sequence of the event, only for events after the cursor. */
  known: Map<number, Map<MeteredConditions, Verdict>>;
  /** Conditions that were already reported as slow. */
  readonly reported: WeakSet<MeteredConditions>;
};

export function createVerdicts(deps: VerdictDeps): Verdicts {
  const state: State = { ...deps, known: new Map(), reported: new WeakSet() };
  return {
    find(events, definitions) {
      const startMs = performance.now();
      dropPast(state, events);
      const finished = evaluate(state, events, definitions, startMs + SLICE_MS);
      deps.observer.spent("webhook", performance.now() - startMs);
      return finished;
    },
    of: ({ sequence }, { metered }) => state.known.get(sequence)?.get(metered),
  };
}

/** Drops the verdicts of all other events. */
function dropPast(state: State, events: readonly LoggedEvent[]): void {
  state.known = new Map(
    events.flatMap(({ sequence }) => {
      const verdicts = state.known.get(sequence);
      return verdicts ? [[sequence, verdicts]] : [];
    }),
  );
}

/** Evaluates at least one verdict per slice. Returns the number of finished events. */
function evaluate(
  state: State,
  events: readonly LoggedEvent[],
  definitions: Pick<Definitions, "forEvent">,
  endMs: number,
): number {
  let isFirst = true;
  for (const [index, event] of events.entries()) {
    const verdicts = verdictsOf(state, event);
    for (const { definition } of definitions.forEvent(event)) {
      if (event.sequence <= definition.activeAfter || verdicts.has(definition.metered)) continue;
      if (!isFirst && performance.now() >= endMs) return index;
      isFirst = false;
      verdicts.set(definition.metered, judge(state, definition, event));
    }
  }
  return events.length;
}

function verdictsOf({ known }: State, event: LoggedEvent): Map<MeteredConditions, Verdict> {
  const verdicts = known.get(event.sequence) ?? new Map<MeteredConditions, Verdict>();
  known.set(event.sequence, verdicts);
  return verdicts;
}

function judge(
  { observer, logger, reported }: State,
  { id, metered }: Definition,
  event: LoggedEvent,
): Verdict {
  const verdict = metered.judge(event.data);
  if (metered.isSlow() && !reported.has(metered)) {
    reported.add(metered);
    observer.slowed("webhook");
    logger.info({ webhook: id }, "expensive conditions of a webhook; it is suspended if the cost increases");
  }
  return verdict;
}
