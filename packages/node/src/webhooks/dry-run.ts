/** Dry runs: which events of the last blocks a webhook would have received, and why not the others. Nothing is registered or sent. */
import { type History, isRemembered } from "../event-log/history.ts";
import type { Event } from "../events/event.ts";
import { subscribedNames } from "../events/names.ts";
import { parseJson } from "../platform/json/lossless.ts";
import {
  type Condition,
  compileConditions,
  explainConditions,
  type Finding,
} from "../subscriptions/conditions/conditions.ts";
import { CostError, createMeter, meterConditions } from "../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../subscriptions/conditions/observer.ts";
import type { Slices } from "../subscriptions/conditions/slices.ts";
import { integer, invalid, readMembers } from "../subscriptions/members.ts";
import type { Intake } from "./intake.ts";
import { checkEvents, NEW_WEBHOOK_READERS, type NewWebhook } from "./register/fields.ts";

export type DryRun = (body: unknown) => Promise<DryRunReport>;

export type DryRunReport = {
  /** First block that was read; none were read if `toHeight` is below `fromHeight`. */
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly fired: EvaluatedEvents;
  readonly notFired: EvaluatedEvents;
  /** Subscribed names whose events cannot be derived from stored blocks. */
  readonly notRemembered: readonly string[];
  /** Set if nothing fired: the reason, and what to try next. */
  readonly note?: string;
};

/** Counts all events, and lists the newest. */
export type EvaluatedEvents = { count: number; readonly events: EvaluatedEvent[] };

/** An event with the result of each condition. */
export type EvaluatedEvent = Pick<Event, "height" | "blockId" | "data"> & {
  readonly event: string;
  readonly conditions: readonly Finding[];
};

export type DryRunDeps = {
  history: History;
  readTogether: Intake["readTogether"];
  slices: Slices;
  observer: Pick<MatchingObserver, "suspended">;
};

const DEFAULT_BLOCKS = 100;
const MAX_BLOCKS = 1_000;
/** Maximum number of events to evaluate: with full blocks, the run ends before the last block. */
const MAX_EVENTS = 20_000;
/** Maximum steps of all conditions, about a second: expensive conditions end the run early. */
const MAX_STEPS = 20_000_000;
const MAX_LISTED = 20;
/** Maximum number of listed values per condition: contents may be long lists. */
const MAX_FOUND = 5;

type Body = NewWebhook & { readonly blocks: number };

const READERS = { ...NEW_WEBHOOK_READERS, blocks: integer(1, MAX_BLOCKS) };

/**
 * Creates the dry run. Its body is that of a registration, of which only events and conditions count, and the number of
 * `blocks`.
 *
 * @throws {SubscriptionError}
 * @throws {WebhookError} also if the conditions cost so much that the webhook would be suspended
 */
export function createDryRun({ history, readTogether, slices, observer }: DryRunDeps): DryRun {
  return async (body) => {
    const {
      event = null,
      events = [],
      match,
      blocks = DEFAULT_BLOCKS,
      ...rest
    } = readMembers<Body>(body, READERS);
    const names = subscribedNames(checkEvents({ event, events }));
    const conditions = parseJson(rest.conditions ?? "[]") as Condition[];
    const metered = meterConditions(compileConditions(conditions, match));
    const explain = explainConditions(conditions);

    const toHeight = history.head();
    const lowest = Math.max(1, toHeight - blocks + 1);
    const fired: EvaluatedEvents = { count: 0, events: [] };
    const notFired: EvaluatedEvents = { count: 0, events: [] };
    const canContinue = () => fired.count + notFired.count < MAX_EVENTS && metered.spentSteps() < MAX_STEPS;
    let height = toHeight;
    for (; height >= lowest && canContinue(); height--) {
      await evaluateBlock(readTogether(() => history.eventsAt(height)).reverse());
    }
    const notRemembered = [...names].flatMap(([logged, name]) => (isRemembered(logged) ? [] : [name]));
    const range = { fromHeight: height + 1, toHeight };
    const isOnlyUnremembered = notRemembered.length === names.size;
    const note = fired.count > 0 ? undefined : noteOf(range, notFired.count, isOnlyUnremembered);
    return { ...range, fired, notFired, notRemembered, ...(note !== undefined && { note }) };

    /** Evaluates events in slices, so that requests, deliveries and other subscribers run in between. */
    async function evaluateBlock(happened: readonly Event[]): Promise<void> {
      let next = 0;
      do {
        await slices.run("dry-run", metered.isSlow(), (isTimeUp) => {
          while (next < happened.length) {
            evaluateEvent(happened[next++]!);
            if (isTimeUp()) return;
          }
        });
      } while (next < happened.length);
    }

    function evaluateEvent(happened: Event): void {
      const name = names.get(happened.name);
      if (name === undefined) return;
      const verdict = metered.judge(happened.data);
      if (verdict instanceof CostError) {
        observer.suspended("dry-run");
        throw invalid(`"conditions" are too expensive: ${verdict.message}`);
      }
      add(verdict ? fired : notFired, name, happened);
    }

    function add(evaluated: EvaluatedEvents, name: string, { height, blockId, data }: Event): void {
      evaluated.count++;
      if (evaluated.events.length >= MAX_LISTED) return;
      evaluated.events.push({
        event: name,
        ...(height !== undefined && { height }),
        ...(blockId !== undefined && { blockId }),
        data,
        // Also evaluates the conditions after the first true one; the size of the patterns bounds the cost.
        conditions: explain(data, createMeter(Number.POSITIVE_INFINITY)).map((finding) => ({
          ...finding,
          found: finding.found.slice(0, MAX_FOUND),
        })),
      });
    }
  };
}

function noteOf(
  { fromHeight, toHeight }: { readonly fromHeight: number; readonly toHeight: number },
  notFired: number,
  isOnlyUnremembered: boolean,
): string {
  if (isOnlyUnremembered)
    return "These events cannot be derived from stored blocks: register the webhook to test them";
  const blocks = `the blocks ${fromHeight} to ${toHeight}`;
  if (notFired === 0)
    return `None of these events occurred in ${blocks}: raise "blocks", or choose other events`;
  const times = notFired === 1 ? "1 of these events" : `${notFired} of these events`;
  return `${times} occurred in ${blocks}, but none met the conditions: "found" in notFired shows the values`;
}
