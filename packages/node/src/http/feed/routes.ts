/** The feed for mirrors, as lines of text (docs/spec/feed.md). Only addresses of the access list may use it, with the token. */
import type { FastifyPluginAsync } from "fastify";
import type { EventPosition } from "../../feed/event-reader.ts";
import type { Feed, FeedResponse, FollowResponse } from "../../feed/feed.ts";
import { type Position, readPosition } from "../../feed/line.ts";
import type { RemoteProcesses } from "../../gateway/remote-processes.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { body } from "../requests/list-schemas.ts";
import { uint } from "../requests/parameters.ts";
import { addFeedAccess, type FeedAccess } from "./access.ts";
import { send } from "./send.ts";

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
