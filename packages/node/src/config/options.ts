/** Every option of `uniknode dev` and `uniknode run`: the one source of help texts, validation and defaults. */
import { readTimeServer } from "../platform/clock/clock-check.ts";
import { MAX_FEED_BLOCKS } from "../store/chain/feed-changes.ts";
import { readAssumeValid } from "./assume-valid.ts";
import {
  optionTable,
  readChoice,
  readDatabaseUrl,
  readInteger,
  readRanges,
  readSecretList,
  readSwitch,
  readText,
} from "./define-option.ts";
import { httpOptions } from "./http.ts";
import { peerOptions } from "./peers.ts";
import { poolOptions } from "./pool.ts";
import type { Config } from "./resolve.ts";
import { webhookOptions } from "./webhooks.ts";

/** Options of every command that starts a node. */
export const nodeOptions = optionTable({
  data: {
    placeholder: "DIR",
    sentence: "Folder of the database; created if missing.",
    read: readText,
  },
  ...httpOptions,
  ...webhookOptions,
  feedBlocks: {
    placeholder: "N",
    sentence:
      "Number of last blocks whose changes are stored for mirrors (docs/spec/feed.md); 0 disables the feed and the gateway.",
    default: 0,
    read: readInteger(0, MAX_FEED_BLOCKS),
  },
  feedAllow: {
    placeholder: "RANGES",
    sentence:
      "Addresses and networks, in the format of httpAllow, that may use the feed and the gateway (docs/spec/gateway.md) with the webhook token.",
    default: "127.0.0.0/8,::1",
    read: readRanges,
  },
  mirror: {
    placeholder: "URL",
    sentence:
      "PostgreSQL database into which the node copies its chain, with a mirror process that it starts and supervises (docs/guides/mirror.md): postgres://user:password@host:port/database. If feedBlocks is 0, 10000 is used.",
    secret: true,
    read: readDatabaseUrl,
  },
  history: {
    placeholder: "STATES",
    sentence:
      "Stored states: head, the present one, or full, also earlier ones from the first block that is added with this option, for requests that name a height (docs/guides/operations.md). Without the option, a data folder continues as it is; head removes earlier states.",
    read: readChoice("head", "full"),
  },
  ...poolOptions,
  delegates: {
    placeholder: "FILE",
    sentence:
      'File with the passphrases of the forging delegates, or an encrypted key: {"secrets": ["...", "..."], "bip38": "..."}.',
    read: readText,
  },
  forgerSecrets: {
    sentence:
      "Passphrases or encrypted keys of the forging delegates, separated by commas; quote either all or none (no flag).",
    oldVariables: ["FORGERS_SECRET"],
    hasNoFlag: true,
    secret: true,
    read: readSecretList,
  },
  forgerSecret: {
    sentence:
      "A single passphrase or encrypted key of a forging delegate, which may contain commas; containers of uns-core are configured with it (no flag).",
    oldVariables: ["FORGER_SECRET", "CORE_FORGER_BIP38"],
    hasNoFlag: true,
    secret: true,
    read: readText,
  },
  forgerPassword: {
    sentence: "Password of the BIP38-encrypted delegate keys (no flag).",
    oldVariables: ["CORE_FORGER_PASSWORD"],
    hasNoFlag: true,
    secret: true,
    read: readText,
  },
  logLevel: {
    placeholder: "LEVEL",
    sentence: "Least important level that is logged: error, warn, info, debug, trace or silent.",
    oldVariables: ["CORE_LOG_LEVEL"],
    default: "info",
    read: readChoice("error", "warn", "info", "debug", "trace", "silent"),
  },
  logFormat: {
    placeholder: "FORMAT",
    sentence: "Log format: text, json, or auto, which selects text on a terminal and json otherwise.",
    default: "auto" as const,
    read: readChoice("auto", "text", "json"),
  },
});

