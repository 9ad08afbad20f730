/** Endpoints of the register (webhooks.md 4). */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Webhook } from "../../webhooks/model/webhook.ts";
import type { WebhookRequests } from "../../webhooks/requests.ts";
import { createQueue } from "../core/queue.ts";
import type { Access } from "./access.ts";
import { addDeliveryRoutes } from "./deliveries.ts";
import { pageMeta, readPage, SWITCH } from "./page.ts";
import { type Query, readQuery } from "./query.ts";
import { addReplayRoutes } from "./replay.ts";
import {
  addWarnings,
  readBody,
  readOptionalBody,
  showAttempt,
  showCreated,
  showRotated,
  showWebhook,
  showWithHealth,
  withHttpErrors,
} from "./responses.ts";

const CHANGES_PER_TICK = 1;

/** Members that decide which events a webhook receives. */
const SELECTING = ["event", "events", "conditions"];

type WithId = { Params: { id: string } };

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
      const changes = createQueue<() => void>(CHANGES_PER_TICK, (change) => change());
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
      const { webhooks, totalCount } = await register.list(page);
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
    if (isOther) await withHttpErrors(async () => addWarnings(reply, await register.find(params.id)));
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
