/** The feed for mirrors, as lines of text (docs/spec/feed.md). Only addresses of the access list may use it, with the token. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { EventPosition } from "../../feed/event-reader.ts";
import { type Feed, FeedError, type FeedResponse, type FollowResponse } from "../../feed/feed.ts";
import { type Position, readPosition } from "../../feed/line.ts";
import type { RemoteProcesses } from "../../gateway/remote-processes.ts";
import type { RangeTest } from "../../platform/addresses.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { body } from "../requests/list-schemas.ts";
import { uint } from "../requests/parameters.ts";
import type { Access } from "../webhooks/access.ts";

/** Maximum of positions in one request: a mirror sends its latest blocks at growing distances. */
const MAX_POSITIONS = 32;
const MAX_POSITION_LENGTH = 96;
const MAX_ID_LENGTH = 1_024;
const MAX_TRANSFER_LENGTH = 64;
/** Leaves room for the sequences of later events. */
const MAX_SEQUENCE = 2 ** 52;
const SEQUENCE = /^\d{1,16}$/;

const position = Type.String({ maxLength: MAX_POSITION_LENGTH });
const ROUTE = { exposeHeadRoute: false, config: { isEndless: true } };
const SCHEMAS = {
  follow: {
    hide: true,
    querystring: Type.Object(
      { after: Type.Union([position, Type.Array(position, { maxItems: MAX_POSITIONS })]) },
      { additionalProperties: false },
    ),
  },
  blocks: {
    hide: true,
    querystring: Type.Object({ after: uint, last: uint }, { additionalProperties: false }),
  },
  state: { hide: true, querystring: Type.Object({}, { additionalProperties: false }) },
  events: {
    hide: true,
    querystring: Type.Object(
      {
        after: Type.String({ maxLength: 16 }),
        id: Type.Optional(Type.String({ maxLength: MAX_ID_LENGTH })),
        transfer: Type.Optional(Type.String({ maxLength: MAX_TRANSFER_LENGTH })),
      },
      { additionalProperties: false },
    ),
  },
  continuation: {
    hide: true,
    body: body({ after: Type.Integer({ minimum: 0, maximum: MAX_SEQUENCE }) }),
  },
};

/** Access to the routes for the operator's own processes on other machines: the webhook token, from addresses of a list. */
export type FeedAccess = {
  readonly byToken: Access;
  readonly isListed: RangeTest;
};

/** Refuses every request of this scope from other addresses or without the token. */
export function addFeedAccess(app: Server, { byToken, isListed }: FeedAccess): void {
  app.addHook("onRequest", async ({ ip }) => {
    if (isListed(ip)) return;
    throw new HttpError(
      "ADDRESS_REFUSED",
      `The address ${ip} may not use the feed and the gateway: see --feed-allow`,
    );
  });
  app.addHook("onRequest", byToken);
}

/** Creates the plugin for each prefix. */
export function createFeedRoutes(
  access: FeedAccess,
  feed: Feed,
  processes: Pick<RemoteProcesses, "note">,
): FastifyPluginAsync {
  return async (scope) => {
    const app = scope as Server;
    addFeedAccess(app, access);
    app.addHook("preClose", (done) => {
      feed.close();
      done();
    });

    app.get("/internal/feed", { ...ROUTE, schema: SCHEMAS.follow }, async (request, reply) => {
      const { after } = request.query;
      const positions = [after].flat().map(positionFrom);
      await send(request, reply, () => noted(feed.follow(positions), request.ip, processes));
    });
    app.get("/internal/feed/blocks", { ...ROUTE, schema: SCHEMAS.blocks }, async (request, reply) => {
      const { after, last } = request.query;
      await send(request, reply, () => feed.blocks(Number(after), Number(last)));
    });
    app.get("/internal/feed/state", { ...ROUTE, schema: SCHEMAS.state }, async (request, reply) => {
      await send(request, reply, () => feed.state());
    });
    addEventRoutes(app, feed);
  };
}

/** Notes the mirror with each part of the response, heartbeats included. */
function noted(
  response: FollowResponse,
  address: string,
  processes: Pick<RemoteProcesses, "note">,
): FeedResponse {
  async function* parts(): AsyncIterable<string> {
    for await (const part of response.text) {
      processes.note({ kind: "mirror", address, height: response.height() });
      yield part;
    }
  }
  return { text: parts(), release: response.release };
}

function positionFrom(text: string): Position {
  const position = readPosition(text);
  if (position) return position;
  throw new HttpError("INVALID_MEMBER", '"after" must be HEIGHT:ID of a block, up to 32 times');
}

/** Adds the events of the log for mirrors (docs/spec/feed.md 6). */
function addEventRoutes(app: Server, feed: Pick<Feed, "events" | "continueEvents">): void {
  app.get("/internal/feed/events", { ...ROUTE, schema: SCHEMAS.events }, async (request, reply) => {
    const position = eventPositionFrom(request.query);
    await send(request, reply, () => feed.events(position));
  });
  app.post("/internal/feed/events/continuation", { schema: SCHEMAS.continuation }, async (request, reply) => {
    feed.continueEvents(request.body.after);
    return reply.code(204).send();
  });
}

function eventPositionFrom({
  after,
  ...more
}: {
  readonly after: string;
  readonly id?: string;
  readonly transfer?: string;
}): EventPosition {
  if ((after === "oldest" || after === "newest") && more.id === undefined) return after;
  const sequence = Number(after);
  if (SEQUENCE.test(after) && sequence <= MAX_SEQUENCE) return { sequence, ...more };
  throw new HttpError(
    "INVALID_MEMBER",
    '"after" must be the sequence of an event, with its "id" or without, or "oldest" or "newest"',
  );
}

const RETRY_AFTER_SECONDS = 60;

/** Sends a response in parts, each after the client has read the previous one. */
export async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  open: () => FeedResponse,
): Promise<void> {
  const response = opened(open, reply);
  const isCompressed = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    ...(isCompressed && { "content-encoding": "gzip" }),
  });
  reply.raw.flushHeaders();
  // The text notices the end of the connection only with its next part.
  reply.raw.once("close", response.release);
  const text = Readable.from(response.text);
  // Flushed after each part: a mirror must not wait until the buffer of the compressor is full.
  const gzip = isCompressed ? [createGzip({ flush: constants.Z_SYNC_FLUSH, level: 1 })] : [];
  // A client that disconnects is not an error.
  await pipeline([text, ...gzip, reply.raw]).catch(() => reply.raw.destroy());
  response.release();
}

function opened(open: () => FeedResponse, reply: FastifyReply): FeedResponse {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof FeedError)) throw error;
    if (error.isRetryable) reply.header("retry-after", RETRY_AFTER_SECONDS);
    throw new HttpError(error.code, error.message);
  }
}
