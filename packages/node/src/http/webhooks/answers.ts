/** How webhooks and deliveries look from outside, and what their failures are in HTTP. */
import { parseJson } from "../../platform/json/lossless.ts";
import type { Condition } from "../../subscriptions/conditions/conditions.ts";
import { SubscriptionError } from "../../subscriptions/error.ts";
import { warningsOf } from "../../subscriptions/warnings.ts";
import type { DeliveryRecord } from "../../webhooks/deliveries.ts";
import { WebhookError } from "../../webhooks/error.ts";
import { type Failing, stateOf, type WebhookHealth } from "../../webhooks/health.ts";
import type { DeliverySummary } from "../../webhooks/log/summary.ts";
import { signingSecretOf } from "../../webhooks/model/message.ts";
import type { ReplayProgress } from "../../webhooks/model/replay.ts";
import type { Attempted } from "../../webhooks/observer.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import { checkComplexity, invalidJson } from "../core/bodies.ts";
import { HttpError } from "../core/error.ts";

/**
 * The public members of a webhook, without its token. Members beyond the interface are present only if they have a value.
 */
export const showWebhook = (
  { id, event, events, target, enabled, conditions, ...rest }: Webhook,
  { queued = 0, failing }: Partial<WebhookHealth> = {},
) => ({
  id,
  event: event ?? events[0],
  target,
  enabled,
  conditions: parseJson(conditions),
  ...(typeof rest.name === "string" && { name: rest.name }),
  ...(events.length > 0 && { events }),
  ...(rest.match !== "any" && { match: rest.match }),
  ...(rest.order !== "parallel" && { order: rest.order }),
  ...(rest.confirmations > 0 && { confirmations: rest.confirmations }),
  ...(queued > 0 && { queued }),
  ...(rest.replay && { replay: rest.replay }),
  ...(failing && { failing: showFailing(failing) }),
  ...(rest.suspended && { suspended: { reason: rest.suspended.reason, since: rest.suspended.sinceMs } }),
});

/** Probable mistakes in a webhook; absent if there are none. */
export function showWarnings({ event, events, conditions }: Webhook): {
  readonly warnings?: readonly string[];
} {
  const names = event === null ? events : [event, ...events];
  const warnings = warningsOf(names, parseJson(conditions) as Condition[]);
  return warnings.length > 0 ? { warnings } : {};
}

const showFailing = ({ sinceMs, ...failing }: Failing) => ({
  ...failing,
  ...(sinceMs !== undefined && { since: sinceMs }),
});

/** How a webhook does at present. */
export const showHealth = (webhook: Webhook, { queued, lastHour, failing }: WebhookHealth) => ({
  state: stateOf(webhook, failing ? { failing } : {}),
  queued,
  lastHour,
  ...(failing && { failing: showFailing(failing) }),
});

/** A webhook with its token, for the client that created the token; `secret` is the same for libraries of Standard Webhooks. */
export function showSecret(webhook: Webhook) {
  const { id, event, target, ...rest } = showWebhook(webhook);
  const { token, previous } = webhook.secrets;
  const secret = signingSecretOf(token);
  return { id, event, target, token, secret, ...rest, ...(previous && { overlapUntil: previous.untilMs }) };
}

/** Times are milliseconds since 1970; members without a value are left out. The body is shown where it was read. */
export const showDelivery = ({
  number,
  id,
  isUndone,
  createdMs,
  nextAttemptMs,
  finishedMs,
  attempts,
  body,
  ...rest
}: DeliveryRecord & { readonly body?: string }) => ({
  id: number,
  messageId: id,
  ...rest,
  ...(isUndone && { undone: true }),
  createdAt: createdMs,
  ...(nextAttemptMs !== undefined && { nextAttemptAt: nextAttemptMs }),
  ...(finishedMs !== undefined && { finishedAt: finishedMs }),
  attempts: attempts.map(({ startedMs, ...attempt }) => ({ startedAt: startedMs, ...attempt })),
  ...(body !== undefined && { body: parseJson(body) }),
});

/** An attempt that belongs to no delivery. */
export const showAttempt = ({ startedMs, retryAfter: _retryAfter, reason, ...attempt }: Attempted) => ({
  accepted: reason === undefined,
  startedAt: startedMs,
  ...attempt,
  ...(reason !== undefined && { reason }),
});

/** Times are milliseconds since 1970. */
export const showSummary = ({ sinceMs, oldestWaitingMs, hours, ...counts }: DeliverySummary) => ({
  ...counts,
  ...(sinceMs !== undefined && { since: sinceMs }),
  ...(oldestWaitingMs !== undefined && { oldestWaitingAt: oldestWaitingMs }),
  hours: hours.map(({ atMs, ...ended }) => ({ at: atMs, ...ended })),
});

/** Times are milliseconds since 1970. */
export const showReplay = ({
  webhook: _webhook,
  nextIndex: _nextIndex,
  lastDelivery: _lastDelivery,
  startedMs,
  finishedMs,
  ...replay
}: ReplayProgress) => ({
  ...replay,
  startedAt: startedMs,
  ...(finishedMs !== undefined && { finishedAt: finishedMs }),
});

/** Runs the work of a request; what it refuses is an `HttpError`. */
export async function answer<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WebhookError || error instanceof SubscriptionError)
      throw new HttpError(error.code, error.message);
    throw error;
  }
}

/**
 * The value of a body, of which nothing but the text is known.
 *
 * @throws {HttpError} 422
 */
export function readBody(body: unknown): unknown {
  const text = typeof body === "string" ? body : "";
  checkComplexity(text);
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidJson(error as Error);
  }
}

/** The same of a body that need not be there: then it has no members. */
export const readOptionalBody = (body: unknown): unknown =>
  body === undefined || body === null || body === "" ? {} : readBody(body);
