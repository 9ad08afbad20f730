/**
 * Moves events from the log to the queues. Deliveries are written and the cursor moves in one transaction: even if the
 * process dies, each event is matched once, and no delivery is lost or repeated with another id.
 */
import { isChainFact } from "../../events/catalogue.ts";
import type { LoggedEvent } from "../../events/event.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Intake } from "../intake.ts";
import type { Confirmations } from "./confirmations.ts";
import type { Definitions, Subscriber } from "./definitions.ts";
import type { Outbox, Shared } from "./outbox.ts";
import type { Retract } from "./retract.ts";
import type { Verdicts } from "./verdicts.ts";

/**
 * Maximum number of events per step, so that the chain does not wait long for the write lock, nor requests for this
 * thread.
 */
const EVENTS_AT_ONCE = 50;
/** Maximum number of webhooks per step, each of which starts calls, and of retracted or confirmed deliveries. */
const WEBHOOKS_AT_ONCE = 100;
/** Maximum number of deliveries per step to few webhooks: more deliveries share the cost of a commit. */
const DELIVERIES_AT_ONCE = 500;

export type MatcherDeps = {
  intake: Pick<Intake, "transaction" | "events" | "deliveries" | "blockReverts">;
  definitions: Pick<Definitions, "forEvent">;
  verdicts: Verdicts;
  retract: Retract;
  confirmations: Confirmations;
  outbox: Outbox;
  suspend: Intake["suspend"];
  observer: Pick<MatchingObserver, "suspended">;
  nowMs: () => number;
};

export type Matched = {
  /** Webhooks with changed queues. */
  readonly webhooks: ReadonlySet<number>;
  /** True if further events are waiting. */
  readonly more: boolean;
};

/** An event that was handled for its webhooks up to an id. */
type Reached = { readonly sequence: number; readonly webhook: number };

/** Progress of one step. */
type Step = {
  /** Webhook of each written delivery. */
  readonly written: number[];
  /** Point at which the next step continues the event after the cursor. */
  reached: Reached | undefined;
};

const isOver = ({ written }: Step): boolean =>
  written.length >= DELIVERIES_AT_ONCE ||
  (written.length >= WEBHOOKS_AT_ONCE && new Set(written).size >= WEBHOOKS_AT_ONCE);

/** Creates the step function, which handles the next events after the cursor, if any. */
export function createMatcher(deps: MatcherDeps): () => Promise<Matched> {
  const { intake, verdicts } = deps;
  /** Progress at the last commit. After a crash, webhooks that already have their delivery are found by its id. */
  let reached: Reached | undefined;
  return async () => {
    const events = intake.events.next(EVENTS_AT_ONCE);
    if (events.length === 0) return { webhooks: new Set(), more: false };
    const finished = events.slice(0, verdicts.find(events));
    const more = finished.length < events.length || events.length === EVENTS_AT_ONCE;
    if (finished.length === 0) return { webhooks: new Set(), more };
    const step: Step = { written: [], reached };
    const isFinished = await intake.transaction(() => match(deps, finished, step));
    reached = step.reached;
    return { webhooks: new Set(step.written), more: more || !isFinished };
  };
}

/** Handles events; returns whether all were handled. */
function match(deps: MatcherDeps, events: readonly LoggedEvent[], step: Step): boolean {
  let previous: LoggedEvent | undefined;
  for (const event of events) {
    // An event with too much work is continued in the next step, and the cursor stays before it.
    if (isOver(step) || !handle(deps, event, previous, step)) return false;
    deps.intake.events.moveTo(event.sequence);
    previous = event;
  }
  return true;
}

/** Handles an event; returns `false` if it needs more than one step. */
function handle(
  deps: MatcherDeps,
  event: LoggedEvent,
  previous: LoggedEvent | undefined,
  step: Step,
): boolean {
  const { definitions, verdicts, intake } = deps;
  const isRetracting = previous?.reverts !== undefined && previous.blockId === event.blockId;
  // Must precede any other event of this block or of its replacement.
  if (event.reverts !== undefined && !isRetracting && !retractBlock(deps, event, step)) return false;
  const subscribers = definitions
    .forEvent(event)
    .filter(({ definition }) => event.sequence > definition.activeAfter)
    .map((subscriber) => ({ ...subscriber, verdict: verdicts.of(event, subscriber.definition) }));
  // Another process wrote the register meanwhile.
  if (subscribers.some(({ verdict }) => verdict === undefined)) return false;
  if (!notify(deps, event, subscribers, step)) return false;
  const { name, height, blockId, sequence } = event;
  if (name === "block.reverted" && blockId !== undefined) intake.blockReverts.record(blockId, sequence);
  return name !== "block.applied" || height === undefined || releaseConfirmed(deps, height, step);
}

/** Retracts the delivered facts of a reverted block; returns `false` if some remain. */
function retractBlock({ retract, confirmations }: MatcherDeps, event: LoggedEvent, step: Step): boolean {
  const { webhooks, more } = retract(event, WEBHOOKS_AT_ONCE);
  step.written.push(...webhooks);
  if (more) return false;
  confirmations.drop(event);
  return true;
}

/** Delivers the facts that a height confirms; returns `false` if some remain. */
function releaseConfirmed({ confirmations }: MatcherDeps, height: number, step: Step): boolean {
  const released = confirmations.release(height, WEBHOOKS_AT_ONCE);
  step.written.push(...released);
  return released.length < WEBHOOKS_AT_ONCE;
}

/** Content of an event: as a row that its deliveries share, and as JSON, each created at its first use. */
type EventContent = { readonly shared: Shared; readonly dataText: () => string | undefined };

type Judged = Subscriber & { readonly verdict: Verdict | undefined };

/** Writes the deliveries and the deferred facts; returns `false` if they exceed one step. */
function notify(deps: MatcherDeps, event: LoggedEvent, subscribers: readonly Judged[], step: Step): boolean {
  let text: string | undefined;
  const dataText = () => {
    text ??= event.data === undefined ? undefined : JSON.stringify(event.data);
    return text;
  };
  const content = { shared: deps.outbox.share(event.name, dataText), dataText };
  const { sequence } = event;
  const upTo = step.reached?.sequence === sequence ? step.reached.webhook : -1;
  for (const subscriber of subscribers) {
    const { id: webhook } = subscriber.definition;
    if (webhook <= upTo) continue;
    if (isOver(step)) return false;
    if (write(deps, event, subscriber, content)) step.written.push(webhook);
    step.reached = { sequence, webhook };
  }
  return true;
}

/** Writes for one webhook; returns whether anything was written. */
function write(
  deps: MatcherDeps,
  event: LoggedEvent,
  { definition, name, verdict }: Judged,
  { shared, dataText }: EventContent,
): boolean {
  const { intake, confirmations, outbox } = deps;
  const { id: webhook } = definition;
  if (verdict instanceof CostError) {
    deps.suspend(webhook, verdict.message, deps.nowMs());
    deps.observer.suspended("webhook");
    return true;
  }
  if (!verdict) return false;
  const matched = { webhook, name, event, logSequence: event.sequence };
  if (definition.confirmations > 0 && isChainFact(event.name)) {
    const retracted = outbox.retractedBy(event, webhook, event.sequence);
    if (retracted === undefined)
      return confirmations.defer({ ...matched, dataText: dataText() }, definition.confirmations);
    // A fact that was never delivered needs no retraction.
    if (!intake.deliveries.has(webhook, retracted)) return false;
  }
  return outbox.put({ ...matched, content: shared });
}
