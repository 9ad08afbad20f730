/** User options of API, webhooks and live stream, and their form in the serving thread. */
import { parsePauseMs } from "../../config/pauses.ts";
import type { LogFormat, LogLevel } from "../../platform/logging/logger.ts";
import type { ServingData } from "./thread.ts";

export type ServingOptions = {
  readonly httpHost: string;
  /** 0 takes a free one. */
  readonly httpPort: number;
  /** Addresses that the HTTP server accepts; `*` for all. */
  readonly httpAllow: string;
  /** Trusted proxies of the HTTP server; undefined for none. */
  readonly httpTrustProxy: string | undefined;
  /** Names by which callers of the register without token, and browsers at the console, reach the HTTP server. */
  readonly httpHosts: readonly string[];
  /** Maximum number of connections, in total and per client. */
  readonly httpConnections: number;
  readonly httpConnectionsPerClient: number;
  /** Port of health and metrics; 0 takes a free one; undefined: the HTTP server serves them. */
  readonly operationsPort: number | undefined;
  readonly operationsHost: string;
  /** Last blocks whose changes are stored for mirrors; 0: none, and no feed. */
  readonly feedBlocks: number;
  /** Addresses and networks that may read the feed. */
  readonly feedAllow: string;
  readonly console: "on" | "off";
  /** Requests per minute of one client address; 0: no limit. */
  readonly rateLimit: number;
  readonly webhooks: "on" | "off";
  /** If absent, the token that was generated at the first start. */
  readonly webhookToken: string | undefined;
  /** The only addresses and networks that may use the register of webhooks, without token; undefined: the token decides. */
  readonly webhookLegacy: string | undefined;
  /** True if clients without the token may read the live stream. */
  readonly eventsPublic: boolean;
  /** True if clients without the token may read the metrics. */
  readonly metricsPublic: boolean;
  readonly webhookLimit: number;
  readonly webhookPrivateTargets: boolean;
  /** Addresses and networks: see `TargetOptions`. Undefined: none. */
  readonly webhookAllow: string | undefined;
  readonly webhookDeny: string | undefined;
  readonly webhookHttpsOnly: boolean;
  /** Deliveries per second to one host; 0: no limit. */
  readonly webhookHostRate: number;
  /** Seconds. */
  readonly webhookTimeout: number;
  /** See `readPauses`. */
  readonly webhookRetries: readonly string[];
  /** Days for which the log keeps an ended delivery, and a failed one. */
  readonly webhookLogDays: number;
  readonly webhookLogFailedDays: number;
  /** Maximum number of deliveries in the log, and in the queue of one webhook. */
  readonly webhookLogSize: number;
  readonly webhookQueueSize: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
};

const DAY_MS = 86_400_000;

/** Values that the consensus thread adds to the options. */
type FromNode = Pick<
  ServingData,
  | "databasePath"
  | "writeLock"
  | "writeState"
  | "heartbeats"
  | "files"
  | "genesisBlock"
  | "webhookToken"
  | "secretKey"
  | "checkpointKey"
  | "feePolicy"
  | "maxTransactionsPerRequest"
  | "peerPort"
  | "isDevChain"
  | "devAccounts"
  | "shownOptions"
  | "forgers"
>;

/** Values for the thread, already parsed and validated. */
export function servingDataOf(options: ServingOptions, node: FromNode): ServingData {
  return {
    ...node,
    host: options.httpHost,
    port: options.httpPort,
    allowed: options.httpAllow,
    trustedProxies: options.httpTrustProxy,
    hosts: options.httpHosts,
    connections: { total: options.httpConnections, perClient: options.httpConnectionsPerClient },
    ...(options.operationsPort !== undefined && {
      operations: { host: options.operationsHost, port: options.operationsPort },
    }),
    ...(options.feedBlocks > 0 && { feedAllowed: options.feedAllow }),
    hasConsole: options.console === "on",
    rateLimit: options.rateLimit,
    webhooks: options.webhooks,
    legacyCallers: options.webhookLegacy,
    maxWebhooks: options.webhookLimit,
    eventsPublic: options.eventsPublic,
    metricsPublic: options.metricsPublic,
    targets: {
      allowPrivateTargets: options.webhookPrivateTargets,
      allowedNetworks: options.webhookAllow ?? "",
      deniedNetworks: options.webhookDeny ?? "",
      httpsOnly: options.webhookHttpsOnly,
    },
    deliveries: {
      timeoutMs: options.webhookTimeout * 1_000,
      retryPausesMs: options.webhookRetries.map(parsePauseMs),
      maxPerSecondPerHost: options.webhookHostRate,
      retention: {
        maxAgeMs: options.webhookLogDays * DAY_MS,
        maxFailedAgeMs: options.webhookLogFailedDays * DAY_MS,
        maxDeliveries: options.webhookLogSize,
        maxWaiting: options.webhookQueueSize,
      },
    },
    logLevel: options.logLevel,
    logFormat: options.logFormat,
  };
}
