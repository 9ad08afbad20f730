/** Options and dependencies with which a node is started, and values that every part of it uses. */
import {
  type Block,
  createNetwork,
  createRounds,
  createSlots,
  type Network,
  type NetworkFiles,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Pin } from "../../chain/assumption.ts";
import type { Options } from "../../config/options.ts";
import type { ShownOption } from "../../config/resolve.ts";
import type { CreateDev } from "../../dev-chain/commands.ts";
import type { Delegates } from "../../forger/delegates.ts";
import type { Timing } from "../../forger/slot-state.ts";
import type { AccountList } from "../../http/dev/accounts.ts";
import type { PeersOptions } from "../../peers/peers-options.ts";
import type { PoolOptions } from "../../pool/pool-options.ts";
import type { ServingOptions } from "../serving/served-data.ts";
import type { ServingThread } from "../serving/thread.ts";

type SharedOptions = Pick<
  Options,
  "data" | "webhookToken" | "webhookKeyFile" | "webhookOldKeyFile" | "history" | "mirror"
>;

export type NodeOptions = SharedOptions &
  ServingOptions & {
    /** Signatures of fetched blocks are not checked up to this block; if absent, all are checked. */
    readonly assumeValid: Pin | undefined;
    /** Keys to forge with; a node without keys only follows. */
    readonly delegates: Delegates;
    /** If absent, this node neither listens for peers nor searches for any. */
    readonly peers: PeersOptions | undefined;
    readonly pool: PoolOptions;
    readonly timing: Timing;
    /** See `ForgingOptions`. */
    readonly signingRecord: string | undefined;
    /**
     * Number of rounds after the start in which the node watches for other forgers with its keys; if absent, it does
     * not watch.
     */
    readonly watchRounds: number | undefined;
    /** True if the node forges a block for each accepted submission, and no others. */
    readonly isOnDemand: boolean;
  };

export type NodeDeps = {
  /** It is not started. The node closes it when it stops or fails to start. */
  readonly servingThread: ServingThread;
  readonly files: NetworkFiles;
  readonly genesis: Block;
  /** Content of the file of the genesis block, which clients request. */
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Returns the number of log lines that could not be written. */
  readonly lostLogLines?: () => number;
  /** All options with which the process was started, for operators; if absent, none is shown. */
  readonly shownOptions?: ShownOption[];
  /**
   * Called with the data folder locked and without a chain of another network, before anything is written to it; only for a
   * dev chain.
   */
  readonly claimFolder?: () => void;
  /** Creates the dev commands; only for a dev chain. */
  readonly createDev?: CreateDev;
  /** Accounts of a dev chain, with their passphrases. */
  readonly devAccounts?: AccountList | undefined;
};

/** Network, its calendar, clock and log, which every part of a node uses. */
export type Environment = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  /** Returns the milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Returns the network time in seconds. */
  readonly now: () => number;
  readonly logger: Logger;
};

export function createEnvironment({
  files,
  nowMs,
  logger,
}: Pick<NodeDeps, "files" | "nowMs" | "logger">): Environment {
  const network = createNetwork(files);
  const slots = createSlots(network);
  return {
    network,
    slots,
    rounds: createRounds(network),
    nowMs,
    now: () => slots.timeAt(nowMs()),
    logger,
  };
}
