/** Register with a real HTTP server. */

import { fastify, type InjectOptions } from "fastify";
import { onTestFinished } from "vitest";
import type { Server } from "../../src/http/core/app.ts";
import { addBodies } from "../../src/http/core/bodies.ts";
import { addFailures, addMethods } from "../../src/http/server/failures.ts";
import { type AccessOptions, createAccess } from "../../src/http/webhooks/access.ts";
import { createWebhookRoutes } from "../../src/http/webhooks/routes.ts";
import { createService, type ServiceOptions, silent } from "../../test-support/webhooks/support.ts";

export const TOKEN = "a secret of the operator";
const HEADERS = { authorization: TOKEN, "content-type": "application/json" };
export const BODY = {
  event: "block.forged",
  target: "https://receiver.example/hook",
  conditions: [{ key: "fee", condition: "gte", value: "123" }],
};

/** Register with a real server, queried without a socket. */
export async function serve(access: AccessOptions = { token: TOKEN }, options: ServiceOptions = {}) {
  const service = createService(options);
  const app = fastify();
  onTestFinished(() => app.close());
  addBodies(app as unknown as Server);
  addFailures(app as unknown as Server, silent, addMethods(app as unknown as Server));
  const routes = createWebhookRoutes(createAccess(access), service.webhooks);
  for (const prefix of ["/api", "/api/v2"]) app.register(async (scope) => scope.register(routes), { prefix });
  await app.ready();

  const ask = async (method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD", path: string, given: Ask = {}) => {
    const { body, headers = HEADERS } = given;
    const request: InjectOptions = { method, url: path, headers };
    if (body !== undefined) request.payload = typeof body === "string" ? body : JSON.stringify(body);
    const response = await app.inject(request);
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: response.body === "" ? undefined : response.json(),
    };
  };
  const create = (changes: object = {}) => ask("POST", "/api/webhooks", { body: { ...BODY, ...changes } });
  return { ...service, ask, create };
}
export type Ask = { body?: unknown; headers?: Record<string, string> };
