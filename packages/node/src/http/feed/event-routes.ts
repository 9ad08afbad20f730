/** The events of the log for mirrors (docs/spec/feed.md 6). */
import type { EventPosition } from "../../feed/event-reader.ts";
import type { Feed } from "../../feed/feed.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { body } from "../requests/bodies.ts";
import { send } from "./send.ts";

const MAX_ID_LENGTH = 1_024;
const MAX_TRANSFER_LENGTH = 64;
/** Leaves room for the sequences of later events. */
const MAX_SEQUENCE = 2 ** 52;
const SEQUENCE = /^\d{1,16}$/;

const SCHEMAS = {
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

/** Adds the routes to a scope that only mirrors can use. */
export function addEventRoutes(app: Server, feed: Pick<Feed, "events" | "continueEvents">): void {
  app.get(
    "/internal/feed/events",
    { exposeHeadRoute: false, config: { isEndless: true }, schema: SCHEMAS.events },
    async (request, reply) => {
      const position = positionFrom(request.query);
      await send(request, reply, () => feed.events(position));
    },
  );
  app.post("/internal/feed/events/continuation", { schema: SCHEMAS.continuation }, async (request, reply) => {
    feed.continueEvents(request.body.after);
    return reply.code(204).send();
  });
}

type Query = { readonly after: string; readonly id?: string; readonly transfer?: string };

function positionFrom({ after, ...more }: Query): EventPosition {
  if ((after === "oldest" || after === "newest") && more.id === undefined) return after;
  const sequence = Number(after);
  if (SEQUENCE.test(after) && sequence <= MAX_SEQUENCE) return { sequence, ...more };
  throw new HttpError(
    "INVALID_MEMBER",
    '"after" must be the sequence of an event, with its "id" or without, or "oldest" or "newest"',
  );
}
