/** Starts the serving thread of a node, notifies it of new events and watches it. */
import { defaultPeerPort } from "../../config/peers.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { MAX_SILENT_SECONDS, ThreadWatch } from "../../platform/lifecycle/event-loop.ts";
import { pickServingOptions } from "../serving/served-data.ts";
import type { Serving } from "../serving/thread.ts";
import type { NodeCore } from "./core.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";

type NodeServingDeps = {
  readonly core: Pick<NodeCore, "folder" | "shared">;
  /** Memory created by `createHeartbeats`. */
  readonly heartbeats: SharedArrayBuffer;
  readonly gateway: Gateway;
};

export type NodeServing = Serving & {
  /** Rejects when the thread ends. */
  readonly died: Promise<never>;
  /** Returns true if the event loop of the thread runs. */
  isServing(): boolean;
};

/** @throws {Error} when the thread cannot listen */
export async function startServing(
  options: NodeOptions,
  { servingThread, files, genesisBlock, shownOptions = [], devAccounts, createDev }: NodeDeps,
  { core: { folder, shared }, heartbeats, gateway }: NodeServingDeps,
  onStop: Closing["add"],
): Promise<NodeServing> {
  const { databasePath, writeLock, writeState, webhookToken, secretKey, checkpointKey } = folder;
  const serving = await servingThread.start(
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
      isDevChain: createDev !== undefined,
      isOnDemand: options.isOnDemand,
      devAccounts,
      shownOptions,
      forgers: [...options.delegates.keys()],
    },
    gateway,
  );
  // Open requests are drained before their dependencies close.
  onStop("serving", () => servingThread.close());
  shared.grown.subscribe(() => servingThread.notify());
  const watch = new ThreadWatch(heartbeats, "serving", shared.logger);
  onStop("watch", () => watch.close());
  const isServing = () => watch.silentSeconds() < MAX_SILENT_SECONDS;
  return { ...serving, died: servingThread.died, isServing };
}
