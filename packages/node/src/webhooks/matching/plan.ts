/**
 * Plans a step of matching: the commands that follow from its events. The plan is a pure function of the events, their
 * subscribers and what was read before.
 */

import { isChainFact, type LoggedEvent, retractedNameOf } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { Fit } from "../../subscriptions/content.ts";
import { type Confirmed, type IntakeCommand, STEP_SIZE, type StepSize } from "../intake.ts";
import type { DeliveredFact, TimedContent } from "../model/deliveries.ts";
import type { Subscriber } from "./definitions.ts";
import {
  draftDelivery,
  draftRetraction,
  type MatchedEvent,
  type OrderedEvent,
  retractedId,
} from "./drafts.ts";

/** Maximum number of retracted facts per step, and of confirmed events. */
export const FACTS_AT_ONCE = 100;

export type StepReads = {
  /** Number of reverts before the step, by block. */
  readonly reverts: ReadonlyMap<string, number>;
  /** Delivered facts of the blocks that the step reverts, block by block. */
  readonly facts: readonly DeliveredFact[];
  /** Events that blocks of the step confirm, by height. */
  readonly confirmed: readonly Confirmed[];
};

export type PlanInput = {
  readonly network: string;
  readonly events: readonly LoggedEvent[];
  readonly reads: StepReads;
  /** Returns the subscribers of an event by ascending id. */
  readonly subscribers: (event: LoggedEvent) => readonly JudgedSubscriber[];
  /** Progress of the last step, possibly for webhooks of other shards. */
  readonly reached: Reached | undefined;
  readonly fit: Fit;
  /** Default: `STEP_SIZE`. */
  readonly size?: StepSize | undefined;
};

export type JudgedSubscriber = Subscriber & { readonly verdict: Verdict };

/**
 * An event that was planned for some of its webhooks. They are named one by one: a worker matches shards at different
 * positions, so that the next step can have the same event for other webhooks.
 */
export type Reached = { readonly sequence: number; readonly webhooks: ReadonlySet<number> };

export type Plan = {
  readonly commands: readonly IntakeCommand[];
  /** Sequence of the last event that was planned completely; absent if the first event needs a further step. */
  readonly matched?: number;
  /** Point at which the next step continues its first event; absent after a complete event. */
  readonly reached: Reached | undefined;
  readonly isFinished: boolean;
};

type State = PlanInput & {
  readonly commands: IntakeCommand[];
  readonly webhooks: Set<number>;
  /** Webhooks that the step suspends: they receive nothing more. */
  readonly suspended: Set<number>;
  /** Number of reverts in this step, by block. */
  readonly reverts: Map<string, number>;
  /** Blocks whose facts are retracted. */
  readonly retracted: Set<string>;
  facts: number;
  /** Lowest height that confirms an event which the step defers. */
  dueHeight: number;
  matched: number | undefined;
  reached: Reached | undefined;
};

export function planStep(input: PlanInput): Plan {
  const state: State = {
    ...input,
    commands: [],
    webhooks: new Set(),
    suspended: new Set(),
    reverts: new Map(),
    retracted: new Set(),
    facts: 0,
    dueHeight: Number.POSITIVE_INFINITY,
    matched: undefined,
  };
  const isFinished = planEvents(state);
  const { commands, matched, reached } = state;
  return { commands, ...(matched !== undefined && { matched }), reached, isFinished };
}

function planEvents(state: State): boolean {
  // Confirmed facts are older than the events of this step.
  for (const height of heightBefore(state.events)) if (!planConfirmed(state, height)) return false;
  for (const event of state.events) {
    // An event with too much work is continued in the next step, and the cursor stays before it.
    if (isOver(state) || !planEvent(state, event)) return false;
    state.matched = event.sequence;
    state.reached = undefined;
  }
  return true;
}

/**
 * Returns the height below the first applied block of a step. Facts that it confirms are delivered first: only a webhook with fewer
 * confirmations than before, or one that was inactive, has any. Other events have heights that a peer can choose.
 */
export function heightBefore(events: readonly LoggedEvent[]): readonly number[] {
  const fact = events.find(
    // A final block is far below the head.
    ({ name, reverts }) => isChainFact(name) && name !== "block.finalized" && reverts === undefined,
  );
  return fact?.height === undefined ? [] : [fact.height - 1];
}

const isOver = ({ commands, webhooks, size = STEP_SIZE }: State): boolean =>
  commands.length >= size.commands || webhooks.size >= size.webhooks;

/** Plans an event; returns `false` if it needs a further step. */
function planEvent(state: State, event: LoggedEvent): boolean {
  const { name, height, blockId, sequence } = event;
  const isApplied = name === "block.applied" && height !== undefined;
  // The reads of this step do not contain what it defers.
  if (isApplied && state.dueHeight <= height) return false;
  // Must precede any other event of this block or of its replacement.
  if (event.reverts !== undefined && !planRetractions(state, event)) return false;
  if (!planDeliveries(state, event)) return false;
  if (name === "block.reverted" && blockId !== undefined) {
    state.reverts.set(blockId, (state.reverts.get(blockId) ?? 0) + 1);
    state.commands.push({ kind: "revert", blockId, sequence });
  }
  return !isApplied || planConfirmed(state, height);
}

