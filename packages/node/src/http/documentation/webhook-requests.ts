/** Parameters and members of requests to the webhook register, for its description. */
import { EVERY_EVENT } from "@uniknode/client/every-event";
import { EVENTS } from "../../events/catalogue.ts";
import { Type } from "../../platform/json/schema.ts";

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
