/** Objects in responses of the webhook register, for its description. */
import { type TProperties, Type } from "../../platform/json/schema.ts";

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
  overlapUntil: Type.Optional(
    Type.Integer({
      description: "Time until which the previous secret is valid, in milliseconds since 1970.",
    }),
  ),
});
export const Delivery = open("Delivery", { id: Type.Integer(), messageId: Type.String() });
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
    startedAt: Type.Integer({ description: "Milliseconds since 1970." }),
    finishedAt: Type.Optional(Type.Integer({ description: "Milliseconds since 1970." })),
  },
  { title: "Replay" },
);
export const TriedTarget = Type.Object(
  {
    accepted: Type.Boolean({ description: "Whether the response was a success." }),
    startedAt: Type.Integer({ description: "Milliseconds since 1970." }),
    durationMs: Type.Integer(),
    status: Type.Optional(Type.Integer()),
    response: Type.Optional(Type.String({ description: "Beginning of the response body." })),
    error: Type.Optional(Type.String({ description: "Code of the failure if there was no response." })),
    reason: Type.Optional(Type.String()),
  },
  { title: "TriedTarget" },
);
export const Nothing = Type.Object({}, { additionalProperties: false });
