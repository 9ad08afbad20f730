/** Headers that every answer carries. */
import type { FastifyReply } from "fastify";
import type { Server } from "./app.ts";

/**
 * Instructions for browsers: keep nothing without asking (http-api.md 1.5), believe the content type, and never run, frame
 * or embed an answer, which is data. Reading it from any page stays possible (http-api.md 1.8).
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

/** For answers that are made before any hook runs. */
export const writeCommonHeaders = (reply: FastifyReply): void => void reply.headers(COMMON_HEADERS);
