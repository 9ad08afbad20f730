/** The process of the servers, and its resource usage. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Dataset } from "./dataset.ts";

export type FromServer =
  | { readonly port: number; readonly barePort: number }
  | { readonly processorMs: number };
/** Returns the CPU time so far, after setting the response size of the bare server. */
export type ToServer = { readonly bareBytes?: number };

/** Mirror of the dataset, which is served instead of the file. */
export type Mirror = {
  readonly url: string;
  /** True if snapshots share transactions, as in an API server. */
  readonly isShared: boolean;
};

export type Servers = {
  readonly port: number;
  readonly barePort: number;
  /** CPU time of the process since its start. */
  processorMs(): Promise<number>;
  setBareBytes(bytes: number): Promise<void>;
  stop(): void;
};

export async function startServers(dataset: Dataset, mirror?: Mirror): Promise<Servers> {
  const child = fork(new URL("./server.ts", import.meta.url), [JSON.stringify({ ...dataset, mirror })]);
  const [ports] = (await once(child, "message")) as [{ port: number; barePort: number }];
  async function ask(message: ToServer): Promise<number> {
    child.send(message);
    const [{ processorMs }] = (await once(child, "message")) as [{ processorMs: number }];
    return processorMs;
  }
  return {
    ...ports,
    processorMs: () => ask({}),
    setBareBytes: async (bareBytes) => void (await ask({ bareBytes })),
    stop: () => void child.kill(),
  };
}
