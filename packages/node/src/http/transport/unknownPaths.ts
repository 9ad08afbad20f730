/** Paths that lead nowhere: 404, or on to the path without its trailing slashes (http-api.md 1.3). */
import type { FastifyRequest } from "fastify";
import type { Server } from "../app.ts";
import { errorBody } from "./error.ts";

/** The router lets a parameter be nothing, as the id in `/blocks/`: no path of ours means that. */
export function addEmptySegments(app: Server): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (Object.values(request.params as object).includes("")) reply.callNotFound();
    else done();
  });
}

export function addUnknownPaths(app: Server): void {
  app.setNotFoundHandler(async (request, reply) => {
    const shorter = withoutTrailingSlashes(request);
    if (shorter !== undefined) {
      const { method, headers, ip } = request;
      // Asked as the client would ask, under its own rate limit.
      const probe = await app.inject({ method: method as "GET", url: shorter, headers, remoteAddress: ip });
      if (probe.statusCode < 400) return reply.redirect(originOf(request) + shorter, 301);
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
