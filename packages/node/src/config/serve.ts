/** Every option of `uniknode serve`. */

import { option, readInteger, readNodeUrls } from "./define-option.ts";
import { httpOptions } from "./http.ts";
import { mirrorOptions } from "./mirror.ts";
import { nodeOptions, runOptions } from "./options.ts";

export const serveOptions = {
  databaseUrl: { ...mirrorOptions.databaseUrl },
  databaseConnections: option({
    name: "databaseConnections",
    placeholder: "N",
    sentence:
      "Maximum number of connections to the database: half of them for up to 16 requests at a time, the others for slow requests, one at a time.",
    default: 10,
    read: readInteger(2, 1_000),
  }),
  node: option({
    name: "node",
    placeholder: "URLS",
    sentence:
      "Base URLs of nodes with --feed-blocks, separated by commas, in the order of preference: they receive submissions and requests whose data is not in the database.",
    default: ["http://127.0.0.1:4003"],
    read: readNodeUrls,
  }),
  token: mirrorOptions.token,
  ...httpOptions,
  poolMaxPerRequest: nodeOptions.poolMaxPerRequest,
  webhookDatabaseUrl: option({
    ...mirrorOptions.databaseUrl,
    name: "webhookDatabaseUrl",
    sentence:
      "Database with the register of webhooks, for changes while delivery workers own them; needed if databaseUrl is a replica, or its user can only read.",
  }),
  webhookKeyFile: nodeOptions.webhookKeyFile,
  webhookLimit: nodeOptions.webhookLimit,
  webhookPrivateTargets: runOptions.webhookPrivateTargets,
  webhookAllow: nodeOptions.webhookAllow,
  webhookDeny: nodeOptions.webhookDeny,
  webhookHostRate: nodeOptions.webhookHostRate,
  webhookTimeout: nodeOptions.webhookTimeout,
  metricsPublic: nodeOptions.metricsPublic,
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
};
