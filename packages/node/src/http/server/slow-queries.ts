/** Passes requests with slow reads to another thread, so that other requests do not wait for them. */
import type { FastifyError, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { SnapshotError } from "../../read/port.ts";
import type { Server } from "../core/app.ts";
import { CODE_HEADER } from "../core/error.ts";
import { withStatus } from "./failures.ts";

/** A request, and the address of its client as `ip`. */
export type SlowRequest = {
  readonly ip: string;
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
};
export type SlowResponse = {
  readonly status: number;
  /** JSON. Bytes are sent as they are: encoding a long text would block the thread. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Code of the error, for error responses. */
  readonly code?: string;
};

export type SlowQueryWorker = {
  /** Returns undefined if too many requests, or too many of this client, are waiting. Rejects with a `CallError` if no response arrives. */
  run(request: SlowRequest): Promise<SlowResponse> | undefined;
};

/**
 * Passes requests of a scope whose reads timed out to the worker. Must be below the scope of `addFailures`, which responds if
 * the whole request times out meanwhile.
 */
export function addSlowQueries(scope: Server, logger: Logger, slowQueries: SlowQueryWorker): void {
  const logFailure = (err: Error, { method, routeOptions: { url } }: FastifyRequest) =>
    void logger.error({ err, method, route: url }, "the worker for slow queries failed to respond");
  scope.setErrorHandler<FastifyError | Error>(async (error, request, reply) => {
    const isSlow = error instanceof SnapshotError && error.code === "SNAPSHOT_TIMEOUT";
    const slow = isSlow
      ? await slowQueries.run(request)?.catch((err) => logFailure(err, request))
      : undefined;
    if (reply.sent) return reply;
    if (!slow) throw error;
    // The response of another thread may belong to another head.
    request.head = null;
    if (slow.code !== undefined) reply.header(CODE_HEADER, slow.code);
    return withStatus(reply, slow.status)
      .type("application/json; charset=utf-8")
      .send(typeof slow.body === "string" ? slow.body : Buffer.from(slow.body.buffer));
  });
}
