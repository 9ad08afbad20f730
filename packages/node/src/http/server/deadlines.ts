/**
 * Responds 503 to requests whose response is not ready in time (http-api.md 1.7). One timer checks all open requests: a timer
 * per request would cost as much as a fast response.
 */
import type { FastifyReply } from "fastify";
import { createChecks } from "../../platform/lifecycle/checks.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Timeout for the responses of a route that takes longer than others. */
    responseTimeoutMs?: number;
  }
}

/** Message of every late response. */
export const LATE =
  "Service Unavailable: the response would take too long; request fewer rows, or retry in 10 s";

/** The response was not ready in time. */
export class LateError extends HttpError {
  constructor() {
    super("RESPONSE_LATE", LATE);
    this.name = "LateError";
  }
}

/** Number of checks of each request within the timeout. */
const CHECKS = 10;

export function addDeadlines(app: Server, timeoutMs: number): void {
  /** Replies that are not sent yet, with the monotonic time of their requests. */
  const pending = new Map<FastifyReply, number>();

  function check(): boolean {
    const nowMs = performance.now();
    for (const [reply, beganMs] of pending) {
      const { responseTimeoutMs = timeoutMs } = reply.routeOptions.config;
      if (!reply.sent && nowMs - beganMs < responseTimeoutMs) continue;
      pending.delete(reply);
      // A route that sends its response itself, such as a stream, has set `sent`.
      if (!reply.sent) reply.send(new LateError());
    }
    return pending.size > 0;
  }
  const checks = createChecks(check, Math.ceil(timeoutMs / CHECKS));

  app.addHook("onRequest", (_request, reply, done) => {
    pending.set(reply, performance.now());
    checks.begin();
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    pending.delete(reply);
    done(null, payload);
  });
  app.addHook("onClose", (_app, done) => {
    checks.close();
    done();
  });
}
