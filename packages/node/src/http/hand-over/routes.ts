/**
 * The node's side of a hand-over of webhooks to delivery workers and back (docs/spec/hand-over.md). Only addresses of the access
 * list may use it, with the token.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { FastifyPluginAsync } from "fastify";
import { Type } from "../../platform/json/schema.ts";
import { HandOverHead, HandOverPart, isPart, lineOf } from "../../webhooks/hand-over/lines.ts";
import type { NodeSide } from "../../webhooks/hand-over/node-side.ts";
import { HandOverError, OWNER_STATES, OwnerError } from "../../webhooks/hand-over/owner.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { addFeedAccess, type FeedAccess, send } from "../feed/routes.ts";
import { body } from "../requests/list-schemas.ts";

const MAX_ID_LENGTH = 64;
const MAX_EVENT_ID_LENGTH = 1_024;
/** A single row can be as long as a block. */
const PART_BYTES = 64 * 1_048_576;
/** A cancelled hand-over waits for running calls. */
const RESPONSE_TIMEOUT_MS = 28_000;
/** Time limit for all rows: their snapshot keeps SQLite from truncating its log. */
const MAX_LINES_MS = 600_000;
/** Bound of open responses with rows: that of a command that was killed may not have ended yet. */
const MAX_OPEN = 2;

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const id = Type.String({ minLength: 1, maxLength: MAX_ID_LENGTH });
const state = Type.Enum([...OWNER_STATES]);
const order = { transfer: id, session: id, part: count };
const SCHEMAS = {
  change: {
    hide: true,
    body: body({
      ...{ from: state, to: state, transfer: id },
      copied: Type.Optional(
        body({ sequence: count, id: Type.Optional(Type.String({ maxLength: MAX_EVENT_ID_LENGTH })) }),
      ),
    }),
  },
  lines: { hide: true, querystring: Type.Object({ transfer: id }, { additionalProperties: false }) },
  part: { hide: true, body: body({ ...order, rows: Type.Optional(HandOverPart) }) },
  finish: { hide: true, body: body({ ...order, webhooks: HandOverHead, count }) },
};

/** Creates the plugin for each prefix. */
export function createHandOverRoutes(access: FeedAccess, side: NodeSide): FastifyPluginAsync {
  const config = { isUnlimited: true, responseTimeoutMs: RESPONSE_TIMEOUT_MS };
  const open = createLines(side);
  return async (scope) => {
    const app = scope as Server;
    addFeedAccess(app, access);
    app.get("/internal/webhooks/owner", { config, schema: { hide: true } }, async () => ({
      data: side.status(),
    }));
    app.post("/internal/webhooks/owner", { config, schema: SCHEMAS.change }, ({ body }) =>
      withHttpErrors(async () => {
        const { copied, ...change } = body;
        return { data: await side.change(change, copied) };
      }),
    );
    app.get(
      "/internal/webhooks/rows",
      { exposeHeadRoute: false, config: { isEndless: true }, schema: SCHEMAS.lines },
      (request, reply) => withHttpErrors(async () => send(request, reply, open(request.query.transfer))),
    );
    app.post(
      "/internal/webhooks/rows",
      { bodyLimit: PART_BYTES, config, schema: SCHEMAS.part },
      ({ body }, reply) =>
        withHttpErrors(async () => {
          const { rows, ...order } = body;
          if (rows && !isPart(rows))
            throw new HttpError("INVALID_MEMBER", `"rows" must have the columns of ${rows.table}`);
          side.receive(order, rows);
          return reply.code(204).send();
        }),
    );
    app.post("/internal/webhooks/rows/end", { config, schema: SCHEMAS.finish }, ({ body }) =>
      withHttpErrors(async () => {
        const { webhooks, count, ...order } = body;
        return { data: await side.finish(order, webhooks, count) };
      }),
    );
  };
}

/** Creates a function that opens the lines of a hand-over as a response. */
function createLines(side: NodeSide) {
  let opened = 0;
  return (transfer: string) => {
    if (opened === MAX_OPEN)
      throw new HandOverError("NOT_READY", "other commands read the webhooks; retry in a moment");
    const lines = side.lines(transfer);
    opened++;
    let isOpen = true;
    return () => ({
      text: textOf(lines),
      release() {
        if (isOpen) opened--;
        isOpen = false;
      },
    });
  };
}

async function* textOf(lines: ReturnType<NodeSide["lines"]>): AsyncIterable<string> {
  const endMs = performance.now() + MAX_LINES_MS;
  for (const line of lines) {
    // Without the last line, the command knows that rows are missing.
    if (performance.now() > endMs) return;
    yield lineOf(line);
    // Lets other requests run between two lines.
    await nextTick();
  }
}

async function withHttpErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HandOverError || error instanceof OwnerError)
      throw new HttpError(error.code, error.message);
    throw error;
  }
}
