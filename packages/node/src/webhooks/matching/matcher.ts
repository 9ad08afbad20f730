/**
 * Moves events from the log to the queues. Deliveries are written and the cursor moves in one batch: even if the process
 * dies, each event is matched once, and no delivery is lost or repeated with another id.
 */
import type { Logger } from "pino";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import type { MeteredConditions, Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Fit } from "../../subscriptions/content.ts";
import { logSuspension } from "../collaborators.ts";
import { type BlockReference, type Intake, type IntakeCommand, STEP_SIZE } from "../intake.ts";
import type { Definition, DefinitionReader, Definitions } from "./definitions.ts";
import {
  FACTS_AT_ONCE,
  heightBefore,
  type JudgedSubscriber,
  planStep,
  type Reached,
  type StepReads,
} from "./plan.ts";

type MatcherDeps = {
  readonly network: string;
  readonly intake: Pick<
    Intake,
    "nextEvents" | "countReverts" | "unretracted" | "confirmedAt" | "apply" | "stepSize"
  >;
  readonly definitions: Pick<DefinitionReader, "read">;
  readonly fit: Fit;
  readonly observer: MatchingObserver;
  /** Called when a webhook was suspended. Absent: this process sends nothing. */
  readonly onSuspended?: (webhook: number) => void;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "info">;
};

export type Matched = {
  /** Webhooks with changed queues. */
  readonly webhooks: ReadonlySet<number>;
  /** True if further events are waiting. */
  readonly more: boolean;
};

export class Matcher {
  readonly #deps: MatcherDeps;
  readonly #verdicts: Verdicts;
  /** Progress at the last commit. After a crash, webhooks that already have their delivery are found by its id. */
  #reached: Reached | undefined;

  constructor(deps: MatcherDeps) {
    this.#deps = deps;
    this.#verdicts = new Verdicts(deps);
  }

  /** Handles the next events after the cursor, if any. */
  async step(): Promise<Matched> {
    const { intake } = this.#deps;
    const { events: limit } = intake.stepSize ?? STEP_SIZE;
    const next = await intake.nextEvents(limit);
    if (next.length === 0) return { webhooks: new Set(), more: false };
    const { webhooks, more } = await this.#match(next);
    return { webhooks, more: more || next.length === limit };
  }

  /** Matches some of the events, from the first one on; `more` is true if others remain. */
  async #match(next: readonly LoggedEvent[]): Promise<Matched> {
    const { network, intake, fit, nowMs } = this.#deps;
    const definitions = await this.#deps.definitions.read();
    const candidates = stepOf(next);
    const events = candidates.slice(0, this.#verdicts.find(candidates, definitions));
    if (events.length === 0) return NOTHING;
    const plan = planStep({
      ...{ network, events, fit, size: intake.stepSize, reached: this.#reached },
      reads: await readStep(intake, events),
      subscribers: (event) => this.#judgedSubscribers(event, definitions),
    });
    const { commands, matched } = plan;
    const { isCurrent, webhooks } = await intake.apply({
      registerVersion: definitions.version,
      atMs: nowMs(),
      commands,
      position: { reader: "log", ...(matched !== undefined && { matched }) },
    });
    if (!isCurrent) return NOTHING;
    this.#reached = plan.reached;
    this.#reportSuspensions(commands);
    return { webhooks: new Set(webhooks), more: !plan.isFinished || events.length < next.length };
  }

  #judgedSubscribers(event: LoggedEvent, definitions: Definitions): JudgedSubscriber[] {
    return definitions
      .forEvent(event)
      .filter(({ definition }) => event.sequence > definition.activeAfter)
      .map((subscriber) => ({
        ...subscriber,
        verdict: present(this.#verdicts.of(event, subscriber.definition), "the verdict of a finished event"),
      }));
  }

  #reportSuspensions(commands: readonly IntakeCommand[]): void {
    const { observer, onSuspended, logger } = this.#deps;
    for (const command of commands) {
      if (command.kind !== "suspend") continue;
      onSuspended?.(command.webhook);
      logSuspension(logger, command.webhook, command.reason);
      observer.suspended("webhook");
    }
  }
}

/** Result of a step that has to be repeated. */
const NOTHING: Matched = { webhooks: new Set(), more: true };

/**
 * Returns the events of the next step, from the first one on: a step contains only events of reverted blocks, or none of them.
 * Earlier steps have therefore written all deliveries that it retracts, so that it can read them.
 */
export function stepOf(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const [first] = events;
  const end = events.findIndex((event) => isReverting(event) !== isReverting(first));
  return end === -1 ? events : events.slice(0, end);
}

const isReverting = (event: LoggedEvent | undefined): boolean => event?.reverts !== undefined;

export async function readStep(
  intake: MatcherDeps["intake"],
  events: readonly LoggedEvent[],
): Promise<StepReads> {
  const first = present(events[0], "the first event of a step");
  const blockIds = new Set(events.flatMap(({ blockId = [] }) => blockId));
  const applied = events.flatMap(({ name, height = [] }) => (name === "block.applied" ? height : []));
  const heights = [...heightBefore(events), ...applied];
  const [reverts, facts, confirmed] = await Promise.all([
    intake.countReverts([...blockIds], first.sequence),
    isReverting(first) ? intake.unretracted(blocksOf(events), FACTS_AT_ONCE) : [],
    heights.length > 0 ? intake.confirmedAt(heights, FACTS_AT_ONCE) : [],
  ]);
  return { reverts, facts, confirmed };
}

/** Returns each block of the events once, in the order of the events. */
function blocksOf(events: readonly LoggedEvent[]): BlockReference[] {
  const blocks = new Map<string, BlockReference>();
  for (const { height, blockId } of events)
    if (height !== undefined && blockId !== undefined) blocks.set(blockId, { height, blockId });
  return [...blocks.values()];
}

/** Time of the evaluation per tick; one more evaluation may exceed it. */
const SLICE_MS = 10;

/**
 * Evaluates which webhooks fire for an event, before the deliveries are planned and in short slices of the event loop: conditions may
 * take long, and neither the chain nor requests may wait for them. A crash loses only verdicts, which are evaluated again.
 */
export class Verdicts {
  readonly #deps: Pick<MatcherDeps, "observer" | "logger">;
  /** Verdicts by sequence of the event, only for events after the cursor. */
  #known = new Map<number, Map<MeteredConditions, Verdict>>();
  readonly #reported = new WeakSet<MeteredConditions>();

  constructor(deps: Pick<MatcherDeps, "observer" | "logger">) {
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
