/** Requests to the webhook register, and objects in its responses, for its description. */
import { EVERY_EVENT } from "@uniknode/client/every-event";
import { EVENTS } from "../../events/catalogue.ts";
import { type TProperties, Type } from "../../platform/json/schema.ts";
import { WEBHOOK_ORDERS } from "../../webhooks/storage/webhook-list.ts";

/** Schema of an object whose optional members appear only if they have a value. */
const open = (title: string, members: TProperties) =>
  Type.Object(members, { title, additionalProperties: true });

const time = (text: string) => Type.Integer({ description: `${text}, in milliseconds since 1970.` });
const unixMs = Type.Integer({ description: "Milliseconds since 1970." });

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
    since: Type.Optional(time("Time of the first consecutive failure")),
    nextAttemptAt: Type.Optional(time("Earliest time of the next retry")),
  },
  {
    title: "Failing",
    description: "Present while recent attempts fail: the last one, or more than half of the last 5 minutes.",
  },
);
export const Webhook = open("Webhook", {
  ...webhook,
  name: Type.Optional(Type.String({ maxLength: 100 })),
  queued: Type.Optional(
    Type.Integer({ minimum: 1, description: "Number of pending deliveries; absent if zero." }),
  ),
  failing: Type.Optional(Failing),
});
const created = {
  ...webhook,
  token: Type.String({
    pattern: "^[0-9a-f]{64}$",
    description: "The secret of the webhook, in hexadecimal.",
  }),
};
export const Created = open("WebhookWithToken", created);
export const Rotated = open("RotatedWebhook", {
  ...created,
  secret: Type.String({
    pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
    description: "The same 32 bytes in the format of Standard Webhooks.",
  }),
  overlapUntil: Type.Optional(time("Time until which the previous secret is valid")),
});
const attempt = {
  startedAt: unixMs,
  durationMs: Type.Integer(),
  status: Type.Optional(Type.Integer()),
  response: Type.Optional(Type.String({ description: "Beginning of the response body." })),
  responseHeaders: Type.Optional(
    Type.String({
      maxLength: 1_024,
      description:
        "First 16 header fields of the response in the order received, each a line `name: value`, without cookies.",
    }),
  ),
  error: Type.Optional(Type.String({ description: "Code of the failure if there was no response." })),
};
export const Delivery = open("Delivery", {
  id: Type.Integer(),
  messageId: Type.String(),
  attempts: Type.Array(open("DeliveryAttempt", attempt), { description: "In chronological order." }),
});
const count = Type.Integer({ minimum: 0 });
export const Totals = Type.Object(
  { active: count, failing: count, paused: count, suspended: count, queued: count },
  {
    title: "WebhookHealth",
    description: "Number of webhooks in each state, and number of pending deliveries.",
  },
);
export const Summary = Type.Object(
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
    since: Type.Optional(time("Time at which the oldest counted delivery was created")),
    oldestWaitingAt: Type.Optional(time("Time at which the oldest pending delivery was created")),
    hours: Type.Array(Type.Object({ at: time("Start of the hour"), delivered: count, failed: count }), {
      description: "The last 24 hours, oldest first.",
    }),
  },
  { title: "DeliverySummary" },
);
export const DryRun = open("DryRun", {
  fromHeight: Type.Integer(),
  toHeight: Type.Integer(),
  note: Type.Optional(
    Type.String({
      description: "Present if no event would have been delivered: the reason, and what to try next.",
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Conditions that are probably mistakes, such as a member that no event has; absent if there are none.",
    }),
  ),
});
export const Replay = Type.Object(
  {
    fromHeight: Type.Integer({ minimum: 1 }),
    toHeight: Type.Integer({ minimum: 1, description: "Included." }),
    nextHeight: Type.Integer({ description: "The next block to deliver; above `toHeight` at the end." }),
    events: Type.Integer({ description: "Number of deliveries queued so far." }),
    waiting: Type.Integer({ description: "Number of these deliveries that have no final outcome yet." }),
    state: Type.Enum(["running", "finished", "cancelled"]),
    reason: Type.Optional(Type.String({ description: "Reason of the cancellation." })),
    startedAt: unixMs,
    finishedAt: Type.Optional(unixMs),
  },
  { title: "Replay" },
);
export const TriedTarget = Type.Object(
  {
    accepted: Type.Boolean({ description: "Whether the response was a success." }),
    ...attempt,
    reason: Type.Optional(Type.String()),
  },
  { title: "TriedTarget" },
);
export const Nothing = Type.Object({}, { additionalProperties: false });

export const webhookParams = {
  id: Type.String({ description: "Id of the webhook, or the UUID of an imported webhook." }),
};
export const deliveryParams = {
  ...webhookParams,
  delivery: Type.String({ description: "`id` or `messageId` of the delivery." }),
};
export const health = Type.Optional(
  Type.Enum(["true", "false"], {
    description:
      "`true` adds the members that a webhook has in certain states: `queued`, `failing`, `suspended`, `replay`.",
  }),
);
export const webhookFilter = {
  state: Type.Optional(
    Type.Enum(["active", "failing", "paused", "suspended"], { description: "State of the webhooks." }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Part of the name, the target or the names of the events, in upper or lower case.",
    }),
  ),
  orderBy: Type.Optional(
    Type.Enum(WEBHOOK_ORDERS, { description: "Webhooks without a value are last, ties by ascending id." }),
  ),
};
export const milliseconds = Type.Optional(
  Type.Integer({ minimum: 0, description: "Milliseconds since 1970." }),
);

const Condition = Type.Object(
  {
    key: Type.String({ description: "Path of a member of the event's data." }),
    condition: Type.String({ description: "Operator: `eq`, `gte`, `contains`, `between` ..." }),
    value: Type.Optional(Type.Unknown()),
  },
  { title: "Condition" },
);
export const typedSwitch = Type.Union([Type.Boolean(), Type.Enum(["true", "false"])]);

export const target = Type.String({
  description:
    "URL that the deliveries are posted to, or `nats://HOST:PORT/SUBJECT` for a JetStream stream, with `USER:PASSWORD@` or `TOKEN@` before the host if necessary, and the scheme `tls` to require encryption.",
  examples: ["https://receiver.example/hook", "nats://nats.example:4222/chain.blocks"],
});
export const conditions = Type.Array(Condition, {
  minItems: 1,
  maxItems: 50,
  description: `At least one. \`${JSON.stringify(EVERY_EVENT)}\` is true for every event.`,
  examples: [[{ key: "amount", condition: "gte", value: "100000000" }]],
});

/** Writable members of a webhook. */
export const writable = {
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
  proof: Type.Optional(
    Type.Union([Type.Boolean(), Type.Enum(["true", "false"])], {
      description:
        "Adds a proof to each delivery: that its block is final if `confirmations` suffice, otherwise that a block contains the fact.",
    }),
  ),
};
export const eventOrNull = Type.Optional(
  Type.Union([Type.String(), Type.Null()], {
    description: "Name of an event; null removes it, and `events` remain.",
  }),
);
export const queue = Type.Optional(
  Type.Enum(["keep", "drop"], {
    description:
      "What happens to pending deliveries: `keep` (default) sends them in order to the current target; `drop` cancels them.",
  }),
);
