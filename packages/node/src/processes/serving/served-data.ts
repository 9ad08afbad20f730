/** Options of the serving side, under their names in the configuration, and the other values with which it is started. */
import type { NetworkFiles } from "@uniknode/protocol";
import type { Options } from "../../config/options.ts";
import type { ShownOption } from "../../config/resolve.ts";
import type { AccountList } from "../../http/dev/accounts.ts";
import type { FeePolicy } from "../../pool/pool-options.ts";

const SERVING_OPTIONS = [
  "httpHost",
  "httpPort",
  "httpAllow",
  "httpTrustProxy",
  "httpHosts",
  "httpKeepAlive",
  "operationsPort",
  "operationsHost",
  "feedBlocks",
  "feedAllow",
  "console",
  "rateLimit",
  "webhooks",
  "eventsPublic",
  "metricsPublic",
  "webhookLimit",
  "webhookPrivateTargets",
  "webhookAllow",
  "webhookDeny",
  "webhookTimeout",
  "webhookRetries",
  "webhookLogDays",
  "poolMaxPerRequest",
  "logLevel",
  "logFormat",
] as const satisfies readonly (keyof Options)[];

export type ServingOptions = Pick<Options, (typeof SERVING_OPTIONS)[number]>;

/** Selects the options of the serving thread. The others stay in the consensus thread: some are secret. */
export const pickServingOptions = (options: ServingOptions): ServingOptions =>
  Object.fromEntries(SERVING_OPTIONS.map((name) => [name, options[name]])) as ServingOptions;

/** Values that every serving process needs, wherever its data is stored. */
export type ServedData = ServingOptions & {
  readonly files: NetworkFiles;
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  /** True if the chain has dev commands (`gateway/gateway.ts`). */
  readonly isDevChain: boolean;
  /** True if blocks are forged for transactions only. */
  readonly isOnDemand: boolean;
  /** Accounts of a dev chain, with their passphrases. */
  readonly devAccounts?: AccountList | undefined;
  /** All options with which the process was started; absent: none is shown. */
  readonly shownOptions?: ShownOption[];
  /** Public keys with which this node forges; absent: none. */
  readonly forgers?: readonly string[];
  /** The webhook token from the options or from the data folder. */
  readonly webhookToken: string;
  /** Key with which checkpoints are signed: see `checkpointKeyOf`. */
  readonly checkpointKey: string;
  readonly feePolicy: FeePolicy;
  /** Port of the peer-to-peer protocol; the network's default for a node without peers. */
  readonly peerPort: number;
};
