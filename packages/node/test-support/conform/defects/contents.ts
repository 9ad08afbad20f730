/** Receivers that do not accept what a delivery can contain. */
import { EVENTS } from "../../../src/events/catalogue.ts";
import { isInTime, isSigned } from "../receiver.ts";
import { type Defect, exchange, refusing, unless } from "./defect.ts";

const MEMBERS = new Set(
  "timestamp data event id webhookId height blockId reverts truncated link proof".split(" "),
);
const HEADERS = new Set("id timestamp signature sequence epoch".split(" ").map((name) => `webhook-${name}`));
const isKnownEvent = (name: string): boolean =>
  name in EVENTS || name === "ping" || name.endsWith(".reverted");

export const CONTENTS: readonly Defect[] = [
  {
    name: "loses the first delivery",
    parts: { handle: unless((_, { disk }) => exchange(disk, "first", 1) === undefined) },
    fails: ["one-fact"],
  },
  {
    name: "requires a sequence",
    parts: { refuse: refusing(400, (_, { headers }) => headers["webhook-sequence"] === undefined) },
    fails: ["ping"],
  },
  {
    name: "refuses unknown events",
    parts: { refuse: refusing(422, ({ event }) => !isKnownEvent(event)) },
    fails: ["unknown-event"],
  },
  {
    name: "never responds to unknown events",
    parts: { refuse: ({ event }) => (isKnownEvent(event) ? undefined : "never") },
    fails: ["unknown-event"],
  },
  {
    name: "refuses unknown members",
    parts: { refuse: refusing(422, (delivery) => Object.keys(delivery).some((name) => !MEMBERS.has(name))) },
    fails: ["unknown-member"],
  },
  {
    name: "refuses unknown headers",
    parts: {
      refuse: refusing(400, (_, { headers }) =>
        Object.keys(headers).some((name) => name.startsWith("webhook-") && !HEADERS.has(name)),
      ),
    },
    fails: ["unknown-header"],
  },
  {
    name: "requires data",
    parts: { refuse: refusing(400, ({ data }) => data === undefined) },
    fails: ["event-without-data"],
  },
  {
    name: "requires a height",
    parts: { refuse: refusing(400, ({ event, height }) => event !== "ping" && height === undefined) },
    fails: ["event-outside-blocks"],
  },
  {
    name: "ignores truncated deliveries",
    parts: { handle: unless(({ truncated }) => truncated === true) },
    fails: ["truncated-content"],
  },
  {
    name: "refuses bodies above 100 KB",
    parts: { refuse: refusing(413, (_, { body }) => body.length > 100_000) },
    fails: ["large-body"],
  },
  {
    name: "verifies the text in another encoding",
    parts: {
      isGenuine: (received) =>
        isInTime(received) && isSigned({ ...received, body: Buffer.from(received.body.toString("latin1")) }),
    },
    fails: ["non-ascii-text", "split-character"],
  },
];
