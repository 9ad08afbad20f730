/** Options of webhooks and of the live stream: access, targets, deliveries and their log. */
import { DAY_MS, durationText, parseDurationMs } from "../platform/clock/durations.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../webhooks/options.ts";
import {
  optionTable,
  readChoice,
  readInteger,
  readRanges,
  readSwitch,
  readText,
  readToken,
} from "./define-option.ts";

const { webhookLimit, retryPausesMs, retention } = DEFAULT_WEBHOOK_OPTIONS;

export const webhookOptions = optionTable({
  webhooks: {
    placeholder: "on|off",
    sentence: "Enable webhooks; when off, the register's routes return 404 and no deliveries are created.",
    oldVariables: ["CORE_WEBHOOKS_ENABLED"],
    oldMeaning: "on",
    default: "on" as const,
    read: readChoice("on", "off"),
  },
  webhookToken: {
    placeholder: "TOKEN",
    sentence:
      "Token that requests to the webhook register must contain; generated on the first start if not given.",
    secret: true,
    read: readToken,
  },
  webhookKeyFile: {
    placeholder: "FILE",
    sentence:
      "File with a key (32 characters or more) that encrypts the secrets of webhooks in the database; without it they are stored in plain text.",
    read: readText,
  },
  webhookOldKeyFile: {
    placeholder: "FILE",
    sentence: "File with the previous key; needed for the first start after the key was changed or removed.",
    read: readText,
  },
  eventsPublic: {
    sentence: "Serve the live stream of events without the webhook token.",
    default: false,
    read: readSwitch,
  },
  metricsPublic: {
    sentence: "Serve the metrics without the webhook token.",
    default: false,
    read: readSwitch,
  },
  webhookLimit: {
    placeholder: "N",
    sentence: "Maximum number of registered webhooks; each one costs a little CPU time per event.",
    default: webhookLimit,
    read: readInteger(1, 10_000),
  },
  webhookPrivateTargets: {
    sentence:
      "Allow webhook targets at loopback and private addresses; cloud metadata services are still refused.",
    read: readSwitch,
  },
  webhookAllow: {
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, in the format of httpAllow, that are always allowed as webhook targets.",
    read: readRanges,
  },
  webhookDeny: {
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, in the format of httpAllow, that are never allowed as webhook targets; takes precedence over other options.",
    read: readRanges,
  },
  webhookTimeout: {
    placeholder: "SECONDS",
    sentence: "Timeout in seconds for the complete response of a webhook target, or its acknowledgement.",
    default: 10,
    read: readInteger(1, 60),
  },
  webhookRetries: {
    placeholder: "PAUSES",
    sentence: "Pause before each retry of a webhook delivery, separated by commas, with units s, m, h or d.",
    default: retryPausesMs.map(durationText),
    read: readPauses,
  },
  webhookLogDays: {
    placeholder: "DAYS",
    sentence:
      "Days for which a finished webhook delivery stays in the log; a failed one stays for 30 days, or for this time if it is longer.",
    default: retention.maxAgeMs / DAY_MS,
    read: readInteger(1, 3_650),
  },
});

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
