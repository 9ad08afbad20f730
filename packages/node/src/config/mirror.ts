/** Options of the processes on PostgreSQL: mirrors, API servers, delivery workers, and the hand-over of webhooks. */
import { MAX_FEED_BLOCKS } from "../store/chain/feed-changes.ts";
import {
  optionTable,
  readDatabaseUrl,
  readInteger,
  readNodeUrl,
  readNodeUrls,
  readText,
  readToken,
} from "./define-option.ts";
import { httpOptions } from "./http.ts";
import { nodeOptions, type Options, runOptions } from "./options.ts";

/** Every option of `uniknode mirror`. */
export const mirrorOptions = optionTable({
  node: {
    placeholder: "URL",
    sentence: "Base URL of the node, which must run with --feed-blocks.",
    default: "http://127.0.0.1:4003",
    read: readNodeUrl,
  },
  token: {
    placeholder: "TOKEN",
    sentence: 'Webhook token of the node; "uniknode token" prints it.',
    variable: "UNIKNODE_WEBHOOK_TOKEN",
    secret: true,
    read: readToken,
  },
  databaseUrl: {
    placeholder: "URL",
    sentence: "Database of the mirror: postgres://user:password@host:port/database.",
    secret: true,
    read: readDatabaseUrl,
  },
  name: {
    placeholder: "NAME",
    sentence:
      "Name of this mirror in the database; the host and the process id if not given. A mirror that starts with the name of another one replaces it; the replaced one ends.",
    read: readText,
  },
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
});

/** Returns the number of last blocks whose changes the node stores. A mirror that the node starts needs some. */
export const feedBlocksOf = ({ mirror, feedBlocks }: Pick<Options, "mirror" | "feedBlocks">): number =>
  mirror !== undefined && feedBlocks === 0 ? MAX_FEED_BLOCKS : feedBlocks;

/** Every option of `uniknode serve`. */
export const serveOptions = optionTable({
  databaseUrl: mirrorOptions.databaseUrl,
  databaseConnections: {
    placeholder: "N",
    sentence:
      "Maximum number of connections to the database: half of them for up to 16 requests at a time, the others for slow requests, one at a time.",
    default: 10,
    read: readInteger(2, 1_000),
  },
  node: {
    placeholder: "URLS",
    sentence:
      "Base URLs of nodes with --feed-blocks, separated by commas, in the order of preference: they receive submissions and requests whose data is not in the database.",
    default: ["http://127.0.0.1:4003"],
    read: readNodeUrls,
  },
  token: mirrorOptions.token,
  ...httpOptions,
  poolMaxPerRequest: nodeOptions.poolMaxPerRequest,
  webhookDatabaseUrl: {
    ...mirrorOptions.databaseUrl,
    sentence:
      "Database with the register of webhooks, for changes while delivery workers own them; needed if databaseUrl is a replica, or its user can only read.",
  },
  webhookKeyFile: nodeOptions.webhookKeyFile,
  webhookLimit: nodeOptions.webhookLimit,
  webhookPrivateTargets: runOptions.webhookPrivateTargets,
  webhookAllow: nodeOptions.webhookAllow,
  webhookDeny: nodeOptions.webhookDeny,
  webhookTimeout: nodeOptions.webhookTimeout,
  metricsPublic: nodeOptions.metricsPublic,
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
});

/** Every option of `uniknode deliver`. */
export const deliverOptions = optionTable({
  databaseUrl: mirrorOptions.databaseUrl,
  databaseConnections: {
    placeholder: "N",
    sentence: "Maximum number of connections to the database.",
    default: 5,
    read: readInteger(3, 1_000),
  },
  node: {
    placeholder: "URLS",
    sentence:
      "Base URLs of nodes with --feed-blocks, separated by commas: the first one that responds lists this worker for its operator. Requires token.",
    read: readNodeUrls,
  },
  token: {
    ...mirrorOptions.token,
    sentence:
      'Webhook token of the node, which requests for metrics must contain as well; "uniknode token" prints it.',
  },
  name: {
    placeholder: "NAME",
    sentence:
      "Name of this worker in the database; the host and the process id if not given. A second process with the name of a running worker ends; after a kill, the name is free when the lease has expired.",
    read: readText,
  },
  webhookKeyFile: nodeOptions.webhookKeyFile,
  webhookPrivateTargets: runOptions.webhookPrivateTargets,
  webhookAllow: nodeOptions.webhookAllow,
  webhookDeny: nodeOptions.webhookDeny,
  webhookTimeout: nodeOptions.webhookTimeout,
  webhookRetries: nodeOptions.webhookRetries,
  webhookLogDays: nodeOptions.webhookLogDays,
  operationsHost: {
    ...nodeOptions.operationsHost,
    sentence: "Address that the listener of health and metrics listens on.",
  },
  operationsPort: {
    ...nodeOptions.operationsPort,
    sentence: "Port of the listener of health and metrics; 0 selects a free port.",
    default: 4020,
  },
  metricsPublic: nodeOptions.metricsPublic,
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
});

/** Options of `uniknode webhooks hand-over`, except the owner, the height and `--cancel`. */
export const handOverOptions = {
  node: mirrorOptions.node,
  token: mirrorOptions.token,
  databaseUrl: {
    ...mirrorOptions.databaseUrl,
    sentence: "Database of the workers and the mirror: postgres://user:password@host:port/database.",
  },
  webhookKeyFile: {
    ...nodeOptions.webhookKeyFile,
    sentence: "File with the key that encrypts the secrets of webhooks in the database of the workers.",
  },
};
