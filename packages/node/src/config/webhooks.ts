/** Options of webhooks and of the live stream: access, targets, deliveries and their log. */
import { DAY_MS, durationText, parseDurationMs } from "../platform/clock/durations.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../webhooks/options.ts";
import {
  option,
  readChoice,
  readInteger,
  readRanges,
  readSwitch,
  readText,
  readToken,
} from "./define-option.ts";

const { webhookLimit, webhookHostRate, retryPausesMs, retention } = DEFAULT_WEBHOOK_OPTIONS;

export const webhookOptions = {
  webhooks: option({
    name: "webhooks",
    placeholder: "on|off",
    sentence: "Enable webhooks; when off, the register's routes return 404 and no deliveries are created.",
    oldVariables: ["CORE_WEBHOOKS_ENABLED"],
    oldMeaning: "on",
    default: "on" as const,
    read: readChoice("on", "off"),
  }),
  webhookToken: option({
    name: "webhookToken",
    placeholder: "TOKEN",
    sentence:
      "Token that requests to the webhook register must contain; generated on the first start if not given.",
    secret: true,
    read: readToken,
  }),
  webhookKeyFile: option({
    name: "webhookKeyFile",
    placeholder: "FILE",
    sentence:
      "File with a key (32 characters or more) that encrypts the secrets of webhooks in the database; without it they are stored in plain text.",
    read: readText,
  }),
  webhookOldKeyFile: option({
    name: "webhookOldKeyFile",
    placeholder: "FILE",
    sentence: "File with the previous key; needed for the first start after the key was changed or removed.",
    read: readText,
  }),
  eventsPublic: option({
    name: "eventsPublic",
    sentence: "Serve the live stream of events without the webhook token.",
    default: false,
    read: readSwitch,
  }),
  metricsPublic: option({
    name: "metricsPublic",
    sentence: "Serve the metrics without the webhook token.",
    default: false,
    read: readSwitch,
  }),
  webhookLimit: option({
    name: "webhookLimit",
    placeholder: "N",
    sentence: "Maximum number of registered webhooks; each one costs a little CPU time per event.",
    default: webhookLimit,
    read: readInteger(1, 10_000),
  }),
  webhookPrivateTargets: option({
    name: "webhookPrivateTargets",
    sentence:
      "Allow webhook targets at loopback and private addresses; cloud metadata services are still refused.",
    read: readSwitch,
  }),
  webhookAllow: option({
    name: "webhookAllow",
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, in the format of httpAllow, that are always allowed as webhook targets.",
    read: readRanges,
  }),
  webhookDeny: option({
    name: "webhookDeny",
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, in the format of httpAllow, that are never allowed as webhook targets; takes precedence over other options.",
    read: readRanges,
  }),
  webhookHostRate: option({
    name: "webhookHostRate",
    placeholder: "N",
    sentence: "Maximum number of deliveries per second and host, over all webhooks; 0 for no limit.",
    default: webhookHostRate,
    read: readInteger(0, 1_000_000),
  }),
  webhookTimeout: option({
    name: "webhookTimeout",
    placeholder: "SECONDS",
    sentence: "Timeout in seconds for the complete response of a webhook target, or its acknowledgement.",
    default: 10,
    read: readInteger(1, 60),
  }),
  webhookRetries: option({
    name: "webhookRetries",
    placeholder: "PAUSES",
    sentence: "Pause before each retry of a webhook delivery, separated by commas, with units s, m, h or d.",
    default: retryPausesMs.map(durationText),
    read: readPauses,
  }),
  webhookLogDays: option({
    name: "webhookLogDays",
    placeholder: "DAYS",
    sentence:
      "Days for which a finished webhook delivery stays in the log; a failed one stays for 30 days, or for this time if it is longer.",
    default: retention.maxAgeMs / DAY_MS,
    read: readInteger(1, 3_650),
  }),
};

const MAX_PAUSES = 30;
const MAX_PAUSE_MS = 7 * DAY_MS;

/**
 * Reads a list of pauses: one text with commas, such as `5s,2m,24h`, or a JSON array of texts.
 *
 * @throws {Error} with a message that names the expected format
 */
export function readPauses(value: unknown): readonly string[] {
  const entries = typeof value === "string" ? value.split(",") : value;
  const pauses = Array.isArray(entries)
    ? entries.map((entry) => (typeof entry === "string" ? entry.trim() : ""))
    : [];
  const isValid = (pause: string) =>
    parseDurationMs(pause) >= 1_000 && parseDurationMs(pause) <= MAX_PAUSE_MS;
  if (pauses.length > 0 && pauses.length <= MAX_PAUSES && pauses.every(isValid)) return pauses;
  throw new Error(
    `a list of 1 to ${MAX_PAUSES} pauses such as 5s,2m,24h, each of 1 second to 7 days, is expected`,
  );
}
