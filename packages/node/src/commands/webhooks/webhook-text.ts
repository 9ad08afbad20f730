/** A webhook as lines of text. */
import { type DeliverySummary, isEveryEvent, type Webhook } from "@uniknode/client";
import { table } from "../connection.ts";

export const webhookLines = (webhook: Webhook): string[] =>
  table([
    ["id", webhook.id],
    ["name", webhook.name],
    ["state", stateOf(webhook)],
    ["reason", webhook.suspended?.reason ?? webhook.failing?.reason],
    ["events", eventsOf(webhook)],
    ["target", webhook.target],
    ["conditions", conditionsText(webhook)],
    ["order", webhook.order ?? "parallel"],
    ["confirmations", webhook.confirmations],
    ["proof", webhook.proof && "in each delivery"],
    ["queued", webhook.queued],
  ]);

export const stateOf = ({ enabled, suspended, failing }: Webhook): string => {
  if (!enabled) return "paused";
  if (suspended) return "suspended";
  return failing ? "failing" : "active";
};

/** Counts attempts, not deliveries: a delivery may fail several times. */
export function lastHourOf({ lastHour: { succeeded, failed } }: DeliverySummary): string {
  const attempts = succeeded + failed;
  if (attempts === 0) return "no attempt";
  // Rounded down, so that a single failure is not shown as 100 %.
  const percent = Math.floor((succeeded / attempts) * 1_000) / 10;
  return `${percent} % of ${attempts} attempts succeeded`;
}

export const eventsOf = ({ event, events }: Webhook): string =>
  [...new Set([event, ...(events ?? [])])].join(" ");

const conditionsText = ({ conditions, match }: Webhook): string =>
  isEveryEvent(conditions)
    ? "none: every event is delivered"
    : conditions.map(conditionText).join(match === "all" ? " and " : " or ");

const conditionText = ({ key, condition, value }: Webhook["conditions"][number]): string =>
  [key, condition, ...(value === undefined ? [] : [JSON.stringify(value)])].join(" ");
