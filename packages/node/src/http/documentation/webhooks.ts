/** The description of the webhook register, whose routes parse their requests themselves (webhooks.md 4). */
import type { FastifySchema } from "fastify";
import { EVENTS } from "../../events/catalogue.ts";
import { type TProperties, type TSchema, Type } from "../../platform/json/schema.ts";
import { Meta, pageQuery } from "../requests/pagination.ts";
import { query } from "../requests/parameters.ts";
import { described } from "./route.ts";

const Condition = Type.Object(
  {
    key: Type.String({ description: "Path of a member of the event's data." }),
    condition: Type.String({ description: "Operator: `eq`, `gte`, `contains`, `between` ..." }),
    value: Type.Optional(Type.Unknown()),
  },
  { title: "Condition" },
);
const typedSwitch = Type.Union([Type.Boolean(), Type.Enum(["true", "false"])]);

const target = Type.String({
  description: "URL that the deliveries are posted to.",
  examples: ["https://receiver.example/hook"],
});
const conditions = Type.Array(Condition, {
  description:
    "The old node required at least one condition. This node also accepts an empty list, which is always true.",
  examples: [[{ key: "amount", condition: "gte", value: "100000000" }]],
});

/** Writable members. */
const writable = {
  name: Type.Optional(
    Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
      description: "Display name; null removes it.",
    }),
  ),
  event: Type.Optional(
    Type.String({
      description: `One of ${Object.keys(EVENTS).join(", ")}.`,
      examples: ["transaction.applied"],
    }),
  ),
  events: Type.Optional(
    Type.Array(Type.String(), {
      description: "Further names, and patterns such as `transaction.*`; may be given instead of `event`.",
      examples: [["block.applied", "block.reverted"]],
    }),
  ),
  target: Type.Optional(target),
  enabled: Type.Optional(typedSwitch),
  conditions: Type.Optional(conditions),
  match: Type.Optional(
    Type.Enum(["any", "all"], { description: "Whether any or all conditions must be true." }),
  ),
  order: Type.Optional(
    Type.Enum(["parallel", "strict"], {
      description: "`strict`: a delivery waits until the previous one has ended.",
    }),
  ),
  confirmations: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: "Number of blocks that must follow a block before its events are delivered.",
    }),
  ),
};
const eventOrNull = Type.Optional(
  Type.Union([Type.String(), Type.Null()], {
    description: "Name of an event; null removes it, and `events` remain.",
  }),
);
const queue = Type.Optional(
  Type.Enum(["keep", "drop"], {
    description:
      "What happens to pending deliveries: `keep` (default) sends them in order to the current target; `drop` cancels them.",
  }),
);
/** Schema of an object whose optional members appear only if they have a value. */
const open = (title: string, members: TProperties) =>
  Type.Object(members, { title, additionalProperties: true });

