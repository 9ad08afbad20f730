/** Every option of `uniknode dev` and `uniknode run`: the one source of help texts, validation and defaults. */
import { readAssumeValid } from "./assume-valid.ts";
import {
  option,
  readChoice,
  readHosts,
  readInteger,
  readNodeUrls,
  readRanges,
  readSwitch,
  readText,
  readToken,
} from "./option.ts";
import { readPauses } from "./pauses.ts";
import { peerOptions } from "./peers.ts";
import { poolOptions } from "./pool.ts";
import { readSecretList } from "./secrets.ts";
import { readTimeServers } from "./time.ts";

/** Options of every command that starts a node. */
export const nodeOptions = {
  data: option({
    name: "data",
    placeholder: "DIR",
    sentence: "Folder of the database; created when missing.",
    read: readText,
  }),
  httpHost: option({
    name: "httpHost",
    placeholder: "HOST",
    sentence: "Address that the HTTP server listens on.",
    oldVariables: ["CORE_API_HOST"],
    default: "127.0.0.1",
    read: readText,
  }),
  httpPort: option({
    name: "httpPort",
    placeholder: "PORT",
    sentence: "Port of the HTTP server; 0 selects a free port and prints it.",
    oldVariables: ["CORE_API_PORT"],
    default: 4003,
    read: readInteger(0, 65535),
  }),
  httpAllow: option({
    name: "httpAllow",
    placeholder: "RANGES",
    sentence:
      "Addresses and networks that the HTTP server accepts, separated by commas (192.0.2.7,10.0.0.0/8); * for all.",
    default: "*",
    read: readRanges,
  }),
  httpTrustProxy: option({
    name: "httpTrustProxy",
    placeholder: "RANGES",
    sentence:
      "Proxies in front of the HTTP server, as in httpAllow: the client's address is read from the X-Forwarded-For that they send.",
    read: readRanges,
  }),
  httpHosts: option({
    name: "httpHosts",
    placeholder: "NAMES",
    sentence:
      "Names and addresses of this machine, separated by commas, that requests of webhookLegacy and of the console may have as Host, beside localhost and the address they arrive at.",
    default: [],
    read: readHosts,
  }),
  httpConnections: option({
    name: "httpConnections",
    placeholder: "N",
    sentence: "Maximum of open connections to the HTTP server, of all clients together.",
    default: 2_000,
    read: readInteger(10, 1_000_000),
  }),
  httpConnectionsPerClient: option({
    name: "httpConnectionsPerClient",
    placeholder: "N",
    sentence:
      "Maximum of open connections of one client: an IPv4 address or an IPv6 /64; a /48 may have twice as many, a proxy of httpTrustProxy all.",
    default: 500,
    read: readInteger(1, 1_000_000),
  }),
  operationsPort: option({
    name: "operationsPort",
    placeholder: "PORT",
    sentence:
      "Port of a separate listener for /health and /metrics; when given, httpPort does not serve them. 0 takes a free one.",
    read: readInteger(0, 65535),
  }),
  operationsHost: option({
    name: "operationsHost",
    placeholder: "HOST",
    sentence: "Address that the listener of operationsPort listens on.",
    default: "127.0.0.1",
    read: readText,
  }),
  console: option({
    name: "console",
    placeholder: "on|off",
    sentence:
      "Serve the console, a web page below /console/; it shows what the API shows, and more after signing in.",
    default: "on" as const,
    read: readChoice("on", "off"),
  }),
  rateLimit: option({
    name: "rateLimit",
    placeholder: "N",
    sentence: "Requests per minute that one client may send; 0 for no limit.",
    oldVariables: ["CORE_API_RATE_LIMIT_USER_LIMIT"],
    default: 100,
    read: readInteger(0, 1_000_000),
  }),
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
      "Token that requests to the webhook register must carry; generated on the first start when not given.",
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
  webhookLegacy: option({
    name: "webhookLegacy",
    placeholder: "RANGES",
    sentence:
      "Addresses, as in httpAllow, that may use the webhook register without token, as with the old node; no other address may use it then.",
    read: readRanges,
  }),
  eventsPublic: option({
    name: "eventsPublic",
    sentence: "Let every client read the live stream of events, without the webhook token.",
    default: false,
    read: readSwitch,
  }),
  eventsMaxAge: option({
    name: "eventsMaxAge",
    placeholder: "HOURS",
    sentence:
      "Hours after which a block is not delivered to webhooks and streams while the node catches up; 0 delivers all blocks.",
    default: 24,
    read: readInteger(0, 1_000_000),
  }),
  metricsPublic: option({
    name: "metricsPublic",
    sentence: "Let every client read the metrics, without the webhook token.",
    default: false,
    read: readSwitch,
  }),
  webhookLimit: option({
    name: "webhookLimit",
    placeholder: "N",
    sentence: "Maximum of registered webhooks; each adds a little work for every event.",
    default: 1_000,
    read: readInteger(1, 10_000),
  }),
  webhookPrivateTargets: option({
    name: "webhookPrivateTargets",
    sentence:
      "Deliver webhooks to loopback and private addresses as well; metadata services of clouds stay refused.",
    read: readSwitch,
  }),
  webhookAllow: option({
    name: "webhookAllow",
    placeholder: "RANGES",
    sentence: "Addresses and networks, as in httpAllow, that webhooks may always be delivered to.",
    read: readRanges,
  }),
  webhookDeny: option({
    name: "webhookDeny",
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, as in httpAllow, that webhooks are never delivered to, whatever else is allowed.",
    read: readRanges,
  }),
  webhookHttpsOnly: option({
    name: "webhookHttpsOnly",
    sentence: "Deliver webhooks to https targets only.",
    default: false,
    read: readSwitch,
  }),
  webhookHostRate: option({
    name: "webhookHostRate",
    placeholder: "N",
    sentence: "Deliveries per second to one host, over all webhooks; 0 for no limit.",
    default: 0,
    read: readInteger(0, 1_000_000),
  }),
  webhookTimeout: option({
    name: "webhookTimeout",
    placeholder: "SECONDS",
    sentence: "Seconds that a webhook target has for its whole answer.",
    default: 10,
    read: readInteger(1, 60),
  }),
  webhookRetries: option({
    name: "webhookRetries",
    placeholder: "PAUSES",
    sentence: "Pauses before each retry of a webhook delivery (s, m, h, d, separated by commas).",
    default: ["5s", "30s", "2m", "10m", "30m", "2h", "5h", "10h", "24h"],
    read: readPauses,
  }),
  webhookLogDays: option({
    name: "webhookLogDays",
    placeholder: "DAYS",
    sentence: "Days for which a webhook delivery stays in the log after its end.",
    default: 7,
    read: readInteger(1, 3_650),
  }),
  webhookLogFailedDays: option({
    name: "webhookLogFailedDays",
    placeholder: "DAYS",
    sentence: "Days for which a failed webhook delivery stays in the log, where it can be sent again.",
    default: 30,
    read: readInteger(1, 3_650),
  }),
  webhookLogSize: option({
    name: "webhookLogSize",
    placeholder: "N",
    sentence:
      "Maximum of deliveries in the log, over all webhooks; beyond it the oldest that have ended are removed.",
    default: 1_000_000,
    read: readInteger(1_000, 100_000_000),
  }),
  webhookQueueSize: option({
    name: "webhookQueueSize",
    placeholder: "N",
    sentence: "Maximum of queued deliveries of one webhook; beyond it the oldest fail.",
    default: 1_000_000,
    read: readInteger(1_000, 100_000_000),
  }),
  compareWith: option({
    name: "compareWith",
    placeholder: "URLS",
    sentence:
      "Other nodes, separated by commas, whose tree of final facts is compared with that of this node every minute (docs/spec/facts.md).",
    default: [],
    read: readNodeUrls,
  }),
  ...poolOptions,
  delegates: option({
    name: "delegates",
    placeholder: "FILE",
    sentence:
      'File with the passphrases of the forging delegates, or an encrypted key: {"secrets": ["...", "..."], "bip38": "..."}.',
    read: readText,
  }),
  forgerSecrets: option({
    name: "forgerSecrets",
    sentence:
      "Passphrases or encrypted keys of the forging delegates, separated by commas; all in double quotes or none (no flag).",
    oldVariables: ["FORGERS_SECRET"],
    hasNoFlag: true,
    secret: true,
    read: readSecretList,
  }),
  forgerSecret: option({
    name: "forgerSecret",
    sentence: "A single passphrase or encrypted key of a forging delegate, commas included (no flag).",
    oldVariables: ["FORGER_SECRET", "CORE_FORGER_BIP38"],
    hasNoFlag: true,
    secret: true,
    read: readText,
  }),
  forgerPassword: option({
    name: "forgerPassword",
    sentence: "Password of the encrypted keys of delegates, BIP38 (no flag).",
    oldVariables: ["CORE_FORGER_PASSWORD"],
    hasNoFlag: true,
    secret: true,
    read: readText,
  }),
  accelerator: option({
    name: "accelerator",
    placeholder: "PACKAGE",
    sentence:
      "Native package that verifies signatures instead of the node's own code, by name or folder; none for WebAssembly (docs/guides/accelerator.md).",
    read: readText,
  }),
  logLevel: option({
    name: "logLevel",
    placeholder: "LEVEL",
    sentence: "Lowest level that is logged: error, warn, info, debug, trace or silent.",
    oldVariables: ["CORE_LOG_LEVEL"],
    default: "info",
    read: readChoice("error", "warn", "info", "debug", "trace", "silent"),
  }),
  logFormat: option({
    name: "logFormat",
    placeholder: "FORMAT",
    sentence:
      "Format of the log: text for people, json for programs, or auto: text at a terminal, json elsewhere.",
    default: "auto" as const,
    read: readChoice("auto", "text", "json"),
  }),
};

