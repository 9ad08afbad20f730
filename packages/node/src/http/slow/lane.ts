/**
 * Requests whose rows take long to look through, in a thread of their own with a connection of its own: the others do
 * not wait for them. The thread is started by the first of them.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { NetworkFiles } from "@uniknode/protocol";
import type { Identity } from "../api.ts";

export type SlowRequest = { readonly method: string; readonly url: string; readonly body: unknown };
/** `body` is JSON text. */
export type SlowAnswer = { readonly status: number; readonly body: string };

export type SlowLane = {
  /** Undefined when too many are waiting already: another time, then. */
  ask(request: SlowRequest): Promise<SlowAnswer> | undefined;
  close(): Promise<void>;
};

/** What the thread needs, as plain values. */
export type SlowLaneData = {
  readonly databasePath: string;
  readonly files: NetworkFiles;
  readonly identity: Identity;
  /** Time for the rows of one request; then it gets 503. */
  readonly readTimeoutMs: number;
};

export type ToSlowLane = SlowRequest & { readonly number: number };
export type FromSlowLane = SlowAnswer & { readonly number: number };

/** Requests under way at once, all but one of which wait: each may take the whole time. */
const MAX_REQUESTS = 4;

export function createSlowLane(data: SlowLaneData): SlowLane {
  const waiting = new Map<number, PromiseWithResolvers<SlowAnswer>>();
  let worker: Worker | undefined;
  let count = 0;

  function fail(error: Error): void {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  function start(): Worker {
    const started = new Worker(new URL("./worker.ts", import.meta.url), { workerData: data });
    started.on("message", ({ number, ...answer }: FromSlowLane) => {
      waiting.get(number)?.resolve(answer);
      waiting.delete(number);
    });
    started.on("error", fail);
    started.on("exit", () => fail(new Error("the thread of slow requests has gone")));
    return started;
  }

  return {
    ask({ method, url, body }) {
      if (waiting.size >= MAX_REQUESTS) return undefined;
      worker ??= start();
      const answer = Promise.withResolvers<SlowAnswer>();
      const number = count++;
      waiting.set(number, answer);
      worker.postMessage({ number, method, url, body } satisfies ToSlowLane);
      return answer.promise;
    },
    async close() {
      if (!worker) return;
      const exited = once(worker, "exit");
      const stopped = worker.terminate();
      // At once: a statement that is cut off answers as if there were no row, and that must be nobody's answer.
      fail(new Error("the thread of slow requests is stopped"));
      await stopped;
      await exited;
    },
  };
}
