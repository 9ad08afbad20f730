/** Every option of `uniknode deliver`. */
import { option, readInteger, readNodeUrls, readText } from "./define-option.ts";
import { mirrorOptions } from "./mirror.ts";
import { nodeOptions, runOptions } from "./options.ts";

export const deliverOptions = {
  databaseUrl: { ...mirrorOptions.databaseUrl },
  databaseConnections: option({
    name: "databaseConnections",
    placeholder: "N",
    sentence: "Maximum number of connections to the database.",
    default: 5,
    read: readInteger(3, 1_000),
  }),
  node: option({
    name: "node",
    placeholder: "URLS",
    sentence:
      "Base URLs of nodes with --feed-blocks, separated by commas: the first one that responds lists this worker for its operator. Requires token.",
    read: readNodeUrls,
  }),
  token: option({
    ...mirrorOptions.token,
    sentence:
      'Webhook token of the node, which requests for metrics must contain as well; "uniknode token" prints it.',
  }),
  name: option({
    name: "name",
    placeholder: "NAME",
    sentence:
      "Name of this worker in the database; the host and the process id if not given. A second process with the name of a running worker ends; after a kill, the name is free when the lease has expired.",
    read: readText,
  }),
  webhookKeyFile: nodeOptions.webhookKeyFile,
  webhookPrivateTargets: runOptions.webhookPrivateTargets,
  webhookAllow: nodeOptions.webhookAllow,
  webhookDeny: nodeOptions.webhookDeny,
  webhookHostRate: nodeOptions.webhookHostRate,
  webhookTimeout: nodeOptions.webhookTimeout,
  webhookRetries: nodeOptions.webhookRetries,
  webhookLogDays: nodeOptions.webhookLogDays,
  operationsHost: option({
    ...nodeOptions.operationsHost,
    sentence: "Address that the listener of health and metrics listens on.",
  }),
  operationsPort: option({
    ...nodeOptions.operationsPort,
    sentence: "Port of the listener of health and metrics; 0 selects a free port.",
    default: 4020,
  }),
  metricsPublic: nodeOptions.metricsPublic,
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
};
