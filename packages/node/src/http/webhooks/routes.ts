/** Endpoints of the register (webhooks.md 4), and of the delivery log and replays, which the interface of the old network does not have. */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Webhook } from "../../webhooks/model/webhook.ts";
import type { WebhookRequests } from "../../webhooks/requests.ts";
import { Queue } from "../core/queue.ts";
import type { Access } from "./access.ts";
import { integer, oneOf, pageMeta, type Query, readPage, readQuery, SWITCH, text } from "./query.ts";
import {
  addWarnings,
  readBody,
  readOptionalBody,
  showAttempt,
  showCreated,
  showDelivery,
  showHealth,
  showReplay,
  showRotated,
  showSummary,
  showWebhook,
  showWithHealth,
  withHttpErrors,
} from "./responses.ts";

const CHANGES_PER_TICK = 1;

/** Members that decide which events are sent where. */
const SELECTING = ["target", "event", "events", "conditions"];

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX = Number.MAX_SAFE_INTEGER;

/** Parameters of the delivery log. */
const LOG_READERS = {
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

/** Creates the plugin for each prefix of the register; its errors are `HttpError`s. */
export function createWebhookRoutes(access: Access, webhooks: WebhookRequests): FastifyPluginAsync {
  return async (app) => {
    app.addHook("onRequest", access);
    // Bodies stay texts, so that numbers in conditions are returned exactly as given.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => done(null, text));
    addReads(app, webhooks);
    addCreation(app, webhooks);
    addTrials(app, webhooks);
    addChanges(app, webhooks);
    app.register(async (app) => {
      // Each change blocks this thread until it is on disk: other work runs between two changes.
      const changes = new Queue<() => void>(CHANGES_PER_TICK, (change) => change());
      app.addHook("preHandler", (request, _reply, done) => {
        if (request.method === "GET" || request.method === "HEAD") done();
        else changes.push(done);
      });
      addRotation(app, webhooks);
      addDeliveryRoutes(app, webhooks);
      addReplayRoutes(app, webhooks);
    });
  };
}

function addReads(app: FastifyInstance, { register }: WebhookRequests): void {
  const show = async (webhook: Webhook, hasHealth: boolean) =>
    hasHealth ? showWithHealth(webhook, await register.health(webhook)) : showWebhook(webhook);

  app.get("/webhooks", ({ query }) =>
    withHttpErrors(async () => {
      const page = readPage(query as Query);
      const { webhooks, totalCount } = await register.list(page, page.filter);
      const data = await Promise.all(webhooks.map((webhook) => show(webhook, page.hasHealth)));
      return { meta: pageMeta(page, webhooks.length, totalCount), data };
    }),
  );

  app.get("/webhooks/health", () => withHttpErrors(async () => ({ data: await register.healthTotals() })));

  app.get<WithId>("/webhooks/:id", ({ params, query }) =>
    withHttpErrors(async () => {
      const { health } = readQuery(query as Query, { health: SWITCH });
      return { data: await show(await register.find(params.id), health === "true") };
    }),
  );
}

function addCreation(app: FastifyInstance, { register }: WebhookRequests): void {
  app.post("/webhooks", async ({ body }, reply) => {
    const webhook = await withHttpErrors(() => register.create(readBody(body)));
    reply.code(201);
    // The webhook is registered, and only this response has its secret.
    addWarnings(reply, webhook, await register.twinOf(webhook).catch(() => undefined));
    return { data: showCreated(webhook) };
  });
}

/** Adds requests that try a webhook which is not registered. */
function addTrials(app: FastifyInstance, { pingTarget, dryRun }: WebhookRequests): void {
  app.post("/webhooks/ping", ({ body }) =>
    withHttpErrors(async () => ({ data: showAttempt(await pingTarget(readBody(body))) })),
  );

  app.post("/webhooks/test", ({ body }) =>
    withHttpErrors(async () => ({ data: await dryRun(readBody(body)) })),
  );
}

function addChanges(app: FastifyInstance, { register }: WebhookRequests): void {
  app.put<WithId>("/webhooks/:id", async ({ params, body }, reply) => {
    const changes = readBody(body);
    await withHttpErrors(() => register.update(params.id, changes));
    const isOther = SELECTING.some((name) => Object.hasOwn(Object(changes), name));
    // The webhook is changed, also if another request removes it now.
    const changed = isOther ? await register.find(params.id).catch(() => undefined) : undefined;
    if (changed) addWarnings(reply, changed, await register.twinOf(changed).catch(() => undefined));
    return {};
  });

  app.delete<WithId>("/webhooks/:id", async ({ params }) => {
    await withHttpErrors(() => register.remove(params.id));
    return {};
  });
}

function addRotation(app: FastifyInstance, { register }: WebhookRequests): void {
  app.post<WithId>("/webhooks/:id/rotate", { config: { isBodyOptional: true } }, ({ params, body }) =>
    withHttpErrors(async () => ({
      data: showRotated(await register.rotate(params.id, readOptionalBody(body))),
    })),
  );
}

/** Adds the endpoints of the delivery log (webhooks.md 10 point 5). */
function addDeliveryRoutes(app: FastifyInstance, { register, log, ping }: WebhookRequests): void {
  app.get<WithId>("/webhooks/:id/deliveries", ({ params: { id }, query }) =>
    withHttpErrors(async () => {
      const { cursor, limit = DEFAULT_LIMIT, from, to, ...rest } = readQuery(query as Query, LOG_READERS);
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

/** Adds the endpoints of replays (webhooks.md 10 point 5). */
function addReplayRoutes(app: FastifyInstance, { replays }: WebhookRequests): void {
  app.post<WithId>("/webhooks/:id/replay", async ({ params, body }, reply) => {
    const data = showReplay(await withHttpErrors(() => replays.start(params.id, readBody(body))));
    reply.code(202);
    return { data };
  });

  app.get<WithId>("/webhooks/:id/replay", ({ params }) =>
    withHttpErrors(async () => ({ data: showReplay(await replays.find(params.id)) })),
  );

  app.delete<WithId>("/webhooks/:id/replay", ({ params }) =>
    withHttpErrors(async () => {
      await replays.cancel(params.id);
      return {};
    }),
  );
}
