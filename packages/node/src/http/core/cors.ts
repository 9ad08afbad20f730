/**
 * CORS: pages of every origin may read every response (http-api.md 1.8), because all data of the API is public. Responses below
 * `/console`, which sessions authorise, can only be read by pages of the node itself.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Server } from "./app.ts";
import { isConsolePath } from "./console-path.ts";

/** Time for which a browser may cache the response to a preflight. */
const MAX_AGE_SECONDS = 600;

export function addCors(app: Server): void {
  app.addHook("onRequest", (request, reply, done) => {
    allowOrigin(request, reply);
    if (isPreflight(request)) grant(request, reply);
    else done();
  });
}

/** Returns whether the request is a preflight that is granted. */
export const isPreflight = ({ method, headers, url }: FastifyRequest): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && !isConsolePath(url);

/** Grants a preflight request for any path of the API. */
export function grant({ headers }: FastifyRequest, reply: FastifyReply): void {
  reply
    .header("access-control-expose-headers", "content-type, content-length, etag")
    .header("access-control-max-age", MAX_AGE_SECONDS);
  const wanted = headers["access-control-request-headers"];
  const method = headers["access-control-request-method"];
  if (wanted !== undefined) reply.header("access-control-allow-headers", wanted);
  if (method !== undefined) reply.header("access-control-allow-methods", method);
  reply.code(200).send({});
}

/** Lets the page of the request's origin read the response, except below `/console`. */
export function allowOrigin({ headers: { origin }, url }: FastifyRequest, reply: FastifyReply): void {
  if (origin === undefined || isConsolePath(url)) return;
  reply.header("access-control-allow-origin", origin).header("access-control-allow-credentials", "true");
}