export const devOptions = optionTable({
  ...nodeOptions,
  ...peerOptions,
  data: { ...nodeOptions.data, default: ".uniknode/dev" },
  rateLimit: { ...nodeOptions.rateLimit, default: 0 },
  metricsPublic: { ...nodeOptions.metricsPublic, default: true },
  webhookPrivateTargets: { ...nodeOptions.webhookPrivateTargets, default: true },
  logLevel: { ...nodeOptions.logLevel, default: "warn" as const },
  blockTime: {
    placeholder: "SECONDS",
    sentence: "Seconds between two blocks.",
    default: 2,
    read: readInteger(1, 3600),
  },
  instant: {
    sentence: "Forge a block only when a transaction is accepted, and immediately.",
    default: false,
    read: readSwitch,
  },
  accounts: {
    placeholder: "N",
    sentence: "Number of funded accounts.",
    default: 10,
    read: readInteger(1, 200),
  },
  mnemonic: {
    placeholder: "WORDS",
    sentence: "Mnemonic from which all keys of the dev chain are derived.",
    default: "test test test test test test test test test test test junk",
    secret: true,
    read: readText,
  },
  noOpen: {
    sentence: "Do not open the console in the browser of a desktop.",
    default: false,
    read: readSwitch,
  },
  reset: {
    sentence: "Delete the dev chain in the data folder and start a new one.",
    default: false,
    read: readSwitch,
  },
});

export const runOptions = optionTable({
  ...nodeOptions,
  ...peerOptions,
  alone: {
    sentence: "Do not listen for peers or connect to peers.",
    default: false,
    read: readSwitch,
  },
  data: { ...nodeOptions.data, default: ".uniknode/data" },
  webhookPrivateTargets: { ...nodeOptions.webhookPrivateTargets, default: false },
  signingRecord: {
    placeholder: "FILE",
    sentence:
      "File that records every signed slot, to prevent signing a slot twice; DIR.signing next to the data folder if not given.",
    read: readText,
  },
  watchRounds: {
    placeholder: "N",
    sentence:
      "Rounds after the start during which the node watches for another node that signs with its keys, before it forges; 0 forges immediately.",
    default: 1,
    read: readInteger(0, 100),
  },
  network: {
    placeholder: "NAME",
    sentence: "Known network: livenet, sandbox or dalinet.",
    oldVariables: ["UNS_NET"],
    read: readChoice("livenet", "sandbox", "dalinet"),
  },
  genesis: {
    placeholder: "FILE",
    sentence:
      "JSON file with the genesis block of the known network; fetched from Uniknode peers if not given.",
    read: readText,
  },
  assumeValid: {
    placeholder: "HEIGHT:ID",
    sentence:
      "Height and full id of the block up to which signatures of fetched blocks are not checked; none checks all signatures (docs/guides/network.md).",
    read: readAssumeValid,
  },
  timeServers: {
    placeholder: "HOSTS",
    sentence:
      "NTP servers, separated by commas, to compare the clock with at the start; tried in order until one responds. none disables the check.",
    read: readTimeServers,
  },
  networkDir: {
    placeholder: "DIR",
    sentence: "Folder with network.json, milestones.json, exceptions.json and genesisBlock.json.",
    read: readText,
  },
});

/** Values of the options of every command that starts a node. Parts of the node use picks of this type. */
export type Options = Pick<Config<typeof runOptions>, keyof typeof nodeOptions>;

/** Reads `none`, or time servers separated by commas. */
function readTimeServers(value: unknown): readonly string[] {
  const text = readText(value);
  const servers = text === "none" ? [] : text.split(",").map((server) => server.trim());
  for (const server of servers) readTimeServer(server);
  return servers;
}

/** Public NTP servers, the default for known networks. */
const PUBLIC_SERVERS = ["pool.ntp.org", "time.google.com"];

/**
 * Returns the NTP servers with which a node compares its clock. By default, nodes of private networks contact no public server; a
 * node with `alone` contacts none at all.
 */
export const chooseTimeServers = (config: {
  readonly timeServers: readonly string[] | undefined;
  readonly network: string | undefined;
  readonly alone: boolean;
}): readonly string[] =>
  config.alone ? [] : (config.timeServers ?? (config.network === undefined ? [] : PUBLIC_SERVERS));
