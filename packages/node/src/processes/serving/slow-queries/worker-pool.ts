/**
 * Requests whose rows take long to find, in a thread of their own with a connection of its own: the others do
 * not wait for them. The thread is started by the first of them.
 */
import { Worker } from "node:worker_threads";
import type { NetworkFiles } from "@uniknode/protocol";
import type { Identity } from "../../../http/resources/api.ts";
import type {
  SlowAnswer,
  SlowLane as SlowLaneContract,
  SlowRequest,
} from "../../../http/server/slow-lane.ts";
import type { LogFormat } from "../../../platform/logging/logger.ts";
import { CallError } from "../../../platform/threads/error.ts";
import { moduleBeside } from "../../../platform/threads/module-url.ts";
import { type CallFigures, createOpenCalls } from "../../../platform/threads/open-calls.ts";

export type SlowLane = SlowLaneContract & {
  figures(): CallFigures;
  close(): Promise<void>;
};

/** What the thread needs, as plain values. */
export type SlowLaneData = {
  readonly databasePath: string;
  readonly files: NetworkFiles;
  readonly identity: Identity;
  /** Time for the rows of one request; then it gets 503. */
  readonly readTimeoutMs: number;
  /** Absent: `auto`. */
  readonly logFormat?: LogFormat;
};

export type ToSlowLane = SlowRequest & { readonly number: number };
export type FromSlowLane = SlowAnswer & { readonly number: number };

/** Requests under way at once, all but one of which wait: each may take the whole time. */
const MAX_REQUESTS = 4;
/** Longer than the rows of all of them take, and the thread to start. */
const TIMEOUT_MS = 30_000;

/** @param timeoutMs after which a thread that has not answered is stopped, for the next request to start another */
export function createSlowLane(data: SlowLaneData, timeoutMs = TIMEOUT_MS): SlowLane {
  const calls = createOpenCalls<SlowAnswer>({ maxCalls: MAX_REQUESTS, onTimeout: () => void stop() });
  let worker: Worker | undefined;

  function start(): Worker {
    const started = new Worker(moduleBeside(import.meta.url, "worker"), { workerData: data });
    /** Those that a later thread was given are not ended by the death of this one. */
    const fail = (reason: string) => {
      if (worker !== started) return;
      worker = undefined;
      calls.rejectAll(new CallError("CALL_CLOSED", `the slow query worker ${reason}`));
    };
    started.on("message", ({ number, ...answer }: FromSlowLane) => calls.resolve(number, answer));
    started.on("error", ({ message }: Error) => fail(`failed: ${message}`));
    started.on("messageerror", () => fail("sent an unreadable message"));
    started.on("exit", () => fail("has stopped"));
    return started;
  }

  async function stop(): Promise<void> {
    const stopped = worker;
    worker = undefined;
    // At once: a statement that is cut off answers as if there were no row, and no request may get that answer.
    calls.rejectAll(new CallError("CALL_CLOSED", "the slow query worker is stopped"));
    await stopped?.terminate();
  }

  return {
    ask({ method, url, body }) {
      return calls.begin({
        timeoutMs,
        send(number) {
          worker ??= start();
          worker.postMessage({ number, method, url, body } satisfies ToSlowLane);
        },
      });
    },
    figures: calls.figures,
    close: stop,
  };
}
