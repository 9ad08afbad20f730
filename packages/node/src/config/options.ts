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
    sentence: "Folder of the database; created if missing.",
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
      "Client addresses and networks that may use the HTTP server, separated by commas (192.0.2.7,10.0.0.0/8); * for all.",
    default: "*",
    read: readRanges,
  }),
  httpTrustProxy: option({
    name: "httpTrustProxy",
    placeholder: "RANGES",
    sentence:
      "Addresses of trusted proxies in front of the HTTP server, in the format of httpAllow; the client address is read from their X-Forwarded-For header.",
    read: readRanges,
  }),
  httpHosts: option({
    name: "httpHosts",
    placeholder: "NAMES",
    sentence:
      "Names and addresses of this machine, separated by commas, that are allowed in the Host header of webhookLegacy and console requests, in addition to localhost and the address that a request arrives at.",
    default: [],
    read: readHosts,
  }),
  httpConnections: option({
    name: "httpConnections",
    placeholder: "N",
    sentence: "Maximum number of open connections to the HTTP server, over all clients.",
    default: 2_000,
    read: readInteger(10, 1_000_000),
  }),
  httpConnectionsPerClient: option({
    name: "httpConnectionsPerClient",
    placeholder: "N",
    sentence:
      "Maximum number of open connections per client (IPv4 address or IPv6 /64); twice as many per /48; no limit for the proxies of httpTrustProxy.",
    default: 500,
    read: readInteger(1, 1_000_000),
  }),
  operationsPort: option({
    name: "operationsPort",
    placeholder: "PORT",
    sentence:
      "Port of a separate listener for /health and /metrics, which httpPort then does not serve; 0 selects a free port.",
    read: readInteger(0, 65535),
  }),
  operationsHost: option({
    name: "operationsHost",
    placeholder: "HOST",
    sentence: "Address that the separate listener of operationsPort listens on.",
    default: "127.0.0.1",
    read: readText,
  }),
  console: option({
    name: "console",
    placeholder: "on|off",
    sentence: "Serve the console, a web interface at /console/; operator pages require signing in.",
    default: "on" as const,
    read: readChoice("on", "off"),
  }),
  rateLimit: option({
    name: "rateLimit",
    placeholder: "N",
    sentence: "Maximum number of requests per minute and client; 0 for no limit.",
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
      "Token that requests to the webhook register must carry; generated on the first start if not given.",
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
      "Addresses, in the format of httpAllow, that may use the webhook register without a token, as with the old node; all other addresses are refused.",
    read: readRanges,
  }),
  eventsPublic: option({
    name: "eventsPublic",
    sentence: "Serve the live stream of events without the webhook token.",
    default: false,
    read: readSwitch,
  }),
  eventsMaxAge: option({
    name: "eventsMaxAge",
    placeholder: "HOURS",
    sentence:
      "Maximum age in hours of blocks that are delivered to webhooks and streams while the node catches up; 0 for no limit.",
    default: 24,
    read: readInteger(0, 1_000_000),
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
    default: 1_000,
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
  webhookHttpsOnly: option({
    name: "webhookHttpsOnly",
    sentence: "Allow only https webhook targets.",
    default: false,
    read: readSwitch,
  }),
  webhookHostRate: option({
    name: "webhookHostRate",
    placeholder: "N",
    sentence: "Maximum number of deliveries per second and host, over all webhooks; 0 for no limit.",
    default: 0,
    read: readInteger(0, 1_000_000),
  }),
  webhookTimeout: option({
    name: "webhookTimeout",
    placeholder: "SECONDS",
    sentence: "Timeout in seconds for the complete response of a webhook target.",
    default: 10,
    read: readInteger(1, 60),
  }),
  webhookRetries: option({
    name: "webhookRetries",
    placeholder: "PAUSES",
    sentence: "Pause before each retry of a webhook delivery, separated by commas, with units s, m, h or d.",
    default: ["5s", "30s", "2m", "10m", "30m", "2h", "5h", "10h", "24h"],
    read: readPauses,
  }),
  webhookLogDays: option({
    name: "webhookLogDays",
    placeholder: "DAYS",
    sentence: "Days for which a finished webhook delivery stays in the log.",
    default: 7,
    read: readInteger(1, 3_650),
  }),
  webhookLogFailedDays: option({
    name: "webhookLogFailedDays",
    placeholder: "DAYS",
    sentence: "Days for which a failed webhook delivery stays in the log and can be retried.",
    default: 30,
    read: readInteger(1, 3_650),
  }),
  webhookLogSize: option({
    name: "webhookLogSize",
    placeholder: "N",
    sentence:
      "Maximum number of deliveries in the log, over all webhooks; beyond it, the oldest finished deliveries are removed.",
    default: 1_000_000,
    read: readInteger(1_000, 100_000_000),
  }),
  webhookQueueSize: option({
    name: "webhookQueueSize",
    placeholder: "N",
    sentence: "Maximum number of queued deliveries per webhook; beyond it, the oldest fail.",
    default: 1_000_000,
    read: readInteger(1_000, 100_000_000),
  }),
  compareWith: option({
    name: "compareWith",
    placeholder: "URLS",
    sentence:
      "Base URLs of other nodes, separated by commas, whose Merkle tree of final facts is compared with this node's tree every minute (docs/spec/facts.md).",
    default: [],
    read: readNodeUrls,
  }),
  feedBlocks: option({
    name: "feedBlocks",
    placeholder: "N",
    sentence:
      "Number of last blocks whose changes are stored for mirrors (docs/spec/feed.md); 0 disables the feed.",
    default: 0,
    read: readInteger(0, 10_000),
  }),
  feedAllow: option({
    name: "feedAllow",
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, in the format of httpAllow, that may read the feed with the webhook token.",
    default: "127.0.0.0/8,::1",
    read: readRanges,
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
      "Passphrases or encrypted keys of the forging delegates, separated by commas; quote either all or none (no flag).",
    oldVariables: ["FORGERS_SECRET"],
    hasNoFlag: true,
    secret: true,
    read: readSecretList,
  }),
  forgerSecret: option({
    name: "forgerSecret",
    sentence:
      "A single passphrase or encrypted key of a forging delegate, which may contain commas (no flag).",
    oldVariables: ["FORGER_SECRET", "CORE_FORGER_BIP38"],
    hasNoFlag: true,
    secret: true,
    read: readText,
  }),
  forgerPassword: option({
    name: "forgerPassword",
    sentence: "Password of the BIP38-encrypted delegate keys (no flag).",
    oldVariables: ["CORE_FORGER_PASSWORD"],
    hasNoFlag: true,
    secret: true,
    read: readText,
  }),
  accelerator: option({
    name: "accelerator",
    placeholder: "PACKAGE",
    sentence:
      "Name or folder of a native package that verifies signatures instead of the built-in code; none selects WebAssembly (docs/guides/accelerator.md).",
    read: readText,
  }),
  logLevel: option({
    name: "logLevel",
    placeholder: "LEVEL",
    sentence: "Least important level that is logged: error, warn, info, debug, trace or silent.",
    oldVariables: ["CORE_LOG_LEVEL"],
    default: "info",
    read: readChoice("error", "warn", "info", "debug", "trace", "silent"),
  }),
  logFormat: option({
    name: "logFormat",
    placeholder: "FORMAT",
    sentence: "Log format: text, json, or auto, which selects text on a terminal and json otherwise.",
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
    sentence: "Forge a block only when a transaction is accepted, and immediately.",
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
    sentence: "Mnemonic from which all keys of the dev chain are derived.",
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
    sentence: "Do not listen for peers or connect to peers.",
    default: false,
    read: readSwitch,
  }),
  data: { ...nodeOptions.data, default: ".uniknode/data" },
  webhookPrivateTargets: { ...nodeOptions.webhookPrivateTargets, default: false },
  signingRecord: option({
    name: "signingRecord",
    placeholder: "FILE",
    sentence:
      "File that records every signed slot, to prevent signing a slot twice; DIR.signing next to the data folder if not given.",
    read: readText,
  }),
  watchRounds: option({
    name: "watchRounds",
    placeholder: "N",
    sentence:
      "Rounds after the start during which the node watches for another node that signs with its keys, before it forges; 0 forges immediately.",
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
    sentence:
      "JSON file with the genesis block of the known network; fetched from Uniknode peers if not given.",
    read: readText,
  }),
  assumeValid: option({
    name: "assumeValid",
    placeholder: "HEIGHT:ID",
    sentence:
      "Height and full id of the block up to which signatures of fetched blocks are not checked; none checks all signatures (docs/guides/network.md).",
    read: readAssumeValid,
  }),
  timeServers: option({
    name: "timeServers",
    placeholder: "HOSTS",
    sentence:
      "NTP servers, separated by commas, to compare the clock with at the start; tried in order until one responds. none disables the check.",
    read: readTimeServers,
  }),
  networkDir: option({
    name: "networkDir",
    placeholder: "DIR",
    sentence: "Folder with network.json, milestones.json, exceptions.json and genesisBlock.json.",
    read: readText,
  }),
};