const webhook = {
  id: Type.Integer(),
  event: Type.String(),
  target: Type.String(),
  enabled: Type.Boolean(),
  conditions: Type.Array(Type.Unknown()),
};
const Failing = Type.Object(
  {
    reason: Type.Optional(Type.String({ description: "Reason of the last failure." })),
    since: Type.Optional(
      Type.Integer({ description: "Time of the first consecutive failure, in milliseconds since 1970." }),
    ),
  },
  {
    title: "Failing",
    description: "Present while recent attempts fail: the last one, or more than half of the last 5 minutes.",
  },
);
const Webhook = open("Webhook", {
  ...webhook,
  name: Type.Optional(Type.String({ maxLength: 100 })),
  queued: Type.Optional(
    Type.Integer({ minimum: 1, description: "Number of pending deliveries; absent if zero." }),
  ),
  failing: Type.Optional(Failing),
});
const Secret = open("WebhookWithToken", {
  ...webhook,
  token: Type.String({
    pattern: "^[0-9a-f]{64}$",
    description: "The secret of the webhook, in hexadecimal.",
  }),
  secret: Type.String({
    pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
    description: "The same 32 bytes in the format of Standard Webhooks.",
  }),
  overlapUntil: Type.Optional(
    Type.Integer({
      description: "Time until which the previous secret is valid, in milliseconds since 1970.",
    }),
  ),
});
const Delivery = open("Delivery", { id: Type.Integer(), messageId: Type.String() });
const count = Type.Integer({ minimum: 0 });
const Totals = Type.Object(
  { active: count, failing: count, paused: count, suspended: count, queued: count },
  {
    title: "WebhookHealth",
    description: "Number of webhooks in each state, and number of pending deliveries.",
  },
);
const Summary = Type.Object(
  {
    state: Type.Enum(["active", "failing", "paused", "suspended"]),
    queued: Type.Integer({ minimum: 0, description: "Number of all pending deliveries." }),
    lastHour: Type.Object(
      { succeeded: count, failed: count },
      { description: "Attempts that ended within the last hour." },
    ),
    failing: Type.Optional(Failing),
    count: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      description: "Number of counted deliveries: the newest, at most 1,000.",
    }),
    delivered: count,
    failed: count,
    cancelled: count,
    pending: count,
    since: Type.Optional(
      Type.Integer({
        description: "Time at which the oldest counted delivery was created, in milliseconds since 1970.",
      }),
    ),
    oldestWaitingAt: Type.Optional(
      Type.Integer({
        description: "Time at which the oldest pending delivery was created, in milliseconds since 1970.",
      }),
    ),
    hours: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "Start of the hour, in milliseconds since 1970." }),
        delivered: count,
        failed: count,
      }),
      { description: "The last 24 hours, oldest first." },
    ),
  },
  { title: "DeliverySummary" },
);
const DryRun = open("DryRun", {
  fromHeight: Type.Integer(),
  toHeight: Type.Integer(),
  note: Type.Optional(
    Type.String({
      description: "Present if no event would have been delivered: the reason, and what to try next.",
    }),
  ),
});
const Replay = Type.Object(
  {
    fromHeight: Type.Integer({ minimum: 1 }),
    toHeight: Type.Integer({ minimum: 1, description: "Included." }),
    nextHeight: Type.Integer({ description: "The next block to deliver; above `toHeight` at the end." }),
    events: Type.Integer({ description: "Number of deliveries queued so far." }),
    waiting: Type.Integer({ description: "Number of these deliveries that have no final outcome yet." }),
    state: Type.Enum(["running", "finished", "cancelled"]),
    reason: Type.Optional(Type.String({ description: "Reason of the cancellation." })),
    startedAt: Type.Integer({ description: "Milliseconds since 1970." }),
    finishedAt: Type.Optional(Type.Integer({ description: "Milliseconds since 1970." })),
  },
  { title: "Replay" },
);
const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description:
      "Conditions that are probably mistakes, such as a member that no event has; absent if there are none.",
  }),
);
const TriedTarget = Type.Object(
  {
    accepted: Type.Boolean({ description: "Whether the response was a success." }),
    startedAt: Type.Integer({ description: "Milliseconds since 1970." }),
    durationMs: Type.Integer(),
    status: Type.Optional(Type.Integer()),
    answer: Type.Optional(Type.String({ description: "Beginning of the response body." })),
    error: Type.Optional(Type.String({ description: "Code of the failure if there was no response." })),
    reason: Type.Optional(Type.String()),
  },
  { title: "TriedTarget" },
);
const Nothing = Type.Object({}, { additionalProperties: false });

const id = { id: Type.String({ description: "Id of the webhook, or the UUID of an imported webhook." }) };
const delivery = { ...id, delivery: Type.String({ description: "`id` or `messageId` of the delivery." }) };
const data = (schema: TSchema) => Type.Object({ data: schema });

type Parts = { params?: TProperties; querystring?: TProperties; body?: TProperties; status?: number };

function route(
  summary: string,
  answer: TSchema,
  { params, querystring, body, status = 200 }: Parts,
): FastifySchema {
  return {
    ...described("Webhooks", summary, answer),
    response: { [status]: answer, 401: Type.Object({}, { description: "Wrong token." }) },
    security: [{ token: [] }],
    ...(params && { params: Type.Object(params) }),
    ...(querystring && { querystring: query(querystring) }),
    ...(body && { body: Type.Object(body) }),
  };
}

