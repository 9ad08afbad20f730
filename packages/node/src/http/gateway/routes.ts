/** The gateway over HTTP, on the side of the node (docs/spec/gateway.md): a POST for each call. */

import type { FastifyPluginAsync } from "fastify";
import { EVENTS } from "../../events/catalogue.ts";
import { GatewayError } from "../../gateway/caller.ts";
import { REMOTE_METHODS, type RemoteGateway, type RemoteMethod } from "../../gateway/gateway.ts";
import { type RemoteCalls, type RemoteProcesses, readCaller } from "../../gateway/remote-processes.ts";
import { type Static, type TSchema, Type } from "../../platform/json/schema.ts";
import { deadlineIn } from "../../platform/threads/call.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { addFeedAccess, type FeedAccess } from "../feed/routes.ts";
import { body, distinct } from "../requests/list-schemas.ts";
import { hex64, uint } from "../requests/parameters.ts";

const NAMES = Object.keys(EVENTS);
/** Highest value of `--pool-max-per-request`; the node checks its own limit. */
const MAX_TRANSACTIONS = 1_000;
const MAX_ID_LENGTH = 64;
/** A cursor of the public API can contain any text of this length. */
const MAX_AFTER_LENGTH = 2_048;
const MAX_PAGE = 100;
const MAX_BLOCKS = 1_000;
const MAX_SECONDS = 1e10;
/** Maximum of transactions that a branch omits: as many as a block can have. */
const MAX_LEFT_OUT = 500;

/** A call that other machines can make, with the schema of its parameters. */
type RemoteCall = {
  readonly parameters: TSchema;
  /** @param parameters validated by the schema */
  call(gateway: RemoteGateway, parameters: unknown, source: string | undefined): Promise<unknown>;
};

/** The compiler compares the schema with the parameters of the method. */
const define = <S extends TSchema>(
  parameters: S,
  call: (gateway: RemoteGateway, parameters: Static<S>, source: string | undefined) => Promise<unknown>,
): RemoteCall => ({
  parameters,
  call: (gateway, given, source) => call(gateway, given as Static<S>, source),
});

const id = Type.String({ maxLength: MAX_ID_LENGTH });
const unsigned = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const count = Type.Integer({ minimum: 1, maximum: MAX_BLOCKS });
const seconds = Type.Integer({ minimum: 1, maximum: MAX_SECONDS });
const nothing = body({});

const devCommand = Type.Union([
  body({ name: Type.Literal("mine"), blocks: count }),
  body({
    name: Type.Literal("reorg"),
    depth: count,
    blocks: Type.Optional(count),
    withTransactions: Type.Boolean(),
    leftOut: Type.Optional(distinct(hex64, MAX_LEFT_OUT)),
  }),
  body({ name: Type.Literal("snapshot") }),
  body({ name: Type.Literal("restore"), id: hex64 }),
  body({ name: Type.Literal("travel"), seconds }),
  body({ name: Type.Literal("travel"), to: seconds }),
  body({ name: Type.Literal("forge"), isEnabled: Type.Boolean() }),
]);

const REMOTE_CALLS: Readonly<Record<RemoteMethod, RemoteCall>> = {
  submit: define(
    body({ transactions: Type.Array(Type.Unknown(), { maxItems: MAX_TRANSACTIONS }) }),
    (gateway, { transactions }, source) => gateway.submit(transactions, source),
  ),
  pendingTransactions: define(
    body({
      offset: unsigned,
      limit: Type.Integer({ minimum: 0, maximum: MAX_PAGE }),
      afterId: Type.Optional(Type.String({ maxLength: MAX_AFTER_LENGTH })),
    }),
    (gateway, range) => gateway.pendingTransactions(range),
  ),
  pendingTransaction: define(body({ id }), (gateway, { id }) => gateway.pendingTransaction(id)),
  status: define(nothing, (gateway) => gateway.status()),
  peers: define(nothing, (gateway) => gateway.peers()),
  report: define(nothing, (gateway) => gateway.report()),
  replaceRemoteNames: define(
    body({ names: Type.Array(Type.Enum(NAMES), { maxItems: NAMES.length, uniqueItems: true }) }),
    (gateway, { names }) => gateway.replaceRemoteNames(names),
  ),
  dev: define(devCommand, (gateway, command) => gateway.dev(command)),
};

/** Numbers of a body that fits into the public API can be longer in this one. */
const BODY_BYTES = 4 * 1_048_576;
/** Any call ends earlier (`gateway/caller.ts`). */
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
