/**
 * Evaluates which webhooks fire for an event, before the transaction that writes the deliveries and in short slices of the
 * event loop: conditions may take long, and neither the chain nor requests may wait for them. A crash loses only verdicts,
 * which are evaluated again.
 */
import type { Logger } from "pino";
import type { LoggedEvent } from "../../events/event.ts";
import type { MeteredConditions, Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/observer.ts";
import type { Definition, Definitions } from "./definitions.ts";

export type Verdicts = {
  /** Evaluates for a slice of time. Returns the number of finished events, from the first one on. */
  find(events: readonly LoggedEvent[]): number;
  /** Returns a verdict; undefined if it is not evaluated yet, because the definition is new. */
  of(event: Pick<LoggedEvent, "sequence">, definition: Definition): Verdict | undefined;
};

export type VerdictDeps = {
  definitions: Pick<Definitions, "forEvent">;
  observer: MatchingObserver;
  logger: Pick<Logger, "info">;
};

/** Time of the evaluation per tick; one more evaluation may exceed it. */
const SLICE_MS = 10;

export function createVerdicts({ definitions, observer, logger }: VerdictDeps): Verdicts {
  /** Verdicts by sequence of the event, only for events after the cursor. */
  let known = new Map<number, Map<MeteredConditions, Verdict>>();
  /** Conditions that were already reported as slow. */
  const reported = new WeakSet<MeteredConditions>();

  function verdictsOf(event: LoggedEvent): Map<MeteredConditions, Verdict> {
    const verdicts = known.get(event.sequence) ?? new Map<MeteredConditions, Verdict>();
    known.set(event.sequence, verdicts);
    return verdicts;
  }

  function judge({ id, metered }: Definition, event: LoggedEvent): Verdict {
    const verdict = metered.judge(event.data);
    if (metered.isSlow() && !reported.has(metered)) {
      reported.add(metered);
      observer.slowed("webhook");
      logger.info(
        { webhook: id },
        "expensive conditions of a webhook; it is suspended if the cost increases",
      );
    }
    return verdict;
  }

  /** Evaluates at least one verdict per slice. Returns the number of finished events. */
  function work(events: readonly LoggedEvent[], endMs: number): number {
    let isFirst = true;
    for (const [index, event] of events.entries()) {
      const verdicts = verdictsOf(event);
      for (const { definition } of definitions.forEvent(event)) {
        if (event.sequence <= definition.activeAfter || verdicts.has(definition.metered)) continue;
        if (!isFirst && performance.now() >= endMs) return index;
        isFirst = false;
        verdicts.set(definition.metered, judge(definition, event));
      }
    }
    return events.length;
  }

  return {
    find(events) {
      const startMs = performance.now();
      known = new Map(
        events.flatMap(({ sequence }) => {
          const verdicts = known.get(sequence);
          return verdicts ? [[sequence, verdicts]] : [];
        }),
      );
      const finished = work(events, startMs + SLICE_MS);
      observer.spent("webhook", performance.now() - startMs);
      return finished;
    },
    of: ({ sequence }, { metered }) => known.get(sequence)?.get(metered),
  };
}