export const devOptions = {
  ...nodeOptions,
  ...peerOptions,
  data: { ...nodeOptions.data, default: ".uniknode/dev" },
  rateLimit: { ...nodeOptions.rateLimit, default: 0 },
  metricsPublic: { ...nodeOptions.metricsPublic, default: true },
  webhookPrivateTargets: { ...nodeOptions.webhookPrivateTargets, default: true },
  logLevel: { ...nodeOptions.logLevel, default: "warn" as const },
  blockTime: option({
    name: "blockTime",
    placeholder: "SECONDS",
    sentence: "Seconds between two blocks.",
    default: 2,
    read: readInteger(1, 3600),
  }),
  instant: option({
    name: "instant",
    sentence: "Forge a block as soon as a transaction is accepted, and only then.",
    default: false,
    read: readSwitch,
  }),
  accounts: option({
    name: "accounts",
    placeholder: "N",
    sentence: "Number of funded accounts.",
    default: 10,
    read: readInteger(1, 200),
  }),
  mnemonic: option({
    name: "mnemonic",
    placeholder: "WORDS",
    sentence: "Mnemonic from which every key of the dev chain is derived.",
    default: "test test test test test test test test test test test junk",
    secret: true,
    read: readText,
  }),
  reset: option({
    name: "reset",
    sentence: "Delete the dev chain in the data folder and start a new one.",
    default: false,
    read: readSwitch,
  }),
};

