/** Options of `uniknode listen`. */
import { connectionOptions } from "../../config/connection.ts";
import { option, readChoice, readInteger, readSwitch, readTexts } from "../../config/define-option.ts";
import { tokenOptions } from "../access/local-token.ts";
import { readReceiverUrl } from "../conform/options.ts";

export const listenOptions = {
  url: connectionOptions.url,
  ...tokenOptions,
  event: option({
    name: "event",
    variable: "UNIKNODE_LISTEN_EVENT",
    placeholder: "NAME",
    sentence: "Name of an event, or a pattern such as transaction.*; may be given several times.",
    isRepeatable: true,
    default: ["*"],
    read: readTexts,
  }),
  condition: option({
    name: "condition",
    variable: "UNIKNODE_LISTEN_CONDITION",
    placeholder: "TEXT",
    sentence: 'Condition such as "amount gte 100000000"; may be given several times.',
    isRepeatable: true,
    default: [],
    read: readTexts,
  }),
  match: option({
    name: "match",
    variable: "UNIKNODE_LISTEN_MATCH",
    placeholder: "HOW",
    sentence: "Whether any or all of the conditions must be true.",
    default: "any" as const,
    read: readChoice("any", "all"),
  }),
  order: option({
    name: "order",
    variable: "UNIKNODE_LISTEN_ORDER",
    placeholder: "HOW",
    sentence:
      "Order of deliveries; strict: one at a time, in order; parallel: the default of other receivers.",
    default: "strict" as const,
    read: readChoice("strict", "parallel"),
  }),
  port: option({
    name: "port",
    variable: "UNIKNODE_LISTEN_PORT",
    placeholder: "PORT",
    sentence: "Port to receive on, at the loopback address; 0 selects a free port.",
    default: 0,
    read: readInteger(0, 65535),
  }),
  status: option({
    name: "status",
    variable: "UNIKNODE_LISTEN_STATUS",
    placeholder: "CODE",
    sentence: "HTTP status of the response to verified deliveries.",
    default: 204,
    read: readInteger(200, 599),
  }),
  delay: option({
    name: "delay",
    variable: "UNIKNODE_LISTEN_DELAY",
    placeholder: "MS",
    sentence: "Milliseconds to wait before each response.",
    default: 0,
    read: readInteger(0, 3_600_000),
  }),
  forwardTo: option({
    name: "forwardTo",
    variable: "UNIKNODE_LISTEN_FORWARD_TO",
    placeholder: "URL",
    sentence:
      "Send each event of the live stream to this URL as a signed delivery, instead of registering a webhook.",
    read: readReceiverUrl,
  }),
  json: option({
    name: "json",
    variable: "UNIKNODE_LISTEN_JSON",
    sentence: "Print one JSON object per delivery, and everything else to standard error.",
    default: false,
    read: readSwitch,
  }),
};
