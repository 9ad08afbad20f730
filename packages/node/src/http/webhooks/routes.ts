/** Endpoints of the register (webhooks.md section 4). */
import type { FastifyPluginAsync } from "fastify";
import type { Webhook } from "../../store/webhooks.ts";
import { parseJson } from "../../webhooks/json.ts";
import { WebhookError, type WebhookErrorCode } from "../../webhooks/register/error.ts";
import type { Register } from "../../webhooks/register/register.ts";
import { HttpError } from "../transport/error.ts";
import { type AccessOptions, createAccess } from "./access.ts";
import { pageMeta, readPage } from "./page.ts";

const STATUS: Readonly<Record<WebhookErrorCode, number>> = {
  WEBHOOK_INVALID: 422,
  WEBHOOK_LIMIT: 422,
  WEBHOOK_UNKNOWN: 404,
};

type WithId = { Params: { id: string } };

/** A plugin for each prefix under which the register answers; its errors are `HttpError`s. */
export function createWebhookRoutes(options: AccessOptions, register: Register): FastifyPluginAsync {
  const access = createAccess(options);

  return async (app) => {
    app.addHook("onRequest", access);
    // The text itself: numbers in conditions come back as they were given.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => done(null, text));

    app.get("/webhooks", ({ query }) => {
      const page = readPage(query as Record<string, unknown>);
      const { webhooks, totalCount } = register.list(page);
      return { meta: pageMeta(page, webhooks.length, totalCount), data: webhooks.map(show) };
    });

    app.get<WithId>("/webhooks/:id", ({ params }) =>
      answer(() => ({ data: show(register.find(params.id)) })),
    );

    app.post("/webhooks", async ({ body }, reply) => {
      const webhook = await answer(() => register.create(readBody(body)));
      const { id, event, target, ...rest } = show(webhook);
      reply.code(201);
      return { data: { id, event, target, token: webhook.token, ...rest } };
    });

    app.put<WithId>("/webhooks/:id", async ({ params, body }) => {
      await answer(() => register.update(params.id, readBody(body)));
      return {};
    });

    app.delete<WithId>("/webhooks/:id", async ({ params }) => {
      await answer(() => register.remove(params.id));
      return {};
    });
  };
}

/** What everybody may see of a webhook: not its token. */
const show = ({ id, event, target, enabled, conditions }: Webhook) => ({
  id,
  event,
  target,
  enabled,
  conditions: parseJson(conditions),
});

function readBody(text: unknown): unknown {
  try {
    return parseJson(typeof text === "string" ? text : "");
  } catch {
    throw new HttpError(422, "Invalid request payload JSON format");
  }
}

async function answer<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WebhookError) throw new HttpError(STATUS[error.code], error.message);
    throw error;
  }
}
