/**
 * `/api/openapi.json` and `/documentation`. Both are built at the first request for either, because few nodes
 * serve them and building them would delay the start.
 */
import type { RouteOptions } from "fastify";
import type { Server } from "../core/app.ts";
import type { Documentation } from "./page.ts";

/** Timeout for the files of the page, longer than that of the API because phones load them slowly. */
const FILE_TIMEOUT_MS = 120_000;

/** Headers that the HTTP server sets itself. */
const OF_THE_TRANSPORT = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"];

/** Describes the routes that are added afterwards. */
export function addDocumentation(app: Server): void {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => void routes.push(route));
  let made: Promise<Documentation> | undefined;
  function documentation(): Promise<Documentation> {
    made ??= import("./page.ts").then(({ createDocumentation }) => createDocumentation(routes));
    return made;
  }

  for (const path of ["/api/openapi.json", "/api/v2/openapi.json"]) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      const { document } = await documentation();
      return reply.type("application/json; charset=utf-8").send(document);
    });
  }
  for (const path of ["/documentation", "/documentation/", "/documentation/*"]) {
    app.get(path, { schema: { hide: true }, handlerTimeout: FILE_TIMEOUT_MS }, async (request, reply) => {
      const { page } = await documentation();
      const { statusCode, headers, rawPayload } = await page.inject({
        url: request.url,
        headers: request.headers,
      });
      if (statusCode === 404) return reply.callNotFound();
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined && !OF_THE_TRANSPORT.includes(name)) reply.header(name, value);
      }
      return reply.code(statusCode).send(rawPayload.length > 0 ? rawPayload : undefined);
    });
  }
}
