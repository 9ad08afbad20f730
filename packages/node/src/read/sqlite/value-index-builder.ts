/**
 * Builds value indexes in another thread, so that nothing waits for them. Starting a thread takes longer than building most
 * value indexes, so the thread is kept for a while. Then it ends, because the rows of a long value index occupy much memory.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { CallError } from "../../platform/threads/call.ts";
import { moduleBeside } from "../../platform/threads/module-url.ts";
import type { ValueIndexAt, ValueIndexDefinition } from "./lists/value-index-cache.ts";

/** Input of the thread as plain values. */
export type BuilderData = { readonly databasePath: string };
export type ToBuilder = { readonly definition: ValueIndexDefinition; readonly maxBytes: number };

const STAYS_MS = 60_000;
/** Time after which a thread that has not finished its value index is stopped. Long, because no request waits for the build. */
const TIMEOUT_MS = 600_000;

export class ValueIndexBuilder {
  readonly #data: BuilderData;
  readonly #onError: (error: unknown) => void;
  #worker: Worker | undefined;
  #leaving: NodeJS.Timeout | undefined;

  /** @param onError called with the error if a value index cannot be built */
  constructor(databasePath: string, onError: (error: unknown) => void) {
    this.#data = { databasePath };
    this.#onError = onError;
  }

  /** Builds one value index; must not be called while another is being built. */
  async build(definition: ValueIndexDefinition, maxBytes: number): Promise<ValueIndexAt | undefined> {
    clearTimeout(this.#leaving);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const settled = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new CallError("CALL_TIMEOUT", `no value index within ${TIMEOUT_MS} ms`)),
      TIMEOUT_MS,
    );
    try {
      worker.postMessage({ definition, maxBytes } satisfies ToBuilder);
      const replied = once(worker, "message", settled);
      const gone = once(worker, "exit", settled).then(() => []);
      const lost = once(worker, "messageerror", settled).then(([error]) => Promise.reject(error));
      const [built] = (await Promise.race([replied, gone, lost, late.promise])) as [ValueIndexAt?];
      return built;
    } catch (error) {
      this.#onError(error);
      // No request waits for its result. The next value index gets another thread.
      void this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      settled.abort();
      this.#leaving = setTimeout(() => this.close(), STAYS_MS).unref();
    }
  }

  /** Aborts the running build. */
  async close(): Promise<void> {
    clearTimeout(this.#leaving);
    const ended = this.#worker;
    this.#worker = undefined;
    await ended?.terminate();
  }

  #start(): Worker {
    const started = new Worker(moduleBeside(import.meta.url, "value-index-thread"), {
      workerData: this.#data,
    });
    started.once("exit", () => {
      if (this.#worker === started) this.#worker = undefined;
    });
    return started;
  }
}
