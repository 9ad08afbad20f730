/** The verbs of the dev chain over HTTP, behind the token of the webhook register (docs/guides/dev-chain.md). */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { type TSchema, Type } from "typebox";
import type { BlockReference, DevAnswer, DevErrorCode } from "../../dev/commands.ts";
import type { Gateway } from "../../serving/gateway.ts";
import type { TimestampOf } from "../answers/timestamp.ts";
import type { Server } from "../app.ts";
import { body } from "../requests/bodies.ts";
import { HttpError } from "../transport/error.ts";
import { type AccessOptions, createAccess } from "../webhooks/access.ts";

/** Bounds what one request keeps the writer busy with. */
const MAX_BLOCKS = 1_000;
const MAX_SECONDS = 1e10;
/** Many blocks take longer than other answers. */
const HANDLER_TIMEOUT_MS = 28_000;

const count = Type.Integer({ minimum: 1, maximum: MAX_BLOCKS });
const seconds = Type.Integer({ minimum: 1, maximum: MAX_SECONDS });

const BODIES = {
  mine: body({ blocks: Type.Optional(count) }),
  reorg: body({ depth: count, blocks: Type.Optional(count), transactions: Type.Optional(Type.Boolean()) }),
  snapshot: body({}),
  restore: body({ id: Type.String({ pattern: "^[0-9a-f]{64}$" }) }),
  travel: body({ seconds: Type.Optional(seconds), to: Type.Optional(seconds) }),
  forge: body({ enabled: Type.Boolean() }),
};

const STATUS: Readonly<Record<DevErrorCode | "CHAIN_UNDO_MISSING", number>> = {
  DEV_ONLY: 403,
  DEV_STARTING: 503,
  DEV_DEPTH: 422,
  DEV_BRANCH: 422,
  DEV_SNAPSHOT: 409,
  DEV_TIME: 422,
  DEV_DELEGATES: 409,
  CHAIN_UNDO_MISSING: 409,
};

/** A plugin for each prefix under which the verbs answer; its errors are `HttpError`s. */
export function createDevRoutes(
  options: AccessOptions,
  { gateway, timestampOf }: { readonly gateway: Pick<Gateway, "dev">; readonly timestampOf: TimestampOf },
): FastifyPluginAsync {
  const access = createAccess(options);

  const show = ({ head, reverted, applied, now, isForging }: DevAnswer) => ({
    head: showBlock(head),
    reverted: reverted.map(showBlock),
    applied: applied.map(showBlock),
    now: timestampOf(now),
    forging: isForging,
  });
  const showBlock = ({ height, id, timestamp }: BlockReference) => ({
    height,
    id,
    timestamp: timestampOf(timestamp),
  });

  const run: Gateway["dev"] = (command) =>
    gateway.dev(command).catch((error: Error & { code?: string }) => {
      const status = STATUS[error.code as keyof typeof STATUS];
      throw status === undefined ? error : new HttpError(status, error.message);
    });

  return async (scope: FastifyInstance) => {
    const app = scope as unknown as Server;
    app.addHook("onRequest", access);
    app.addHook("preValidation", (request, _reply, done) => {
      request.body ??= {};
      done();
    });

    app.post("/dev/mine", route(BODIES.mine), async ({ body: { blocks = 1 } }) => ({
      data: show(await run({ verb: "mine", blocks })),
    }));

    app.post("/dev/reorg", route(BODIES.reorg), async ({ body: { transactions = false, ...branch } }) => ({
      data: show(await run({ verb: "reorg", ...branch, withTransactions: transactions })),
    }));

    app.post("/dev/snapshot", route(BODIES.snapshot), async () => {
      const answer = await run({ verb: "snapshot" });
      return { data: { id: answer.head.id, ...show(answer) } };
    });

    app.post("/dev/restore", route(BODIES.restore), async ({ body: { id } }) => ({
      data: show(await run({ verb: "restore", id })),
    }));

    app.post("/dev/travel", route(BODIES.travel), async ({ body: { seconds, to } }) => {
      if ((seconds === undefined) === (to === undefined)) {
        throw new HttpError(422, 'one of "seconds" and "to" is required, and only one');
      }
      const journey = seconds === undefined ? { to: to! } : { seconds };
      return { data: show(await run({ verb: "travel", ...journey })) };
    });

    app.post("/dev/forge", route(BODIES.forge), async ({ body: { enabled } }) => ({
      data: show(await run({ verb: "forge", isEnabled: enabled })),
    }));
  };
}

const route = <B extends TSchema>(schema: B) => ({
  schema: { body: schema },
  // A body with nothing in it need not be there; where something is missing, the schema says so.
  config: { isBodyOptional: true },
  handlerTimeout: HANDLER_TIMEOUT_MS,
});
