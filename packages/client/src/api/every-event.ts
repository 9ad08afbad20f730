/** Conditions of webhooks that every event fulfils (webhooks.md W-05). */
import type { Condition } from "./resources/webhooks/register.ts";

/**
 * The condition for "every event". The content of no event has a member `always`, and `ne` is true of a missing member, also on nodes of the
 * old network.
 */
export const EVERY_EVENT = { key: "always", condition: "ne", value: "never" } as const satisfies Condition;

/** Returns true for `[EVERY_EVENT]`, and for the empty list that webhooks of old nodes can have. */
export const isEveryEvent = (conditions: readonly Condition[]): boolean =>
  conditions.every(
    ({ key, condition, value }) =>
      key === EVERY_EVENT.key && condition === EVERY_EVENT.condition && value === EVERY_EVENT.value,
  );
