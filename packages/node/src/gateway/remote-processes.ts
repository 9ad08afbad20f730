/** The operator's processes on other machines that use the feed or the gateway of this node: mirrors, API servers, workers. */
import { LRUCache } from "lru-cache";

export type RemoteProcess = {
  readonly kind: "mirror" | "server" | "worker";
  readonly address: string;
  /** Name that the process gives itself. */
  readonly name?: string;
  /** Height of the last block of the process, if the node knows it. */
  readonly height?: number;
};

export type SeenProcess = RemoteProcess & {
  /** Unix time in milliseconds. */
  readonly lastSeenMs: number;
};

export type RemoteProcesses = {
  /** Must be called whenever a process uses the feed or the gateway. */
  note(process: RemoteProcess): void;
  /** Returns the processes by kind, address and name. */
  list(): SeenProcess[];
};

/** Maximum number of processes, and the time without a call after which a process is forgotten. */
const MAX_PROCESSES = 100;
const FORGET_MS = 3_600_000;

export function createRemoteProcesses(nowMs: () => number): RemoteProcesses {
  const seen = new LRUCache<string, SeenProcess>({
    max: MAX_PROCESSES,
    ttl: FORGET_MS,
    perf: { now: nowMs },
    ttlResolution: 0,
  });
  return {
    note(process) {
      seen.set(keyOf(process), { ...process, lastSeenMs: nowMs() });
    },
    list: () => [...seen.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  };
}

const keyOf = ({ kind, address, name = "" }: RemoteProcess): string => `${kind} ${address} ${name}`;

/** Headers by which an API server or a delivery worker describes itself to a node. */
export const KIND_HEADER = "x-uniknode-kind";
export const NAME_HEADER = "x-uniknode-name";
export const HEIGHT_HEADER = "x-uniknode-server-height";
const NAME = /^[\w.:-]{1,64}$/;
const HEIGHT = /^\d{1,10}$/;

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the process that the headers describe, by default an API server; undefined if they describe none. */
export function readCaller(headers: Headers, address: string): RemoteProcess | undefined {
  const [name, height] = [`${headers[NAME_HEADER] ?? ""}`, `${headers[HEIGHT_HEADER] ?? ""}`];
  if (!NAME.test(name)) return undefined;
  const kind = headers[KIND_HEADER] === "worker" ? "worker" : "server";
  return { kind, address, name, ...(HEIGHT.test(height) && { height: Number(height) }) };
}
