/** The subscription of a stream, and the reasons why a stream cannot be opened. */
import { isRemembered } from "../event-log/history.ts";
import { type Event, isChainFact, isRetraction, subscribedNames } from "../events/catalogue.ts";
import { CodedError } from "../platform/coded-error.ts";
import { parseJson } from "../platform/json/lossless.ts";
import { type Condition, compileConditions } from "../subscriptions/conditions/conditions.ts";
import { CostError, MeteredConditions } from "../subscriptions/conditions/cost.ts";
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
  const metered = new MeteredConditions(compileConditions(list, match));
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
    isSlow: () => metered.isSlow(),
  };
}

type StreamErrorCode =
  /** The request is not valid; the message names the part. */
  | "STREAM_INVALID"
  /** The events that the client missed are no longer available: it must read the state again. */
  | "STREAM_GONE"
  /** The patterns in the conditions of this client cost too much. */
  | "STREAM_SUSPENDED"
  /** This client has its maximum of open streams. */
  | "STREAM_LIMIT"
  /** The node serves its maximum of streams; retry later. */
  | "STREAM_FULL";

/** A stream cannot be opened. */
export class StreamError extends CodedError<StreamErrorCode> {
  constructor(code: StreamErrorCode, message: string) {
    super(code, message, { isRetryable: code === "STREAM_LIMIT" || code === "STREAM_FULL" });
  }
}
