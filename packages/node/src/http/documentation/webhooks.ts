/** The description of the webhook register, whose routes parse their requests themselves (webhooks.md 4). */
import type { FastifySchema } from "fastify";
import { type TProperties, type TSchema, Type } from "../../platform/json/schema.ts";
import { Meta, pageQuery } from "../requests/pagination.ts";
import { query } from "../requests/parameters.ts";
import { WARNINGS_HEADER } from "../webhooks/responses.ts";
import { described } from "./route.ts";
import * as schemas from "./webhook-schemas.ts";

const data = (schema: TSchema) => Type.Object({ data: schema });

/** Adds the header with probable mistakes to a response. */
const withWarnings = (schema: TSchema): TSchema => ({
  ...schema,
  headers: {
    [WARNINGS_HEADER]: {
      type: "string",
      description:
        "A JSON list of sentences about conditions that are probably mistakes, such as a member that no event has; absent if there are none. At most 2,048 characters: `testWebhook` returns all in its body.",
    },
  },
});

type Parts = { params?: TProperties; querystring?: TProperties; body?: TProperties; status?: number };

function route(
  summary: string,
  response: TSchema,
  { params, querystring, body, status = 200 }: Parts,
): FastifySchema {
  return {
    ...described("Webhooks", summary, response),
    response: { [status]: response, 401: Type.Object({}, { description: "Wrong token." }) },
    security: [{ token: [] }],
    ...(params && { params: Type.Object(params) }),
    ...(querystring && { querystring: query(querystring) }),
    ...(body && { body: Type.Object(body) }),
  };
}

const list = (row: TSchema, meta: TSchema) => Type.Object({ meta, data: Type.Array(row) });
const CursorMeta = Type.Object({ count: Type.Integer(), next: Type.Union([Type.String(), Type.Null()]) });
const { totalCountIsEstimate: _, ...listMeta } = Meta.properties;
/** The interface has a last page also for an empty list, unlike the lists of the old node. */
const pageMeta = { ...listMeta, last: listMeta.first };

type Schemas = Readonly<Record<string, FastifySchema>>;

/** The register itself. */
const registerRoutes: Schemas = {
  "GET /webhooks": route("Lists the registered webhooks.", list(schemas.Webhook, Type.Object(pageMeta)), {
    querystring: {
      page: pageQuery.page,
      limit: pageQuery.limit,
      health: schemas.health,
      ...schemas.webhookFilter,
    },
  }),
  "POST /webhooks": route(
    "Registers a webhook. Only this response contains its secret.",
    withWarnings(data(schemas.Created)),
    {
      body: {
        ...schemas.writable,
        target: schemas.target,
        conditions: schemas.conditions,
        ping: Type.Optional(schemas.typedSwitch),
        queue: schemas.queue,
      },
      status: 201,
    },
  ),
  "GET /webhooks/health": route(
    "Returns the number of webhooks in each state, and of pending deliveries.",
    data(schemas.Totals),
    {},
  ),
  "GET /webhooks/:id": route("Returns a webhook.", data(schemas.Webhook), {
    params: schemas.webhookParams,
    querystring: { health: schemas.health },
  }),
  "PUT /webhooks/:id": route("Changes a webhook.", withWarnings(schemas.Nothing), {
    params: schemas.webhookParams,
    body: { ...schemas.writable, event: schemas.eventOrNull, queue: schemas.queue },
  }),
  "DELETE /webhooks/:id": route("Removes a webhook.", schemas.Nothing, { params: schemas.webhookParams }),
  "POST /webhooks/:id/rotate": route("Replaces the secret of a webhook.", data(schemas.Rotated), {
    params: schemas.webhookParams,
    body: { overlapSeconds: Type.Optional(Type.Integer({ minimum: 0 })) },
  }),
  "POST /webhooks/test": route(
    "Returns the events of the last blocks that a webhook would have received.",
    data(schemas.DryRun),
    {
      body: {
        ...schemas.writable,
        conditions: schemas.conditions,
        blocks: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      },
    },
  ),
  "POST /webhooks/ping": route(
    "Sends a ping, or a given text, to a target that is not registered.",
    data(schemas.TriedTarget),
    {
      body: {
        target: schemas.target,
        body: Type.Optional(
          Type.String({
            description: "Text that is sent instead of a ping, such as the body of a delivery.",
          }),
        ),
      },
    },
  ),
};