/** Retracts the delivered facts of a reverted block; returns `false` if some remain. */
function planRetractions(state: State, { height, blockId }: LoggedEvent): boolean {
  const { network, reads, commands, retracted } = state;
  if (height === undefined || blockId === undefined || retracted.has(blockId)) return true;
  for (const fact of reads.facts.filter((fact) => fact.blockId === blockId)) {
    const retraction = fact.hasSameTarget ? draftRetraction(network, fact) : undefined;
    const { number, webhook } = fact;
    add(state, webhook, { kind: "retract", number, webhook, ...(retraction && { retraction }) });
    state.facts++;
  }
  if (state.facts >= FACTS_AT_ONCE) return false;
  retracted.add(blockId);
  commands.push({ kind: "drop", block: { height, blockId } });
  return true;
}

/** Plans the deliveries of an event and its deferrals; returns `false` if they exceed the step. */
function planDeliveries(state: State, event: LoggedEvent): boolean {
  const { sequence, blockId } = event;
  const webhooks = new Set(state.reached?.sequence === sequence ? state.reached.webhooks : []);
  state.reached = { sequence, webhooks };
  const message = {
    event,
    logSequence: sequence,
    timesReverted: blockId === undefined ? 0 : timesReverted(state, blockId),
    ...createContent(event, state.fit),
  };
  for (const subscriber of state.subscribers(event)) {
    const { id: webhook } = subscriber.definition;
    if (webhooks.has(webhook) || state.suspended.has(webhook)) continue;
    if (isOver(state)) return false;
    const command = planSubscriber(state, message, subscriber);
    if (command) add(state, webhook, command);
    webhooks.add(webhook);
  }
  return true;
}

const timesReverted = ({ reads, reverts }: State, blockId: string): number =>
  (reads.reverts.get(blockId) ?? 0) + (reverts.get(blockId) ?? 0);

type Message = OrderedEvent & {
  readonly dataText: () => string | undefined;
  readonly content: () => TimedContent;
};

/** Creates the content of an event at its first use: all deliveries of the event share it. */
function createContent(
  { name, data, createdMs, timeMs = createdMs }: LoggedEvent,
  fit: Fit,
): Pick<Message, "dataText" | "content"> {
  let text: string | undefined;
  let content: TimedContent | undefined;
  const dataText = () => {
    text ??= data === undefined ? undefined : JSON.stringify(data);
    return text;
  };
  return {
    dataText,
    content() {
      content ??= { ...fit(name, dataText()), timeMs };
      return content;
    },
  };
}

/** Plans an event for one webhook; returns undefined if the webhook does not receive it. */
function planSubscriber(
  state: State,
  message: Message,
  { definition: { id: webhook, confirmations, names }, name, verdict }: JudgedSubscriber,
): IntakeCommand | undefined {
  if (verdict instanceof CostError) {
    state.suspended.add(webhook);
    return { kind: "suspend", webhook, reason: verdict.message };
  }
  if (!verdict) return undefined;
  const { event, logSequence, timesReverted } = message;
  const matched = { webhook, name, event, logSequence, timesReverted };
  const isImmediate = confirmations === 0 || !isChainFact(event.name);
  const retracted = isImmediate ? undefined : retractedId(state.network, webhook, message);
  if (!isImmediate && retracted === undefined) return planDeferral(state, matched, message, confirmations);
  const delivery = draftDelivery(state.network, matched, message.content());
  // A fact that the webhook waits for, and that was never delivered, needs no retraction.
  const requires = names.has(retractedNameOf(event.name)) ? retracted : undefined;
  return { kind: "enqueue", delivery: requires === undefined ? delivery : { ...delivery, requires } };
}

function planDeferral(
  state: State,
  { webhook, name, logSequence, event }: MatchedEvent,
  { dataText }: Message,
  confirmations: number,
): IntakeCommand {
  const height = present(event.height, "the height of a fact");
  const blockId = present(event.blockId, "the block of a fact");
  state.dueHeight = Math.min(state.dueHeight, height + confirmations);
  const { id, name: eventName, timeMs } = event;
  const deferred = { ...{ id, name: eventName, height, blockId }, ...(timeMs !== undefined && { timeMs }) };
  return { kind: "defer", event: { webhook, logSequence, name, event: deferred, dataText: dataText() } };
}

/** Delivers the facts that a height confirms; returns `false` if some remain. */
function planConfirmed(state: State, height: number): boolean {
  const { network, fit, reads, suspended } = state;
  const events = reads.confirmed.find((confirmed) => confirmed.height === height)?.events ?? [];
  for (const { dataText, ...matched } of events) {
    const { webhook, logSequence, event } = matched;
    if (suspended.has(webhook)) continue;
    const content = { ...fit(event.name, dataText), timeMs: event.timeMs };
    const delivery = draftDelivery(network, matched, content);
    add(state, webhook, { kind: "confirm", logSequence, delivery });
  }
  state.facts += events.length;
  return state.facts < FACTS_AT_ONCE;
}

function add({ commands, webhooks }: State, webhook: number, command: IntakeCommand): void {
  commands.push(command);
  webhooks.add(webhook);
}