const list = (row: TSchema, meta: TSchema) => Type.Object({ meta, data: Type.Array(row) });
const CursorMeta = Type.Object({ count: Type.Integer(), next: Type.Union([Type.String(), Type.Null()]) });
const { totalCountIsEstimate: _, ...pageMeta } = Meta.properties;
const milliseconds = Type.Optional(Type.Integer({ minimum: 0, description: "Milliseconds since 1970." }));

/** Schemas by method and path. */
export const webhookRoutes: Readonly<Record<string, FastifySchema>> = {
  "GET /webhooks": route("Lists the registered webhooks.", list(Webhook, Type.Object(pageMeta)), {
    querystring: { page: pageQuery.page, limit: pageQuery.limit },
  }),
  "POST /webhooks": route(
    "Registers a webhook. Only this response contains its secret.",
    Type.Object({ data: Secret, warnings }),
    {
      body: {
        ...writable,
        target,
        conditions,
        ping: Type.Optional(typedSwitch),
        queue,
      },
      status: 201,
    },
  ),
  "GET /webhooks/health": route(
    "Returns the number of webhooks in each state, and of pending deliveries.",
    data(Totals),
    {},
  ),
  "GET /webhooks/:id": route("Returns a webhook.", data(Webhook), { params: id }),
  "PUT /webhooks/:id": route(
    "Changes a webhook.",
    Type.Object({ warnings }, { additionalProperties: false }),
    { params: id, body: { ...writable, event: eventOrNull, queue } },
  ),
  "DELETE /webhooks/:id": route("Removes a webhook.", Nothing, { params: id }),
  "POST /webhooks/:id/rotate": route("Replaces the secret of a webhook.", data(Secret), {
    params: id,
    body: { overlapSeconds: Type.Optional(Type.Integer({ minimum: 0 })) },
  }),
  "POST /webhooks/test": route(
    "Returns the events of the last blocks that a webhook would have received.",
    data(DryRun),
    {
      body: { ...writable, blocks: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) },
    },
  ),
  "POST /webhooks/ping": route("Sends a ping to a target that is not registered.", data(TriedTarget), {
    body: { target },
  }),
  "GET /webhooks/:id/deliveries": route(
    "Lists the deliveries of a webhook, newest first.",
    list(Delivery, CursorMeta),
    {
      params: id,
      querystring: {
        state: Type.Optional(Type.Enum(["pending", "delivered", "failed", "cancelled"])),
        event: Type.Optional(Type.String({ description: "Name of an event." })),
        height: pageQuery.page,
        from: milliseconds,
        to: milliseconds,
        cursor: pageQuery.page,
        limit: pageQuery.limit,
      },
    },
  ),
  "GET /webhooks/:id/deliveries/summary": route(
    "Returns the state, the attempts of the last hour, the outcomes of the newest 1,000 deliveries, and the number of deliveries that ended in each of the last 24 hours.",
    data(Summary),
    { params: id },
  ),
  "GET /webhooks/:id/deliveries/:delivery": route("Returns a delivery with its body.", data(Delivery), {
    params: delivery,
  }),
  "POST /webhooks/:id/deliveries/:delivery/retry": route(
    "Sends a delivery immediately, regardless of its state.",
    Nothing,
    {
      params: delivery,
    },
  ),
  "POST /webhooks/:id/deliveries/retry": route(
    "Sends the listed deliveries immediately, or all deliveries that match. Without `state`, failed deliveries match.",
    data(Type.Object({ retried: Type.Integer({ minimum: 0 }) })),
    {
      params: id,
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
        from: milliseconds,
        to: milliseconds,
        since: milliseconds,
      },
    },
  ),
  "POST /webhooks/:id/ping": route("Sends a test delivery to the target.", data(Delivery), { params: id }),
  "POST /webhooks/:id/replay": route(
    "Starts a replay, which delivers the events of a range of blocks again.",
    data(Replay),
    {
      params: id,
      body: { fromHeight: Type.Integer({ minimum: 1 }), toHeight: Type.Integer({ minimum: 1 }) },
      status: 202,
    },
  ),
  "GET /webhooks/:id/replay": route("Returns the last replay of a webhook.", data(Replay), { params: id }),
  "DELETE /webhooks/:id/replay": route("Cancels the replay of a webhook.", Nothing, { params: id }),
};
