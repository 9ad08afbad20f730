/** Headers of every response. */
import type { FastifyReply } from "fastify";
import type { Server } from "./app.ts";

/**
 * Instructions for browsers: revalidate cached responses (http-api.md 1.5), trust the content type, and never execute, frame
 * or embed a response. Pages of any origin can still read responses (http-api.md 1.8).
 */
export const COMMON_HEADERS = {
  "cache-control": "no-cache",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

export function addCommonHeaders(app: Server): void {
  app.addHook("onRequest", (_request, reply, done) => {
    writeCommonHeaders(reply);
    done();
  });
}

/** Sets the common headers of responses that are built before any hook runs. */
export const writeCommonHeaders = (reply: FastifyReply): void => void reply.headers(COMMON_HEADERS);
