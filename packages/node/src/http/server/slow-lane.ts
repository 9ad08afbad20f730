/** Requests whose rows take longer than there is time for here, made elsewhere: the others do not wait for them. */
import type { FastifyError } from "fastify";
import type { Logger } from "pino";
import { SnapshotError } from "../../read/errors.ts";
import type { Server } from "../core/app.ts";
import { CODE_HEADER } from "../core/error.ts";
import { withStatus } from "./failures.ts";

export type SlowRequest = { readonly method: string; readonly url: string; readonly body: unknown };
/** `body` is JSON text. */
export type SlowAnswer = {
  readonly status: number;
  readonly body: string;
  /** Code of the error, if it is one. */
  readonly code?: string;
};

export type SlowLane = {
  /** Undefined when too many are waiting already: another time, then. Rejects with a `CallError` where none comes. */
  ask(request: SlowRequest): Promise<SlowAnswer> | undefined;
};

/**
 * Lets the answers of a scope for which there was no time here be made elsewhere. Only below the scope of `addFailures`:
 * when the time for the whole answer runs out meanwhile, that one says so.
 */
export function addSlowLane(scope: Server, logger: Logger, slowLane: SlowLane): void {
  const noteDeath = (err: Error) => void logger.error({ err }, "slow request failed");
  scope.setErrorHandler<FastifyError | Error>(async (error, request, reply) => {
    const isSlow = error instanceof SnapshotError && error.code === "SNAPSHOT_TIMEOUT";
    const slow = isSlow ? await slowLane.ask(request)?.catch(noteDeath) : undefined;
    if (reply.sent) return reply;
    if (!slow) throw error;
    // What another thread answers may be of another head.
    request.headId = null;
    if (slow.code !== undefined) reply.header(CODE_HEADER, slow.code);
    return withStatus(reply, slow.status).type("application/json; charset=utf-8").send(slow.body);
  });
}