/** The delivery log. */
const deliveryRoutes: Schemas = {
  "GET /webhooks/:id/deliveries": route(
    "Lists the deliveries of a webhook, newest first.",
    list(schemas.Delivery, CursorMeta),
    {
      params: schemas.webhookParams,
      querystring: {
        state: Type.Optional(Type.Enum(["pending", "delivered", "failed", "cancelled"])),
        event: Type.Optional(Type.String({ description: "Name of an event." })),
        height: pageQuery.page,
        from: schemas.milliseconds,
        to: schemas.milliseconds,
        cursor: pageQuery.page,
        limit: pageQuery.limit,
      },
    },
  ),
  "GET /webhooks/:id/deliveries/summary": route(
    "Returns the state, the attempts of the last hour, the outcomes of the newest 1,000 deliveries, and the number of deliveries that ended in each of the last 24 hours.",
    data(schemas.Summary),
    { params: schemas.webhookParams },
  ),
  "GET /webhooks/:id/deliveries/:delivery": route(
    "Returns a delivery with its body.",
    data(schemas.Delivery),
    { params: schemas.deliveryParams },
  ),
  "POST /webhooks/:id/deliveries/:delivery/retry": route(
    "Sends a pending delivery immediately, or an ended one again.",
    schemas.Nothing,
    {
      params: schemas.deliveryParams,
    },
  ),
  "POST /webhooks/:id/deliveries/retry": route(
    "Sends the listed deliveries immediately, or all deliveries that match. Without `state`, failed deliveries match.",
    data(
      Type.Object({
        retried: Type.Integer({ minimum: 0 }),
        notSent: Type.Optional(
          Type.String({ description: "Reason why pending deliveries stay in the queue." }),
        ),
      }),
    ),
    {
      params: schemas.webhookParams,
      body: {
        deliveries: Type.Optional(
          Type.Array(Type.Union([Type.Integer(), Type.String({ maxLength: 64 })]), {
            minItems: 1,
            maxItems: 500,
            description: "Ids or webhook-ids of the deliveries; excludes all other members.",
          }),
        ),
        state: Type.Optional(
          Type.Enum(["pending", "delivered", "failed", "cancelled", "all"], {
            description: "`all`: pending, failed and cancelled deliveries.",
          }),
        ),
        event: Type.Optional(Type.String({ description: "Name of an event." })),
        height: Type.Optional(Type.Integer({ minimum: 1 })),
        from: schemas.milliseconds,
        to: schemas.milliseconds,
        since: schemas.milliseconds,
      },
    },
  ),
  "POST /webhooks/:id/ping": route("Sends a test delivery to the target.", data(schemas.Delivery), {
    params: schemas.webhookParams,
  }),
};

const replayRoutes: Schemas = {
  "POST /webhooks/:id/replay": route(
    "Starts a replay, which delivers the events of a range of blocks again.",
    data(schemas.Replay),
    {
      params: schemas.webhookParams,
      body: { fromHeight: Type.Integer({ minimum: 1 }), toHeight: Type.Integer({ minimum: 1 }) },
      status: 202,
    },
  ),
  "GET /webhooks/:id/replay": route("Returns the last replay of a webhook.", data(schemas.Replay), {
    params: schemas.webhookParams,
  }),
  "DELETE /webhooks/:id/replay": route("Cancels the replay of a webhook.", schemas.Nothing, {
    params: schemas.webhookParams,
  }),
};

/** Schemas by method and path. */
export const webhookRoutes: Schemas = { ...registerRoutes, ...deliveryRoutes, ...replayRoutes };
