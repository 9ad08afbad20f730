/**
 * Paths that lead nowhere: 404, or on to the path without its trailing slashes (http-api.md 1.3). Whether a path without
 * parameters exists, the router says: its route is not called, which may take long, or for ever. Behind parameters there
 * may be nothing, and only reading tells: such routes are called as the client would call them.
 */
import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Server } from "./app.ts";
import { errorBody } from "./error.ts";

/** The router lets a parameter be nothing, as the id in `/blocks/`: no path of ours means that. */
export function addEmptySegments(app: Server): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (Object.values(request.params as object).includes("")) reply.callNotFound();
    else done();
  });
}

/** Carried by requests of the node to itself, with a value that only this process knows. */
const PROBE_HEADER = "x-uniknode-probe";

export function addUnknownPaths(app: Server): void {
  const probe = randomUUID();

  app.addHook("onRequest", (request, reply, done) => {
    const isFixed = !request.is404 && Object.keys(request.params as object).length === 0;
    const isAnswered = isFixed || request.routeOptions.config.isEndless === true;
    if (isAnswered && request.headers[PROBE_HEADER] === probe) reply.code(204).send();
    else done();
  });

  app.setNotFoundHandler(async (request, reply) => {
    const shorter = withoutTrailingSlashes(request);
    if (shorter !== undefined) {
      const { statusCode } = await app.inject({
        method: request.method as "GET",
        url: shorter,
        headers: { ...request.headers, [PROBE_HEADER]: probe },
        remoteAddress: request.ip,
      });
      if (statusCode < 400) return reply.redirect(originOf(request) + shorter, 301);
    }
    return reply.code(404).send(errorBody(404, "Not Found"));
  });
}

/** Where the client says that it is; nothing, so that a path is all it is told, where it says nothing of the kind. */
const originOf = ({ protocol, host }: FastifyRequest): string =>
  /^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}` : "";

/** The path and query to try instead, if the path ends in slashes and the method only reads. */
function withoutTrailingSlashes({ method, url }: FastifyRequest): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const end = url.includes("?") ? url.indexOf("?") : url.length;
  const path = url.slice(0, end);
  const shorter = path.replace(/\/+$/, "");
  return shorter === path || shorter === "" ? undefined : shorter + url.slice(end);
}
