/** Options of `uniknode conform`. */
import {
  optionTable,
  readChoice,
  readInteger,
  readSwitch,
  readText,
  readTexts,
} from "../../config/define-option.ts";
import { SCENARIOS } from "../../conform/run.ts";

/** Reads names of scenarios; the command checks them. */
const readScenarios = Object.assign((value: unknown) => readTexts(value), {
  choices: SCENARIOS.map(({ name }) => name),
});

/** Reads the secret of a webhook, and returns its token of 64 hexadecimal digits. */
export function readSecret(value: unknown): string {
  const text = readText(value).trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  const [, base64] = /^whsec_([A-Za-z0-9+/]{43}=)$/.exec(text) ?? [];
  if (base64 !== undefined) return Buffer.from(base64, "base64").toString("hex");
  throw new Error("the token of a webhook (64 hexadecimal digits) or its secret (whsec_...) is expected");
}

/** Reads the URL of a receiver. */
export function readReceiverUrl(value: unknown): string {
  const text = readText(value);
  if (!URL.canParse(text) || !/^https?:/.test(text)) {
    throw new Error("a URL such as http://127.0.0.1:8000/hook is expected");
  }
  return text;
}

export const conformOptions = optionTable({
  secret: {
    variable: "UNIKNODE_CONFORM_SECRET",
    placeholder: "SECRET",
    sentence:
      "Secret that the receiver verifies with: the token of a webhook, or whsec_... The variable keeps it out of the process list.",
    secret: true,
    read: readSecret,
  },
  probe: {
    variable: "UNIKNODE_CONFORM_PROBE",
    placeholder: "URL",
    sentence:
      "URL at which the receiver shows its facts; if not given, /conform below the URL of the receiver.",
    read: readReceiverUrl,
  },
  restart: {
    variable: "UNIKNODE_CONFORM_RESTART",
    placeholder: "COMMAND",
    sentence:
      "Shell command that restarts the receiver and returns; without it, the scenarios with a restart are skipped.",
    read: readText,
  },
  event: {
    variable: "UNIKNODE_CONFORM_EVENT",
    placeholder: "NAME",
    sentence: "Event that the receiver handles: facts of other events can be absent at the probe.",
    default: "block.applied" as const,
    read: readChoice("block.applied", "transaction.applied", "unik.minted"),
  },
  only: {
    variable: "UNIKNODE_CONFORM_ONLY",
    placeholder: "NAME",
    sentence: "Name of a scenario to play; may be given several times.",
    isRepeatable: true,
    default: [],
    read: readScenarios,
  },
  timeout: {
    variable: "UNIKNODE_CONFORM_TIMEOUT",
    placeholder: "SECONDS",
    sentence: "Timeout in seconds of each request, as --webhook-timeout of the node.",
    default: 10,
    read: readInteger(1, 600),
  },
  json: {
    variable: "UNIKNODE_CONFORM_JSON",
    sentence: "Print one JSON document.",
    default: false,
    read: readSwitch,
  },
});
