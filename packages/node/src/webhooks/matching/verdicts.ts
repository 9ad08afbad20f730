/**
 * Evaluates which webhooks fire for an event, before the deliveries are planned and in short slices of the event loop:
 * conditions may take long, and neither the chain nor requests may wait for them. A crash loses only verdicts, which are
 * evaluated again.
 */
import type { Logger } from "pino";
import type { LoggedEvent } from "../../events/catalogue.ts";
import type { MeteredConditions, Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Definition, Definitions } from "./definitions.ts";

export type VerdictDeps = {
  observer: MatchingObserver;
  logger: Pick<Logger, "info">;
};

/** Time of the evaluation per tick; one more evaluation may exceed it. */
const SLICE_MS = 10;

export class Verdicts {
  readonly #deps: VerdictDeps;
  /** Verdicts by sequence of the event, only for events after the cursor. */
  #known = new Map<number, Map<MeteredConditions, Verdict>>();
  /** Conditions that were already reported as slow. */
  readonly #reported = new WeakSet<MeteredConditions>();

  constructor(deps: VerdictDeps) {
    this.#deps = deps;
  }

  /** Evaluates for a slice of time. Returns the number of finished events, from the first one on. */
  find(events: readonly LoggedEvent[], definitions: Pick<Definitions, "forEvent">): number {
    const startMs = performance.now();
    this.#dropOthers(events);
    const finished = this.#evaluate(events, definitions, startMs + SLICE_MS);
    this.#deps.observer.spent("webhook", performance.now() - startMs);
    return finished;
  }

  /** Returns a verdict; undefined if it is not evaluated yet. */
  of({ sequence }: Pick<LoggedEvent, "sequence">, { metered }: Definition): Verdict | undefined {
    return this.#known.get(sequence)?.get(metered);
  }

  /** Drops the verdicts of all other events. */
  #dropOthers(events: readonly LoggedEvent[]): void {
    this.#known = new Map(
      events.flatMap(({ sequence }) => {
        const verdicts = this.#known.get(sequence);
        return verdicts ? [[sequence, verdicts]] : [];
      }),
    );
  }

  /** Evaluates at least one verdict per slice. Returns the number of finished events. */
  #evaluate(
    events: readonly LoggedEvent[],
    definitions: Pick<Definitions, "forEvent">,
    endMs: number,
  ): number {
    let isFirst = true;
    for (const [index, event] of events.entries()) {
      const verdicts = this.#known.get(event.sequence) ?? new Map<MeteredConditions, Verdict>();
      this.#known.set(event.sequence, verdicts);
      for (const { definition } of definitions.forEvent(event)) {
        if (event.sequence <= definition.activeAfter || verdicts.has(definition.metered)) continue;
        if (!isFirst && performance.now() >= endMs) return index;
        isFirst = false;
        verdicts.set(definition.metered, this.#judge(definition, event));
      }
    }
    return events.length;
  }

  #judge({ id, metered }: Definition, event: LoggedEvent): Verdict {
    const { observer, logger } = this.#deps;
    const verdict = metered.judge(event.data);
    if (metered.isSlow() && !this.#reported.has(metered)) {
      this.#reported.add(metered);
      observer.slowed("webhook");
      logger.info(
        { webhook: id },
        "expensive conditions of a webhook; it is suspended if the cost increases",
      );
    }
    return verdict;
  }
}
