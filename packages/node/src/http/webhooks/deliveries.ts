/** Endpoints of the delivery log, beyond the interface of the old network (webhooks.md 10 point 5). */
import type { FastifyInstance } from "fastify";
import type { WebhookRequests } from "../../webhooks/requests.ts";
import { integer, oneOf, type Query, readQuery, text } from "./query.ts";
import { readOptionalBody, showDelivery, showHealth, showSummary, withHttpErrors } from "./responses.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX = Number.MAX_SAFE_INTEGER;

const READERS = {
  state: oneOf("pending", "delivered", "failed", "cancelled"),
  event: text,
  height: integer(1, MAX),
  from: integer(0, MAX),
  to: integer(0, MAX),
  cursor: integer(1, MAX),
  limit: integer(1, MAX_LIMIT),
};

type WithId = { Params: { id: string } };
type WithDelivery = { Params: { id: string; delivery: string } };

export function addDeliveryRoutes(
  app: FastifyInstance,
  { register, log, ping }: Pick<WebhookRequests, "register" | "log" | "ping">,
): void {
  app.get<WithId>("/webhooks/:id/deliveries", ({ params: { id }, query }) =>
    withHttpErrors(async () => {
      const { cursor, limit = DEFAULT_LIMIT, from, to, ...rest } = readQuery(query as Query, READERS);
      const filter = {
        ...rest,
        ...(from !== undefined && { fromMs: from }),
        ...(to !== undefined && { toMs: to }),
      };
      const range = { limit, ...(cursor !== undefined && { before: cursor }) };
      const { records, next } = await log.page(id, filter, range);
      const link = next === undefined ? null : linkTo(id, { ...(query as Query), cursor: next });
      return { meta: { count: records.length, next: link }, data: records.map(showDelivery) };
    }),
  );

  app.get<WithId>("/webhooks/:id/deliveries/summary", ({ params: { id }, query }) =>
    withHttpErrors(async () => {
      readQuery(query as Query, {});
      const webhook = await register.find(id);
      const summary = showSummary(await log.summary(id));
      return { data: { ...showHealth(webhook, await register.health(webhook)), ...summary } };
    }),
  );

  app.get<WithDelivery>("/webhooks/:id/deliveries/:delivery", ({ params: { id, delivery } }) =>
    withHttpErrors(async () => ({ data: showDelivery(await log.find(id, delivery)) })),
  );

  const config = { isBodyOptional: true };

  app.post<WithDelivery>("/webhooks/:id/deliveries/:delivery/retry", { config }, ({ params }) =>
    withHttpErrors(async () => {
      await log.retry(params.id, params.delivery);
      return {};
    }),
  );

  app.post<WithId>("/webhooks/:id/deliveries/retry", { config }, ({ params, body }) =>
    withHttpErrors(async () => ({
      data: await log.retryAll(params.id, readOptionalBody(body)),
    })),
  );

  app.post<WithId>("/webhooks/:id/ping", { config }, ({ params }) =>
    withHttpErrors(async () => ({ data: showDelivery(await ping(params.id)) })),
  );
}

/** Returns a link with the fixed prefix of all links of the register. */
const linkTo = (id: string, query: Query): string =>
  `/api/v2/webhooks/${id}/deliveries?${new URLSearchParams(query as Record<string, string>)}`;
