/** What a reader of the stream asks for. */
import { isRemembered } from "../event-log/history.ts";
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import type { Event } from "../events/event.ts";
import { subscribedNames } from "../events/names.ts";
import { parseJson } from "../platform/json/lossless.ts";
import { type Condition, compileConditions } from "../subscriptions/conditions/conditions.ts";
import { CostError, meterConditions } from "../subscriptions/conditions/cost.ts";
import { SUBSCRIPTION_READERS } from "../subscriptions/fields.ts";
import { readMembers } from "../subscriptions/members.ts";

export type Subscription = {
  /** Names in the event log. */
  readonly names: readonly string[];
  /** Whether all of it can be told from stored blocks. */
  readonly isRemembered: boolean;
  /** Whether there are patterns to match, which cost the node more than the client. */
  readonly hasPatterns: boolean;
  /** Without any, matching takes no time. */
  readonly hasConditions: boolean;
  /**
   * How the reader calls the event; undefined when it is not subscribed to it. An error when the conditions cost too much:
   * the stream is to be closed.
   */
  nameOf(event: Event): string | CostError | undefined;
  /** Whether other streams go first. */
  isSlow(): boolean;
};

/** Undone blocks are told to everybody who hears of the chain: only so can they know what is not true any more. */
const UNDONE = "block.reverted";

const { events, conditions, match } = SUBSCRIPTION_READERS;
const READERS = { events, conditions, match };

/**
 * Names, patterns and conditions as in the register of webhooks; without conditions, every event is told.
 *
 * @throws {WebhookError} WEBHOOK_INVALID
 */
export function readSubscription(given: Readonly<Record<string, unknown>>): Subscription {
  const { events = ["*"], conditions, match } = readMembers(given, READERS);
  const called = subscribedNames(events);
  const names = new Set(called.keys());
  if ([...names].some(isChainFact)) names.add(UNDONE);
  const list = conditions === undefined ? [] : (parseJson(conditions) as Condition[]);
  // Without any condition, "all" of them hold as well.
  const metered = meterConditions(compileConditions(list, match));
  return {
    names: [...names],
    isRemembered: [...names].every((name) => isRemembered(name) || isRetraction(name)),
    hasPatterns: list.some(({ condition }) => condition === "regexp"),
    hasConditions: list.length > 0,
    nameOf({ name, data }) {
      if (!names.has(name)) return undefined;
      if (name === UNDONE) return UNDONE;
      const verdict = metered.judge(data);
      if (verdict instanceof CostError) return verdict;
      return verdict ? called.get(name) : undefined;
    },
    isSlow: metered.isSlow,
  };
}
