/** Endpoints of the register (webhooks.md 4). */
import type { FastifyPluginAsync } from "fastify";
import type { Webhook } from "../../webhooks/webhook.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { createQueue } from "../core/queue.ts";
import type { Access } from "./access.ts";
import { addDeliveryRoutes } from "./deliveries.ts";
import { pageMeta, readPage } from "./page.ts";
import type { Query } from "./query.ts";
import { addReplayRoutes } from "./replay.ts";
import {
  readBody,
  readOptionalBody,
  showAttempt,
  showSecret,
  showWarnings,
  showWebhook,
  withHttpErrors,
} from "./responses.ts";

const CHANGES_PER_TICK = 1;

/** Members that decide which events a webhook receives. */
const SELECTING = ["event", "events", "conditions"];

type WithId = { Params: { id: string } };

/** Creates the plugin for each prefix of the register; its errors are `HttpError`s. */
export function createWebhookRoutes(
  access: Access,
  webhooks: Pick<Webhooks, "register" | "log" | "ping" | "pingTarget" | "dryRun" | "replays">,
): FastifyPluginAsync {
  const { register } = webhooks;
  const show = (webhook: Webhook) => showWebhook(webhook, register.health(webhook));

  return async (app) => {
    app.addHook("onRequest", access);
    // Bodies stay texts, so that numbers in conditions are returned exactly as given.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => done(null, text));

    app.get("/webhooks", ({ query }) => {
      const page = readPage(query as Query);
      const { webhooks, totalCount } = register.list(page);
      return { meta: pageMeta(page, webhooks.length, totalCount), data: webhooks.map(show) };
    });

    app.get("/webhooks/health", () => ({ data: register.healthTotals() }));

    app.get<WithId>("/webhooks/:id", ({ params }) =>
      withHttpErrors(() => ({ data: show(register.find(params.id)) })),
    );

    app.post("/webhooks", async ({ body }, reply) => {
      const webhook = await withHttpErrors(() => register.create(readBody(body)));
      reply.code(201);
      return { data: showSecret(webhook), ...showWarnings(webhook) };
    });

    app.post("/webhooks/ping", ({ body }) =>
      withHttpErrors(async () => ({ data: showAttempt(await webhooks.pingTarget(readBody(body))) })),
    );

    app.post("/webhooks/test", ({ body }) =>
      withHttpErrors(async () => ({ data: await webhooks.dryRun(readBody(body)) })),
    );

    app.put<WithId>("/webhooks/:id", async ({ params, body }) => {
      const changes = readBody(body);
      await withHttpErrors(() => register.update(params.id, changes));
      const isOther = SELECTING.some((name) => Object.hasOwn(Object(changes), name));
      return isOther ? withHttpErrors(() => showWarnings(register.find(params.id))) : {};
    });

    app.delete<WithId>("/webhooks/:id", async ({ params }) => {
      await withHttpErrors(() => register.remove(params.id));
      return {};
    });

    app.register(async (app) => {
      // Each change blocks this thread until it is on disk: a tick in between lets other work run.
      const changes = createQueue<() => void>(CHANGES_PER_TICK, (change) => change());
      app.addHook("preHandler", (request, _reply, done) => {
        if (request.method === "GET" || request.method === "HEAD") done();
        else changes.push(done);
      });
      const config = { isBodyOptional: true };
      app.post<WithId>("/webhooks/:id/rotate", { config }, ({ params, body }) =>
        withHttpErrors(() => ({ data: showSecret(register.rotate(params.id, readOptionalBody(body))) })),
      );
      addDeliveryRoutes(app, webhooks);
      addReplayRoutes(app, webhooks);
    });
  };
}
