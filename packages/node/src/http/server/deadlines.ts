/**
 * Answers 503 to requests whose answer is not ready in time (http-api.md 1.7). One timer checks all open requests: a timer
 * for each of them would take as long as a fast answer.
 */
import type { FastifyReply } from "fastify";
import { createChecks } from "../../platform/lifecycle/checks.ts";
import type { Server } from "./app.ts";
import { HttpError } from "./error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Timeout for the answers of a route that takes longer than others. */
    answerTimeoutMs?: number;
  }
}

/** Said of every answer that would take too long. */
export const LATE =
  "Service Unavailable: the response would take too long; request fewer rows, or retry in 10 s";

/** The response was not ready in time. */
export class LateError extends HttpError {
  constructor() {
    super("ANSWER_LATE", LATE);
    this.name = "LateError";
  }
}

/** Checks of each request within the timeout. */
const CHECKS = 10;

export function addDeadlines(app: Server, timeoutMs: number): void {
  /** Replies that are not sent yet, with the monotonic time of their requests. */
  const pending = new Map<FastifyReply, number>();

  function check(): boolean {
    const nowMs = performance.now();
    for (const [reply, beganMs] of pending) {
      const { answerTimeoutMs = timeoutMs } = reply.routeOptions.config;
      if (!reply.sent && nowMs - beganMs < answerTimeoutMs) continue;
      pending.delete(reply);
      // A route that sends its answer itself, such as a stream, has set `sent`.
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
