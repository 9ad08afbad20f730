/** The process of the servers, and its resource usage. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Tree, workingTree } from "../trees.ts";
import type { Dataset } from "./dataset.ts";

export type FromServer =
  | { readonly port: number; readonly barePort: number }
  | { readonly processorMs: number; readonly threadMs: number };
/** Returns the CPU time so far, after setting the response size of the bare server. */
export type ToServer = { readonly bareBytes?: number };

/** Mirror of a dataset. */
export type Mirror = {
  readonly url: string;
  /** True if snapshots share transactions, as in an API server. */
  readonly isShared: boolean;
};

export type Servers = {
  readonly pid: number;
  readonly port: number;
  readonly barePort: number;
  /** CPU time of the process since its start. */
  processorMs(): Promise<number>;
  /** CPU time of the thread that serves, without the worker for slow queries. */
  threadMs(): Promise<number>;
  setBareBytes(bytes: number): Promise<void>;
  stop(): void;
};

export type ServersOptions = {
  /** Served instead of the file. */
  readonly mirror?: Mirror;
  /** Version of the servers; absent: this one. */
  readonly tree?: Tree;
  /** Program and arguments that run the script of the servers; absent: the runtime of the version. */
  readonly execution?: Execution;
};

export type Execution = { readonly execPath: string; readonly execArgv: readonly string[] };

/**
 * Space for new objects, as in the serving thread of a node. If it grew, one version would collect 30 times as often as the other
 * one, depending on the requests before.
 */
export const HEAP = ["--min-semi-space-size=4", "--max-semi-space-size=4"];

export async function startServers(
  dataset: Dataset,
  { mirror, tree = workingTree(), execution = inRuntimeOf(tree) }: ServersOptions = {},
): Promise<Servers> {
  const { folder } = tree;
  const child = fork(join(folder, "bench/api/server.ts"), [JSON.stringify({ ...dataset, mirror })], {
    cwd: folder,
    execPath: execution.execPath,
    execArgv: [...execution.execArgv],
  });
  const [ports] = (await once(child, "message")) as [{ port: number; barePort: number }];
  async function ask(message: ToServer): Promise<{ processorMs: number; threadMs: number }> {
    child.send(message);
    const [times] = (await once(child, "message")) as [{ processorMs: number; threadMs: number }];
    return times;
  }
  return {
    ...ports,
    pid: present(child.pid),
    processorMs: async () => (await ask({})).processorMs,
    threadMs: async () => (await ask({})).threadMs,
    setBareBytes: async (bareBytes) => void (await ask({ bareBytes })),
    stop: () => void child.kill(),
  };
}

const inRuntimeOf = ({ runtime }: Tree): Execution => ({ execPath: runtime, execArgv: HEAP });
