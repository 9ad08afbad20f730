/** CORS: pages of every origin may read every answer (http-api.md 1.8), because all data of the API is public. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Server } from "./app.ts";

/** Time for which a browser may cache the answer to a preflight. */
const MAX_AGE_SECONDS = 600;

/** @param closed path below which only pages of the node itself read answers: those that a session opens */
export function addCors(app: Server, closed?: `/${string}/`): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (closed !== undefined && request.url.startsWith(closed)) return done();
    allowOrigin(request, reply);
    if (isPreflight(request)) grant(request, reply);
    else done();
  });
}

export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === "OPTIONS" && headers.origin !== undefined;

/** Answers a preflight request; it is granted for every path. */
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

/** Lets the page of the request's origin read the answer. */
export function allowOrigin({ headers: { origin } }: FastifyRequest, reply: FastifyReply): void {
  if (origin === undefined) return;
  reply.header("access-control-allow-origin", origin).header("access-control-allow-credentials", "true");
}
