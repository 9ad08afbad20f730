/** The description of the live stream, whose route parses its requests itself (docs/guides/live-stream.md). */
import type { FastifySchema } from "fastify";
import { Type } from "../../platform/json/schema.ts";
import { pageQuery } from "../requests/pagination.ts";
import { query } from "../requests/parameters.ts";

const refusal = (description: string) => Type.Object({}, { description });

/** Schemas by method and path. */
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
