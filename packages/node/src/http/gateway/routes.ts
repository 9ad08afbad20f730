/** The gateway over HTTP, on the side of the node (docs/spec/gateway.md): a POST for each call. */
import type { FastifyPluginAsync } from "fastify";
import { GatewayError } from "../../gateway/failure.ts";
import { REMOTE_METHODS } from "../../gateway/gateway.ts";
import type { RemoteCalls } from "../../gateway/remote-calls.ts";
import { type RemoteProcesses, readCaller } from "../../gateway/remote-processes.ts";
import { Type } from "../../platform/json/schema.ts";
import { deadlineIn } from "../../platform/threads/call.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { addFeedAccess, type FeedAccess } from "../feed/access.ts";
import { uint } from "../requests/parameters.ts";
import { REMOTE_CALLS } from "./methods.ts";

/** Numbers of a body that fits into the public API can be longer in this one. */
const BODY_BYTES = 4 * 1_048_576;
/** Longer than the timeout of any call (`gateway/caller.ts`). */
const RESPONSE_TIMEOUT_MS = 28_000;
const MAX_SOURCE_LENGTH = 64;

const querystring = Type.Object(
  { timeoutMs: uint, source: Type.Optional(Type.String({ maxLength: MAX_SOURCE_LENGTH })) },
  { additionalProperties: false },
);

declare module "fastify" {
  interface FastifyRequest {
    /** Monotonic time at which a call arrived, before its body was read. */
    arrivedMs: number;
  }
}

/** Creates the plugin for each prefix. */
export function createGatewayRoutes(
  access: FeedAccess,
  calls: RemoteCalls,
  processes: Pick<RemoteProcesses, "note">,
): FastifyPluginAsync {
  return async (scope) => {
    const app = scope as Server;
    app.decorateRequest("arrivedMs", 0);
    app.addHook("onRequest", (request, _reply, done) => {
      request.arrivedMs = performance.now();
      done();
    });
    addFeedAccess(app, access);
    app.addHook("onRequest", ({ headers, ip }, _reply, done) => {
      const caller = readCaller(headers, ip);
      if (caller) processes.note(caller);
      done();
    });
    for (const method of REMOTE_METHODS) {
      const { parameters, call } = REMOTE_CALLS[method];
      app.post(
        `/internal/gateway/${method}`,
        {
          bodyLimit: BODY_BYTES,
          schema: { hide: true, querystring, body: parameters },
          config: { isUnlimited: true, responseTimeoutMs: RESPONSE_TIMEOUT_MS },
        },
        async ({ query: { timeoutMs, source }, body, arrivedMs }) => {
          const deadline = deadlineIn(Number(timeoutMs) - (performance.now() - arrivedMs));
          return calls.run(deadline, (gateway) => call(gateway, body, source)).catch(toHttpError);
        },
      );
    }
  };
}

function toHttpError(error: unknown): never {
  throw error instanceof GatewayError ? new HttpError(error.code, error.message) : error;
}
