/** Webhooks, deliveries and their errors in HTTP responses. */
import type { FastifyReply } from "fastify";
import { parseJson } from "../../platform/json/lossless.ts";
import type { Condition } from "../../subscriptions/conditions/conditions.ts";
import { SubscriptionError } from "../../subscriptions/subscription-error.ts";
import { warningsOf } from "../../subscriptions/warnings.ts";
import type { Attempted } from "../../webhooks/collaborators.ts";
import type { DeliverySummary } from "../../webhooks/delivery-log/delivery-log.ts";
import { WebhookError } from "../../webhooks/error.ts";
import type { DeliveryRecord } from "../../webhooks/model/deliveries.ts";
import { signingSecretOf } from "../../webhooks/model/message.ts";
import type { ReplayProgress } from "../../webhooks/model/replay.ts";
import type { Webhook } from "../../webhooks/model/webhook.ts";
import { type Failing, stateOf, type WebhookHealth } from "../../webhooks/storage/health.ts";
import { checkComplexity, invalidJson } from "../core/bodies.ts";
import { HttpError } from "../core/error.ts";

/**
 * Returns the definition of a webhook, without its token. Members beyond the interface are omitted unless the webhook was registered
 * with them.
 */
export const showWebhook = ({ id, event, events, target, enabled, conditions, ...rest }: Webhook) => ({
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
  ...(rest.proof && { proof: true }),
});

/** Returns a webhook with the members that it has only in certain states; the interface does not have them. */
export const showWithHealth = (webhook: Webhook, { queued, failing }: WebhookHealth) => ({
  ...showWebhook(webhook),
  ...(queued > 0 && { queued }),
  ...(webhook.replay && { replay: webhook.replay }),
  ...(failing && { failing: showFailing(failing) }),
  ...(webhook.suspended && {
    suspended: { reason: webhook.suspended.reason, since: webhook.suspended.sinceMs },
  }),
});

/** Header with the probable mistakes in a webhook: the bodies of its responses are those of the interface. */
export const WARNINGS_HEADER = "webhook-warnings";
/** Maximum length of the header: proxies buffer 4 KiB of all headers of a response. */
const MAX_WARNINGS_BYTES = 2_048;
const MORE = "there are more warnings: POST /api/v2/webhooks/test lists all";

/** Sets the header if there are probable mistakes. */
export function addWarnings(
  reply: FastifyReply,
  { event, events, conditions }: Webhook,
  twin?: number | undefined,
): void {
  const names = event === null ? events : [event, ...events];
  const warnings = warningsOf(names, parseJson(conditions) as Condition[]);
  if (twin !== undefined) {
    warnings.push(
      `webhook ${twin} has the same target, events and conditions: the target receives them twice`,
    );
  }
  if (warnings.length === 0) return;
  reply.header(WARNINGS_HEADER, warningsText(warnings));
}

/** Returns as many warnings as the header can contain, as a JSON list in ASCII. */
function warningsText(warnings: readonly string[]): string {
  const fitting = warnings.findLastIndex(
    (_, index) => headerText(shortened(warnings, index + 1)).length <= MAX_WARNINGS_BYTES,
  );
  return headerText(shortened(warnings, fitting + 1));
}

const shortened = (warnings: readonly string[], count: number): readonly string[] =>
  count === warnings.length ? warnings : [...warnings.slice(0, count), MORE];

const headerText = (warnings: readonly string[]): string =>
  JSON.stringify(warnings).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const showFailing = ({ sinceMs, nextAttemptMs, ...failing }: Failing) => ({
  ...failing,
  ...(sinceMs !== undefined && { since: sinceMs }),
  ...(nextAttemptMs !== undefined && { nextAttemptAt: nextAttemptMs }),
});

/** Returns the current health of a webhook. */
export const showHealth = (webhook: Webhook, { queued, lastHour, failing }: WebhookHealth) => ({
  state: stateOf(webhook, failing ? { failing } : {}),
  queued,
  lastHour,
  ...(failing && { failing: showFailing(failing) }),
});

/** Returns a webhook with its token, for the client that created it. */
export function showCreated(webhook: Webhook) {
  const { id, event, target, ...rest } = showWebhook(webhook);
  return { id, event, target, token: webhook.secrets.token, ...rest };
}

/** Returns a webhook with its new token; `secret` is the token for Standard Webhooks libraries. */
export function showRotated(webhook: Webhook) {
  const { id, event, target, token, ...rest } = showCreated(webhook);
  const { previous } = webhook.secrets;
  const secret = signingSecretOf(token);
  return { id, event, target, token, secret, ...rest, ...(previous && { overlapUntil: previous.untilMs }) };
}

/** Times are milliseconds since 1970; members without a value are omitted. The body is present if it was read. */
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

/** Returns an attempt without a delivery. */
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

/** Runs the work of a request; converts its refusals to `HttpError`s. */
export async function withHttpErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WebhookError || error instanceof SubscriptionError)
      throw new HttpError(error.code, error.message);
    throw error;
  }
}

/**
 * Parses the text of a body.
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

/** Parses an optional body; an absent one has no members. */
export const readOptionalBody = (body: unknown): unknown =>
  body === undefined || body === null || body === "" ? {} : readBody(body);
