/** Starts the serving thread of a node, notifies it of new events and watches it. */
import type { Logger } from "pino";
import { defaultPeerPort } from "../../config/peers.ts";
import type { ShownOption } from "../../config/resolve.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { MAX_SILENT_SECONDS, watchAndLog } from "../../platform/lifecycle/event-loop.ts";
import { pickServingOptions } from "../serving/served-data.ts";
import type { Serving, ServingThread } from "../serving/thread.ts";
import type { DataFolder } from "./data-folder.ts";
import type { NodeEventLog } from "./event-log.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";

type NodeServingDeps = Pick<NodeDeps, "files" | "genesisBlock" | "devAccounts"> & {
  readonly thread: ServingThread;
  readonly folder: Pick<
    DataFolder,
    "databasePath" | "writeLock" | "writeState" | "webhookToken" | "secretKey" | "checkpointKey"
  >;
  /** Memory created by `createHeartbeats`. */
  readonly heartbeats: SharedArrayBuffer;
  readonly shownOptions: ShownOption[];
  readonly gateway: Gateway;
  readonly grown: Pick<NodeEventLog["grown"], "subscribe">;
  readonly isDevChain: boolean;
  readonly logger: Logger;
};

export type NodeServing = Omit<Serving, "notify"> & {
  /** Returns true if the event loop of the thread runs. */
  isServing(): boolean;
};

/** @throws {Error} when the thread cannot listen */
export async function startServing(
  options: NodeOptions,
  {
    thread,
    folder,
    heartbeats,
    files,
    genesisBlock,
    shownOptions,
    gateway,
    grown,
    isDevChain,
    devAccounts,
    logger,
  }: NodeServingDeps,
  onStop: Closing["add"],
): Promise<NodeServing> {
  const { databasePath, writeLock, writeState, webhookToken, secretKey, checkpointKey } = folder;
  const serving = await thread.start(
    {
      ...pickServingOptions(options),
      databasePath,
      writeLock,
      writeState,
      heartbeats,
      files,
      genesisBlock,
      webhookToken,
      secretKey,
      checkpointKey,
      feePolicy: options.pool.fees,
      peerPort: options.peers?.port ?? defaultPeerPort(files.network.name),
      isDevChain,
      devAccounts,
      shownOptions,
      forgers: [...options.delegates.keys()],
    },
    gateway,
  );
  // Open requests are drained before their dependencies close.
  onStop("serving", thread.close);
  grown.subscribe(serving.notify);
  const { silentSeconds, close } = watchAndLog(heartbeats, "serving", logger);
  onStop("watch", close);
  const { url, operationsUrl, consoleUrl, died } = serving;
  return { url, operationsUrl, consoleUrl, died, isServing: () => silentSeconds() < MAX_SILENT_SECONDS };
}
