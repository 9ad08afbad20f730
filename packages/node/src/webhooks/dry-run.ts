/**
 * Dry runs: lists events of the latest blocks that a webhook would have received, and explains why it would not have
 * received others. Nothing is registered or sent.
 */
import { type History, isRemembered } from "../event-log/history.ts";
import { type Event, subscribedNames } from "../events/catalogue.ts";
import { parseJson } from "../platform/json/lossless.ts";
import {
  type Condition,
  compileConditions,
  explainConditions,
  type Finding,
} from "../subscriptions/conditions/conditions.ts";
import { CostError, Meter, MeteredConditions } from "../subscriptions/conditions/cost.ts";
import type { MatchingObserver, Slices } from "../subscriptions/conditions/slices.ts";
import { integer, invalid, readMembers } from "../subscriptions/fields.ts";
import { warningsOf } from "../subscriptions/warnings.ts";
import { checkEvents } from "./model/webhook.ts";
import { NEW_WEBHOOK_READERS, type NewWebhook, requiredConditions } from "./register/fields.ts";

export type DryRunReport = {
  /** First block that was read; none were read if `toHeight` is below `fromHeight`. */
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly fired: EvaluatedEvents;
  readonly notFired: EvaluatedEvents;
  /** Subscribed names whose events cannot be derived from stored blocks. */
  readonly notRemembered: readonly string[];
  /** Set if nothing fired: the reason, and the next step. */
  readonly note?: string;
  /** Probable mistakes in the conditions; absent if there are none. */
  readonly warnings?: readonly string[];
};

/** Counts all events, and lists the newest. */
type EvaluatedEvents = { count: number; readonly events: EvaluatedEvent[] };

type EvaluatedEvent = Pick<Event, "height" | "blockId" | "data"> & {
  readonly event: string;
  readonly conditions: readonly Finding[];
};

type DryRunDeps = {
  history: History;
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
 * Evaluates the latest blocks. The body is that of a registration, of which only events and conditions count, and the number of
 * `blocks`.
 *
 * @throws {SubscriptionError}
 * @throws {WebhookError} also if the conditions cost so much that the webhook would be suspended
 */
export async function dryRun(deps: DryRunDeps, body: unknown): Promise<DryRunReport> {
  const { history } = deps;
  const { blocks, ...run } = startRun(body);
  const { names, metered, fired, notFired, warnings } = run;
  const toHeight = await history.head();
  const lowest = Math.max(1, toHeight - blocks + 1);
  const canContinue = () => fired.count + notFired.count < MAX_EVENTS && metered.spentSteps() < MAX_STEPS;
  let height = toHeight;
  for (; height >= lowest && canContinue(); height--) {
    await evaluateBlock(deps, run, (await history.eventsAt(height)).toReversed());
  }
  const notRemembered = [...names].flatMap(([logged, name]) => (isRemembered(logged) ? [] : [name]));
  const range = { fromHeight: height + 1, toHeight };
  const isOnlyUnremembered = notRemembered.length === names.size;
  const note = fired.count > 0 ? undefined : noteOf(range, notFired.count, isOnlyUnremembered);
  return {
    ...{ ...range, fired, notFired, notRemembered },
    ...(note !== undefined && { note }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** State of a dry run: its selection, and the events evaluated so far. */
type Run = {
  /** Subscribed names by the names in the log. */
  readonly names: ReturnType<typeof subscribedNames>;
  readonly metered: MeteredConditions;
  readonly explain: ReturnType<typeof explainConditions>;
  readonly fired: EvaluatedEvents;
  readonly notFired: EvaluatedEvents;
  readonly warnings: readonly string[];
};

function startRun(body: unknown): Run & { readonly blocks: number } {
  const given = readMembers<Body>(body, READERS);
  const { event = null, events = [], match, blocks = DEFAULT_BLOCKS } = given;
  const subscribed = checkEvents({ event, events });
  const conditions = parseJson(requiredConditions(given.conditions)) as Condition[];
  return {
    names: subscribedNames(subscribed),
    warnings: warningsOf(subscribed, conditions),
    metered: new MeteredConditions(compileConditions(conditions, match)),
    explain: explainConditions(conditions),
    fired: { count: 0, events: [] },
    notFired: { count: 0, events: [] },
    blocks,
  };
}

/** Evaluates events in slices, so that requests, deliveries and other subscribers run in between. */
async function evaluateBlock(
  { slices, observer }: DryRunDeps,
  run: Run,
  happened: readonly Event[],
): Promise<void> {
  let next = 0;
  do {
    await slices.run("dry-run", run.metered.isSlow(), (isTimeUp) => {
      while (next < happened.length) {
        const event = happened[next++];
        if (event) evaluateEvent(observer, run, event);
        if (isTimeUp()) return;
      }
    });
  } while (next < happened.length);
}

function evaluateEvent(observer: DryRunDeps["observer"], run: Run, happened: Event): void {
  const { names, metered, fired, notFired } = run;
  const name = names.get(happened.name);
  if (name === undefined) return;
  const verdict = metered.judge(happened.data);
  if (verdict instanceof CostError) {
    observer.suspended("dry-run");
    throw invalid(`"conditions" are too expensive: ${verdict.message}`);
  }
  const evaluated = verdict ? fired : notFired;
  evaluated.count++;
  if (evaluated.events.length < MAX_LISTED) evaluated.events.push(explainEvent(run, name, happened));
}

function explainEvent({ explain }: Run, name: string, { height, blockId, data }: Event): EvaluatedEvent {
  return {
    event: name,
    ...(height !== undefined && { height }),
    ...(blockId !== undefined && { blockId }),
    data,
    // Also evaluates the conditions after the first true one; the size of the patterns bounds the cost.
    conditions: explain(data, new Meter(Number.POSITIVE_INFINITY)).map((finding) => ({
      ...finding,
      found: finding.found.slice(0, MAX_FOUND),
    })),
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
