/**
 * Runs slow queries in a thread with its own database connection, so that other requests do not wait. The
 * first query starts the thread.
 */
import { Worker } from "node:worker_threads";
import type { NetworkFiles } from "@uniknode/protocol";
import type { Identity } from "../../../http/core/api.ts";
import type { SlowQueryWorker, SlowRequest, SlowResponse } from "../../../http/server/slow-queries.ts";
import { ClientSlots } from "../../../platform/client-slots.ts";
import type { LogFormat } from "../../../platform/logging/logger.ts";
import { CallError, type CallFigures, OpenCalls } from "../../../platform/threads/call.ts";
import { moduleBeside } from "../../../platform/threads/module-url.ts";

/** Data for the thread, as plain values. */
export type SlowQueryData = {
  readonly databasePath: string;
  readonly files: NetworkFiles;
  readonly identity: Identity;
  /** Time limit for the rows of one request; then the request gets 503. */
  readonly readTimeoutMs: number;
  /** Absent: `auto`. */
  readonly logFormat?: LogFormat;
};

export type ToSlowQueryThread = Omit<SlowRequest, "ip"> & { readonly number: number };
export type FromSlowQueryThread = SlowResponse & { readonly number: number };

/** Maximum number of requests. One runs and the others wait, because each may use the whole time. */
const MAX_REQUESTS = 4;
/** Maximum number of requests of one client: slow queries of one never make all others fail. */
const MAX_REQUESTS_OF_CLIENT = 2;
/** The start of the thread and all queued queries take less. */
const TIMEOUT_MS = 30_000;
/** Large responses leave a large heap, which an idle thread would keep. */
const IDLE_MS = 10_000;

type SlowQueryOptions = {
  /** Time after which an unresponsive thread is stopped; the next request starts another. */
  readonly timeoutMs?: number;
  /** Time without requests after which the thread is stopped. */
  readonly idleMs?: number;
};

export class SlowQueryThread implements SlowQueryWorker {
  readonly #data: SlowQueryData;
  readonly #timeoutMs: number;
  readonly #calls: OpenCalls<SlowResponse>;
  readonly #clients = new ClientSlots({ total: MAX_REQUESTS, perClient: MAX_REQUESTS_OF_CLIENT });
  #refused = 0;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(data: SlowQueryData, { timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS }: SlowQueryOptions = {}) {
    this.#data = data;
    this.#timeoutMs = timeoutMs;
    this.#calls = new OpenCalls<SlowResponse>({
      maxCalls: MAX_REQUESTS,
      onTimeout: () => void this.close(),
      onEnd: () => {
        clearTimeout(this.#idle);
        this.#idle = setTimeout(() => {
          if (this.figures().open === 0) void this.close();
        }, idleMs).unref();
      },
    });
  }

  run({ ip, method, url, body }: SlowRequest): Promise<SlowResponse> | undefined {
    const release = this.#clients.take(ip);
    const response =
      release &&
      this.#calls.begin({
        timeoutMs: this.#timeoutMs,
        send: (number) => {
          this.#worker ??= this.#start();
          this.#worker.postMessage({ number, method, url, body } satisfies ToSlowQueryThread);
        },
      });
    if (response) return response.finally(release);
    release?.();
    this.#refused += 1;
    return undefined;
  }

  isRunning(): boolean {
    return this.#worker !== undefined;
  }

  figures(): CallFigures {
    return { ...this.#calls.figures(), refused: this.#refused };
  }

  /** Stops the thread; the next request starts another. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const stopped = this.#worker;
    this.#worker = undefined;
    // Reject immediately: an interrupted statement returns no rows, and no request may get that result.
    this.#calls.rejectAll(new CallError("CALL_CLOSED", "the slow query worker is stopped"));
    await stopped?.terminate();
  }

  #start(): Worker {
    const started = new Worker(moduleBeside(import.meta.url, "worker"), { workerData: this.#data });
    /** Requests that were sent to a later thread do not fail when this one dies. */
    const fail = (reason: string) => {
      if (this.#worker !== started) return;
      this.#worker = undefined;
      this.#calls.rejectAll(new CallError("CALL_CLOSED", `the slow query worker ${reason}`));
    };
    started.on("message", ({ number, ...response }: FromSlowQueryThread) =>
      this.#calls.resolve(number, response),
    );
    started.on("error", ({ message }: Error) => fail(`failed: ${message}`));
    started.on("messageerror", () => fail("sent an unreadable message"));
    started.on("exit", () => fail("has stopped"));
    return started;
  }
}
