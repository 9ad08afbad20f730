/** The subscription of a stream. */
import { isRemembered } from "../event-log/history.ts";
import { isChainFact, isRetraction, subscribedNames } from "../events/catalogue.ts";
import type { Event } from "../events/event.ts";
import { parseJson } from "../platform/json/lossless.ts";
import { type Condition, compileConditions } from "../subscriptions/conditions/conditions.ts";
import { CostError, meterConditions } from "../subscriptions/conditions/cost.ts";
import { readMembers, SUBSCRIPTION_READERS } from "../subscriptions/fields.ts";

export type Subscription = {
  /** Names in the event log. */
  readonly names: readonly string[];
  /** True if all of these events can be derived from stored blocks. */
  readonly isRemembered: boolean;
  /** True if the conditions have patterns, which cost the node more than the client. */
  readonly hasPatterns: boolean;
  /** True if the subscription has conditions; without them, matching costs nothing. */
  readonly hasConditions: boolean;
  /**
   * Returns the name of the event for this client; undefined if the client is not subscribed to the event. Returns an error
   * if the conditions cost too much: the stream must then be closed.
   */
  nameOf(event: Event): string | CostError | undefined;
  /** Returns whether this stream is deprioritised. */
  isSlow(): boolean;
};

/** Sent to every subscriber of a fact of the chain: it retracts the facts of the block. */
const REVERTED = "block.reverted";

const { events, conditions, match } = SUBSCRIPTION_READERS;
const READERS = { events, conditions, match };

/**
 * Reads names, patterns and conditions as in the register of webhooks; without conditions, every event is sent.
 *
 * @throws {SubscriptionError}
 */
export function readSubscription(given: Readonly<Record<string, unknown>>): Subscription {
  const { events = ["*"], conditions, match } = readMembers(given, READERS);
  const subscribed = subscribedNames(events);
  const names = new Set(subscribed.keys());
  if ([...names].some(isChainFact)) names.add(REVERTED);
  const list = conditions === undefined ? [] : (parseJson(conditions) as Condition[]);
  // An empty list always holds.
  const metered = meterConditions(compileConditions(list, match));
  return {
    names: [...names],
    isRemembered: [...names].every((name) => isRemembered(name) || isRetraction(name)),
    hasPatterns: list.some(({ condition }) => condition === "regexp"),
    hasConditions: list.length > 0,
    nameOf({ name, data }) {
      if (!names.has(name)) return undefined;
      if (name === REVERTED) return REVERTED;
      const verdict = metered.judge(data);
      if (verdict instanceof CostError) return verdict;
      return verdict ? subscribed.get(name) : undefined;
    },
    isSlow: metered.isSlow,
  };
}
