/** Starts, notifies and ends the serving thread. */
import { once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { serveCalls } from "../../gateway/channel.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { explainListenError, type ListenAddress, shownHost } from "../../platform/addresses.ts";
import { moduleBeside } from "../../platform/threads/module-url.ts";
import type { ServedData, ServingOptions } from "./served-data.ts";

/** Everything the thread needs, as plain values and shared memory. */
export type ServingData = ServedData & {
  readonly databasePath: string;
  /** Key for `encryptSecrets`; if absent, secrets of webhooks are stored in plain text. */
  readonly secretKey?: Uint8Array | undefined;
  /** Shared memory of the threads that write to the database; see `createWriteLockMemory`. */
  readonly writeLock: SharedArrayBuffer;
  /** Shared memory with the state of their writes; see `createWriteState`. */
  readonly writeState: SharedArrayBuffer;
  /** Shared memory for heartbeats of the threads; see `createHeartbeats`. */
  readonly heartbeats: SharedArrayBuffer;
};

export type ToServing =
  | {
      readonly kind: "start";
      readonly data: ServingData;
      readonly gatewayPort: MessagePort;
      /** One integer: 1 while a notification is pending; the thread sets it to 0 before it handles the notification. */
      readonly notified: Int32Array<SharedArrayBuffer>;
    }
  | { readonly kind: "notify" | "close" };
export type FromServing = {
  readonly kind: "listening";
  readonly port: number;
  /** Port of health and metrics, if they have a separate listener. */
  readonly operationsPort: number | undefined;
  /** Path that signs in at the console, once; only on a dev chain with a console. */
  readonly consolePath: string | undefined;
};

export type Serving = {
  /** Base URL of API and webhooks. */
  readonly url: string;
  /** Base URL of health and metrics. */
  readonly operationsUrl: string;
  /** URL that signs in at the console, once; only on a dev chain with a console. */
  readonly consoleUrl: string | undefined;
};

/** Time limit until the thread listens: it opens a database of any size, and reads its queues. */
const START_TIMEOUT_MS = 120_000;
/** Time to close, in addition to the time for running deliveries; then the thread is terminated. */
const CLOSE_TIMEOUT_MS = 30_000;

/**
 * Space for new objects while the thread loads its modules: a third is in use, and `limitHeapGrowth` ends its growth. Without
 * a limit, it would grow to 48 MB, with little effect.
 */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 12 };

/** Calls `work` with a thread that has begun to load its program, and closes the thread in any case. */
export async function withServingThread<Result>(
  work: (thread: ServingThread) => Promise<Result>,
): Promise<Result> {
  const thread = new ServingThread();
  try {
    return await work(thread);
  } finally {
    await thread.close();
  }
}

/** The thread loads its program while the caller prepares its data. */
export class ServingThread {
  /** Rejects when the thread ends without `close`. */
  readonly died: Promise<never>;
  readonly #worker = new Worker(moduleBeside(import.meta.url, "worker"), { resourceLimits: HEAP_LIMITS });
  readonly #channel = new MessageChannel();
  readonly #notified = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #exited: Promise<void>;
  #closeTimeoutMs = CLOSE_TIMEOUT_MS;
  #isClosing = false;
  #httpPort: number | undefined;

  constructor() {
    const worker = this.#worker;
    this.#exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    this.died = new Promise<never>((_, reject) => {
      worker.once("error", reject);
      worker.once("messageerror", reject);
      worker.once("exit", (code) => {
        this.#channel.port1.close();
        if (!this.#isClosing) reject(new Error(`the serving thread ended with code ${code}`));
      });
    });
    // Callers handle the rejection; without a caller, it must not be unhandled.
    this.died.catch(() => {});
  }

  /**
   * Waits until the thread listens. To be called once.
   *
   * @throws {Error} when it cannot, for instance because the port is taken
   */
  async start(data: ServingData, gateway: Gateway): Promise<Serving> {
    const { port1, port2 } = this.#channel;
    this.#closeTimeoutMs += data.webhookTimeout * 1_000;
    serveCalls(port1, gateway);
    this.#send({ kind: "start", data, gatewayPort: port2, notified: this.#notified }, [port2]);
    const listening = Promise.race([
      once(this.#worker, "message", { signal: AbortSignal.timeout(START_TIMEOUT_MS) }),
      this.died,
    ]);
    const [{ port, operationsPort, consolePath }] = (await listening.catch((error) => {
      throw explainListenError(error, listenerOf(error, data));
    })) as [FromServing];
    const url = `http://${shownHost(data.httpHost)}:${port}`;
    const operationsUrl =
      operationsPort === undefined ? url : `http://${shownHost(data.operationsHost)}:${operationsPort}`;
    this.#httpPort = port;
    const consoleUrl = consolePath === undefined ? undefined : url + consolePath;
    return { url, operationsUrl, consoleUrl };
  }

  /** Notifies the thread of new events in the log: at most one notification is in transit. */
  notify(): void {
    if (Atomics.exchange(this.#notified, 0, 1) === 0) this.#send({ kind: "notify" });
  }

  /** Returns the port of the HTTP server; undefined until the thread listens. */
  port(): number | undefined {
    return this.#httpPort;
  }

  /** Waits for running requests and deliveries, and ends the thread, even if it was not started. Can be called again. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#send({ kind: "close" });
    const late = setTimeout(() => void this.#worker.terminate(), this.#closeTimeoutMs);
    await this.#exited;
    clearTimeout(late);
  }

  #send(message: ToServing, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}

/** `address` is missing for a name, `hostname` for an address, and `port` if any port is acceptable. */
type SystemError = Error & {
  readonly code?: string;
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
};

type ListenOptions = Pick<ServingOptions, "httpHost" | "httpPort" | "operationsHost" | "operationsPort">;

/** Returns the listener that failed: the API, or health and metrics. */
function listenerOf(
  error: SystemError,
  { httpHost, httpPort, operationsHost, operationsPort }: ListenOptions,
): ListenAddress {
  const { port, address: host = error.hostname } = error;
  const api = { host: httpHost, port: httpPort, portFlag: "--http-port", hostFlag: "--http-host" };
  if (operationsPort === undefined) return api;
  const isOperations = port === operationsPort || (host === operationsHost && host !== httpHost);
  if (!isOperations) return api;
  return {
    host: operationsHost,
    port: operationsPort,
    portFlag: "--operations-port",
    hostFlag: "--operations-host",
  };
}
