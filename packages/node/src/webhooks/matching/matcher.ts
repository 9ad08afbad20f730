/**
 * From the event log to the queues. Deliveries are written and the cursor moves in one transaction: whenever the
 * process dies, each event is matched once, and no delivery is lost or comes twice with another id.
 */
import { isChainFact } from "../../events/catalogue.ts";
import type { LoggedEvent } from "../../events/event.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/observer.ts";
import type { Suspend } from "../suspension.ts";
import type { Confirmations } from "./confirmations.ts";
import type { Definitions, Subscriber } from "./definitions.ts";
import type { Intake } from "./intake.ts";
import type { Outbox, Shared } from "./outbox.ts";
import type { Retract } from "./retract.ts";
import type { Verdicts } from "./verdicts.ts";

/** Work of one step: short enough that the chain does not wait for the writer. */
const EVENTS_AT_ONCE = 50;
const DELIVERIES_AT_ONCE = 250;

export type MatcherDeps = {
  intake: Pick<Intake, "transaction" | "events" | "deliveries" | "blockReverts">;
  definitions: Pick<Definitions, "forEvent">;
  verdicts: Verdicts;
  retract: Retract;
  confirmations: Confirmations;
  outbox: Outbox;
  suspend: Suspend;
  observer: Pick<MatchingObserver, "suspended">;
  nowMs: () => number;
};

export type Matched = {
  /** Webhooks whose queues have changed. */
  readonly webhooks: ReadonlySet<number>;
  /** Whether further events wait. */
  readonly more: boolean;
};

/** A step handles the next events behind the cursor, if there are any. */
export function createMatcher(deps: MatcherDeps): () => Promise<Matched> {
  const { intake, definitions, verdicts, retract, confirmations, outbox } = deps;

  return async () => {
    const events = intake.events.next(EVENTS_AT_ONCE);
    if (events.length === 0) return { webhooks: new Set(), more: false };
    const finished = events.slice(0, verdicts.find(events));
    const more = finished.length < events.length || events.length === EVENTS_AT_ONCE;
    if (finished.length === 0) return { webhooks: new Set(), more };
    return intake.transaction(() => match(finished, more));
  };

  function match(events: readonly LoggedEvent[], more: boolean): Matched {
    const written: number[] = [];
    let previous: LoggedEvent | undefined;
    for (const event of events) {
      // An event of which too much follows is handled again in the next step, and the cursor stays before it.
      if (!handle(event, previous, written)) return { webhooks: new Set(written), more: true };
      intake.events.moveTo(event.sequence);
      previous = event;
    }
    return { webhooks: new Set(written), more };
  }

  /** Adds a webhook for each delivery. `false`: there is more to do than one step may. */
  function handle(event: LoggedEvent, previous: LoggedEvent | undefined, written: number[]): boolean {
    if (written.length >= DELIVERIES_AT_ONCE) return false;
    const isRetracting = previous?.reverts !== undefined && previous.blockId === event.blockId;
    if (event.reverts !== undefined && !isRetracting) {
      // Before any other event of this block, or of the one that replaces it.
      const { webhooks, more } = retract(event, DELIVERIES_AT_ONCE);
      written.push(...webhooks);
      if (more) return false;
      confirmations.drop(event);
    }
    const subscribers = definitions
      .forEvent(event)
      .filter(({ definition }) => event.sequence > definition.activeAfter)
      .map((subscriber) => ({ ...subscriber, verdict: verdicts.of(event, subscriber.definition) }));
    // Another process wrote the register meanwhile.
    if (subscribers.some(({ verdict }) => verdict === undefined)) return false;
    if (!notify(event, subscribers, written)) return false;
    if (event.name === "block.reverted") intake.blockReverts.record(event.blockId!, event.sequence);
    if (event.name !== "block.applied") return true;
    const released = confirmations.release(event.height!, DELIVERIES_AT_ONCE);
    written.push(...released);
    return released.length < DELIVERIES_AT_ONCE;
  }

  /**
   * Adds a webhook for each delivery, and for each deferred fact. `false`: there are more than one step may write. The
   * next step skips those that have it already.
   */
  function notify(event: LoggedEvent, subscribers: readonly Judged[], written: number[]): boolean {
    let text: string | undefined;
    const dataText = () => {
      text ??= event.data === undefined ? undefined : JSON.stringify(event.data);
      return text;
    };
    const content = outbox.share(event.name, dataText);
    for (const subscriber of subscribers) {
      if (written.length >= DELIVERIES_AT_ONCE) return false;
      if (write(event, subscriber, content, dataText)) written.push(subscriber.definition.id);
    }
    return true;
  }

  /** Whether anything was written for the webhook. */
  function write(
    event: LoggedEvent,
    { definition, name, verdict }: Judged,
    content: Shared,
    dataText: () => string | undefined,
  ): boolean {
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
    return outbox.put({ ...matched, content });
  }
}

type Judged = Subscriber & { readonly verdict: Verdict | undefined };
