/**
 * Unknown paths: 404, or a redirect to the path without trailing slashes (http-api.md 1.3) if that exists. The router
 * decides whether a path without parameters exists; its route is not called, because it may take long or be a stream.
 * A path with parameters may not name a resource, so its route is called as the client would call it.
 */
import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Server } from "../core/app.ts";
import { type MethodsOf, respondToUnknownPath } from "./failures.ts";

/** The router matches empty parameters, such as the id in `/blocks/`: these paths are unknown. */
export function addEmptySegments(app: Server): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (Object.values(request.params as object).includes("")) reply.callNotFound();
    else done();
  });
}

/** Header of the node's requests to itself; its value is a secret of the process. */
const PROBE_HEADER = "x-uniknode-probe";

export function addUnknownPaths(app: Server, methodsOf: MethodsOf): void {
  const probe = randomUUID();

  app.addHook("onRequest", (request, reply, done) => {
    const isFixed = !request.is404 && Object.keys(request.params as object).length === 0;
    const isServed = isFixed || request.routeOptions.config.isEndless === true;
    if (isServed && request.headers[PROBE_HEADER] === probe) reply.code(204).send();
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
      if (statusCode < 400) return reply.redirect(relativeTo(request.url, shorter), 301);
    }
    return respondToUnknownPath(request, reply, methodsOf(request.url));
  });
}

/**
 * Returns the URL without its trailing slashes as a reference relative to the requested one. A proxy may have another scheme, host,
 * port and prefix, and need not send all of them.
 */
function relativeTo(url: string, shorter: string): string {
  const [path = ""] = url.split("?", 1);
  const [shorterPath = ""] = shorter.split("?", 1);
  const up = "../".repeat(path.length - shorterPath.length);
  return up + shorter.slice(shorterPath.lastIndexOf("/") + 1);
}

/** Returns the URL without trailing slashes in its path; undefined if it has none or the method is not GET or HEAD. */
function withoutTrailingSlashes({ method, url }: FastifyRequest): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const end = url.includes("?") ? url.indexOf("?") : url.length;
  const path = url.slice(0, end);
  const shorter = path.replace(/\/+$/, "");
  return shorter === path || shorter === "" ? undefined : shorter + url.slice(end);
}