export const runOptions = {
  ...nodeOptions,
  ...peerOptions,
  alone: option({
    name: "alone",
    sentence: "Neither listen for peers nor connect to any.",
    default: false,
    read: readSwitch,
  }),
  data: { ...nodeOptions.data, default: ".uniknode/data" },
  webhookPrivateTargets: { ...nodeOptions.webhookPrivateTargets, default: false },
  signingRecord: option({
    name: "signingRecord",
    placeholder: "FILE",
    sentence:
      "File that records every signed slot, so that none is signed twice; DIR.signing beside the data folder when not given.",
    read: readText,
  }),
  watchRounds: option({
    name: "watchRounds",
    placeholder: "N",
    sentence:
      "Rounds after its start during which the node does not forge but watches for another node that signs with its keys; 0 forges at once.",
    default: 1,
    read: readInteger(0, 100),
  }),
  network: option({
    name: "network",
    placeholder: "NAME",
    sentence: "Known network: livenet, sandbox or dalinet.",
    oldVariables: ["UNS_NET"],
    read: readChoice("livenet", "sandbox", "dalinet"),
  }),
  genesis: option({
    name: "genesis",
    placeholder: "FILE",
    sentence: "Genesis block of the known network, as JSON; requested from Uniknode peers when not given.",
    read: readText,
  }),
  assumeValid: option({
    name: "assumeValid",
    placeholder: "HEIGHT:ID",
    sentence:
      "Block on the chain, by height and full id, up to which the signatures of fetched blocks are not checked; none checks all (docs/guides/network.md).",
    read: readAssumeValid,
  }),
  timeServers: option({
    name: "timeServers",
    placeholder: "HOSTS",
    sentence:
      "NTP servers, separated by commas, to compare the clock with at the start, in this order until one answers; none disables the check.",
    read: readTimeServers,
  }),
  networkDir: option({
    name: "networkDir",
    placeholder: "DIR",
    sentence: "Folder with network.json, milestones.json, exceptions.json and genesisBlock.json.",
    read: readText,
  }),
};
