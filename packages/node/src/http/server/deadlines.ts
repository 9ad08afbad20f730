/**
 * Answers that are not ready in time are 503 (http-api.md 1.7). One timer looks at all requests under way: most are
 * answered at once, and a timer of its own for each of them takes as long as the answer does.
 */
import type { FastifyReply } from "fastify";
import type { Server } from "./app.ts";
import { HttpError } from "./error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Time for the answers of a route whose work takes longer than that of others. */
    answerTimeoutMs?: number;
  }
}

/** The time for an answer has run out. */
export class LateError extends HttpError {
  constructor() {
    super(503);
    this.name = "LateError";
  }
}

/** Requests under way are looked at that often within the time. */
const LOOKS = 10;

export function addDeadlines(app: Server, timeoutMs: number): void {
  /** Replies that nothing was sent of, with the time at which they began. */
  const pending = new Map<FastifyReply, number>();

  function look(): void {
    const nowMs = performance.now();
    for (const [reply, beganMs] of pending) {
      const { answerTimeoutMs = timeoutMs } = reply.routeOptions.config;
      if (!reply.sent && nowMs - beganMs < answerTimeoutMs) continue;
      pending.delete(reply);
      // Sent by a route itself, as a stream without end is.
      if (!reply.sent) reply.send(new LateError());
    }
  }

  app.addHook("onRequest", (_request, reply, done) => {
    pending.set(reply, performance.now());
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    pending.delete(reply);
    done(null, payload);
  });
  const timer = setInterval(look, Math.ceil(timeoutMs / LOOKS)).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
}
