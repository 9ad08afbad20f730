/** The live stream of events, as server-sent events (docs/guides/live-stream.md). */
import type { FastifyPluginAsync, FastifyReply, FastifySchema } from "fastify";
import { parseJson } from "../../platform/json/lossless.ts";
import { Type } from "../../platform/json/schema.ts";
import type { StreamRequest } from "../../stream/follow.ts";
import { readPosition } from "../../stream/source.ts";
import type { Stream } from "../../stream/stream.ts";
import { readSubscription, StreamError } from "../../stream/subscription.ts";
import { HttpError } from "../core/error.ts";
import { Queue } from "../core/queue.ts";
import { pageQuery } from "../requests/pagination.ts";
import { query } from "../requests/parameters.ts";
import type { Access } from "../webhooks/access.ts";
import { integer, type Query, readQuery, text } from "../webhooks/query.ts";
import { withHttpErrors } from "../webhooks/responses.ts";

const refusal = (description: string) => Type.Object({}, { description });

/** Description for the document, by method and path: the route parses its requests itself. */
export const streamRoutes: Readonly<Record<string, FastifySchema>> = {
  "GET /events": {
    tags: ["Events"],
    summary: "Streams events as they occur, over a connection that stays open.",
    security: [{ token: [] }],
    querystring: query({
      events: Type.Optional(
        Type.String({
          description: "Names and patterns, separated by commas.",
          examples: ["block.applied,transaction.applied"],
        }),
      ),
      conditions: Type.Optional(
        Type.String({
          description: "Conditions as JSON, as in the webhook register.",
          examples: ['[{"key": "height", "condition": "gte", "value": "1"}]'],
        }),
      ),
      match: Type.Optional(Type.Enum(["any", "all"])),
      fromHeight: pageQuery.page,
      lastEventId: Type.Optional(Type.String({ description: "Same as the header Last-Event-ID." })),
    }),
    response: {
      200: {
        description: "Server-sent events.",
        content: { "text/event-stream": { schema: Type.String() } },
      },
      401: refusal("Wrong token; not checked if the stream is public."),
      410: refusal("The events that the client missed are no longer available."),
    },
  },
};

/** Streams to open per tick: compiling the patterns of a stream takes 10 ms, or more for the largest. */
const OPENED_PER_TICK = 1;
/** Delay after which a stream may be available again. */
const RETRY_AFTER_SECONDS = 60;

const READERS = {
  events: text,
  conditions: text,
  match: text,
  fromHeight: integer(1, Number.MAX_SAFE_INTEGER),
  // Alternative for clients that cannot set the header.
  lastEventId: text,
};

/** Creates the plugin for each prefix. Without `access`, the stream is public. */
export function createStreamRoutes(access: Access | undefined, stream: Stream): FastifyPluginAsync {
  return async (app) => {
    if (access) app.addHook("onRequest", access);
    app.addHook("preClose", (done) => {
      stream.close();
      done();
    });

    const openings = new Queue<() => void>(OPENED_PER_TICK, (open) => open());

    app.get("/events", { exposeHeadRoute: false, config: { isEndless: true } }, async (request, reply) => {
      await new Promise<void>((resolve) => openings.push(resolve));
      const streamRequest = await withHttpErrors(() =>
        readStreamRequest(request.query as Query, request.headers["last-event-id"]),
      );
      const opened = await stream.open(streamRequest, request.ip).catch((error) => refuse(error, reply));
      // The request has timed out, and its response was sent.
      if (reply.raw.headersSent) return opened.release();
      // From here on, the response timeout does not apply, and nothing is buffered for compression.
      reply.hijack();
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        "content-type": "text/event-stream",
        // Proxies that buffer responses would delay events.
        "x-accel-buffering": "no",
      });
      await opened.flow(reply.raw);
    });
  };
}

/** @throws {SubscriptionError} for unknown names and conditions */
function readStreamRequest(query: Query, header: string | string[] | undefined): StreamRequest {
  const { events, conditions, match, fromHeight, lastEventId } = readQuery(query, READERS);
  const given = header === undefined ? lastEventId : String(header);
  // A browser sends an empty id before its first event.
  const position = given ? readPosition(given) : undefined;
  if (given && !position)
    throw new HttpError(
      "INVALID_MEMBER",
      '"Last-Event-ID" must be the id of an event of this stream; omit it to start now',
    );
  const subscription = readSubscription({
    ...(events !== undefined && { events: events.split(",") }),
    ...(conditions !== undefined && { conditions: readJson(conditions) }),
    ...(match !== undefined && { match }),
  });
  return { subscription, ...(position && { position }), ...(fromHeight !== undefined && { fromHeight }) };
}

function readJson(given: string): unknown {
  try {
    return parseJson(given);
  } catch {
    throw new HttpError("INVALID_MEMBER", '"conditions" must be an array, as JSON');
  }
}

function refuse(error: unknown, reply: FastifyReply): never {
  if (!(error instanceof StreamError)) throw error;
  const refusal = new HttpError(error.code, error.message);
  if (refusal.isRetryable) reply.header("retry-after", RETRY_AFTER_SECONDS);
  throw refusal;
}
