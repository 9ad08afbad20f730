/** The options that the serving thread uses, under their names in the configuration. */
import type { Options } from "../../config/options.ts";

const SERVING_OPTIONS = [
  "httpHost",
  "httpPort",
  "httpAllow",
  "httpTrustProxy",
  "httpHosts",
  "httpConnections",
  "httpConnectionsPerClient",
  "operationsPort",
  "operationsHost",
  "feedBlocks",
  "feedAllow",
  "console",
  "rateLimit",
  "webhooks",
  "webhookLegacy",
  "eventsPublic",
  "metricsPublic",
  "webhookLimit",
  "webhookPrivateTargets",
  "webhookAllow",
  "webhookDeny",
  "webhookHttpsOnly",
  "webhookHostRate",
  "webhookTimeout",
  "webhookRetries",
  "webhookLogDays",
  "webhookLogFailedDays",
  "webhookLogSize",
  "webhookQueueSize",
  "poolMaxPerRequest",
  "logLevel",
  "logFormat",
] as const satisfies readonly (keyof Options)[];

export type ServingOptions = Pick<Options, (typeof SERVING_OPTIONS)[number]>;

/** Selects the options of the serving thread. The others stay in the consensus thread: some are secret. */
export const pickServingOptions = (options: ServingOptions): ServingOptions =>
  Object.fromEntries(SERVING_OPTIONS.map((name) => [name, options[name]])) as ServingOptions;
