/** Converts a webhook to a draft, and a draft to changes. */
import { isEveryEvent, type Webhook, type WebhookChanges } from "@uniknode/client";
import { type Draft, selectionOf } from "../new/draft.ts";

export const draftOfWebhook = (webhook: Webhook): Draft => ({
  name: webhook.name ?? "",
  events: [...new Set([webhook.event, ...(webhook.events ?? [])])],
  conditions: isEveryEvent(webhook.conditions)
    ? []
    : webhook.conditions.map(({ key, condition, value = "" }) => ({
        key,
        condition,
        value: typeof value === "string" ? value : JSON.stringify(value),
      })),
  match: webhook.match ?? "any",
  target: webhook.target,
  order: webhook.order ?? "parallel",
  confirmations: webhook.confirmations ?? 0,
  proof: webhook.proof ?? false,
});

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Returns the changed members only, so that numeric values stay numbers. */
export function changesOf(before: Draft, after: Draft): WebhookChanges {
  const { name, events, conditions, match, target, order, confirmations, proof } = after;
  // A webhook can have an event beside its "events": without a name in the draft, none may remain.
  const event = events.find((name) => !name.includes("*")) ?? null;
  return {
    ...(name !== before.name && { name: name.trim() === "" ? null : name.trim() }),
    ...(!isSame(events, before.events) && { events, event }),
    ...(!isSame(conditions, before.conditions) && { conditions: selectionOf(after).conditions }),
    ...(match !== before.match && { match }),
    ...(target !== before.target && { target: target.trim() }),
    ...(order !== before.order && { order }),
    ...(confirmations !== before.confirmations && { confirmations }),
    ...(proof !== before.proof && { proof }),
  };
}
