/**
 * A queue of batches and the thread that verifies them, one at a time and in order. If the thread makes no progress, another
 * one continues with the batches after the one that it holds.
 */
import { Worker } from "node:worker_threads";
import { CallError, type CallErrorCode, OpenCalls } from "../platform/threads/call.ts";
import { packChecks, type SignatureCheck } from "./packed-checks.ts";

export type ToSignatureThread = { readonly number: number; readonly packed: Uint8Array<ArrayBuffer> };
export type FromSignatureThread =
  | { readonly number: number; readonly verdicts: Uint8Array }
  | { readonly refusal: string };

/** Runs one batch at a time, in order. */
export type Lane = {
  /** Batches without verdicts. */
  readonly waiting: number;
  /** True if no thread of the lane makes progress. */
  readonly isStuck: boolean;
  /**
   * @param onStalled called if a thread takes long for this batch; it may still complete it
   * @throws {CallError} if the thread died or does not reply, the queue is full, or the lane was closed
   */
  verify(checks: readonly SignatureCheck[], onStalled?: () => void): Promise<Uint8Array>;
  close(): Promise<unknown>;
};

export type WorkerLaneOptions = {
  /** Code of the threads. */
  readonly module: URL;
  /** Time for a batch, after which its thread is terminated. */
  readonly timeoutMs: number;
  /** Time for a batch, after which another thread verifies the batches behind it. */
  readonly stallMs: number;
  readonly onRefusal: (reason: string) => void;
};

/** Maximum number of batches per thread: half a million signatures, more than a synchronisation submits at once. */
const MAX_BATCHES = 4_000;
/** Deadline of a call, including all batches before it. */
const TOTAL_TIMEOUT_MS = 300_000;
/** A thread keeps hardly any data, but without limits its heap would still grow by tens of megabytes. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 96 };

type Batch = { readonly checks: readonly SignatureCheck[]; readonly onStalled: (() => void) | undefined };

type Runner = {
  readonly thread: Worker;
  /** Batches that it is to verify, in order; it holds the first one. */
  readonly numbers: Set<number>;
  readonly watchdog: Watchdog;
  hasReplied: boolean;
};

export class WorkerLane implements Lane {
  readonly #options: WorkerLaneOptions;
  readonly #calls: OpenCalls<Uint8Array>;
  readonly #batches = new Map<number, Batch>();
  /** Receives new batches; the first one starts it, because an idle node needs one thread at most. */
  #current: Runner | undefined;
  /** Thread that was replaced, and has one batch left. */
  #stalled: Runner | undefined;
  #isStuck = false;
  #isClosed = false;

  constructor(options: WorkerLaneOptions) {
    this.#options = options;
    const onEnd = (number: number) => {
      this.#batches.delete(number);
      for (const runner of [this.#current, this.#stalled]) runner?.numbers.delete(number);
    };
    this.#calls = new OpenCalls<Uint8Array>({ maxCalls: MAX_BATCHES, onEnd });
  }

  get waiting(): number {
    return this.#calls.figures().open;
  }

  get isStuck(): boolean {
    return this.#isStuck;
  }

  async verify(checks: readonly SignatureCheck[], onStalled?: () => void): Promise<Uint8Array> {
    if (this.#isClosed) throw new CallError("CALL_CLOSED", "the verifier was closed");
    const verdicts = this.#calls.begin({
      timeoutMs: TOTAL_TIMEOUT_MS,
      send: (number) => {
        this.#batches.set(number, { checks, onStalled });
        this.#send(number);
      },
    });
    if (!verdicts) throw new CallError("CALL_REFUSED", "too many signatures are queued for verification");
    return verdicts;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#current?.watchdog.stop();
    if (this.#stalled) this.#fail(this.#stalled, "was closed");
    if (this.#current) await endThread(this.#current.thread);
  }

  #send(number: number): void {
    const batch = this.#batches.get(number);
    if (!batch) return;
    this.#current ??= this.#startRunner();
    const { thread, numbers, watchdog } = this.#current;
    const packed = packChecks(batch.checks);
    thread.postMessage({ number, packed } satisfies ToSignatureThread, [packed.buffer]);
    if (numbers.size === 0) watchdog.restart();
    numbers.add(number);
  }

  #startRunner(): Runner {
    const { module, timeoutMs, stallMs } = this.#options;
    const thread = new Worker(module, { resourceLimits: LIMITS });
    const runner: Runner = {
      thread,
      numbers: new Set(),
      watchdog: new Watchdog([
        { afterMs: stallMs, run: () => this.#bypass(runner) },
        { afterMs: timeoutMs, run: () => this.#fail(runner, "hangs", "CALL_TIMEOUT") },
      ]),
      hasReplied: false,
    };
    thread.on("message", (message: FromSignatureThread) => this.#receive(runner, message));
    thread.on("messageerror", () => this.#fail(runner, "sent an unreadable message"));
    thread.on("error", ({ message }: Error) => this.#fail(runner, `failed: ${message}`));
    thread.on("exit", () => this.#fail(runner, "has ended"));
    return runner;
  }

  #receive(runner: Runner, message: FromSignatureThread): void {
    if ("refusal" in message) {
      this.#options.onRefusal(message.refusal);
      return;
    }
    runner.hasReplied = true;
    this.#calls.resolve(message.number, message.verdicts);
    if (runner === this.#current) this.#isStuck = false;
    if (runner.numbers.size > 0) runner.watchdog.restart();
    else if (runner === this.#stalled) this.#retire(runner);
    else runner.watchdog.stop();
  }

  /** Lets another thread verify the batches after the first one, unless the lane has replaced a thread already. */
  #bypass(runner: Runner): void {
    if (runner !== this.#current) return;
    if (this.#stalled) {
      this.#isStuck = true;
      return;
    }
    const [held, ...others] = runner.numbers;
    if (held === undefined) return;
    this.#stalled = runner;
    this.#current = undefined;
    for (const number of others) runner.numbers.delete(number);
    for (const number of others) this.#send(number);
    this.#batches.get(held)?.onStalled?.();
  }

  /** Rejects the batch that the thread holds. The others start another thread, unless this one never worked. */
  #fail(runner: Runner, reason: string, code: CallErrorCode = "CALL_CLOSED"): void {
    if (runner !== this.#current && runner !== this.#stalled) return;
    const [held, ...others] = runner.numbers;
    this.#retire(runner);
    const mayContinue = !this.#isClosed && (runner.hasReplied || code === "CALL_TIMEOUT");
    const error = new CallError(code, `the signature thread ${reason}`);
    if (held !== undefined) this.#calls.reject(held, error);
    for (const number of others) {
      if (mayContinue) this.#send(number);
      else this.#calls.reject(number, error);
    }
  }

  #retire(runner: Runner): void {
    if (this.#stalled === runner) this.#stalled = undefined;
    else this.#current = undefined;
    this.#isStuck = false;
    runner.watchdog.stop();
    void runner.thread.terminate();
  }
}

/** A time without progress, and what is done then. */
type Alarm = { readonly afterMs: number; readonly run: () => void };

/** After a pause of the whole process, its timers fire before a message of another thread can arrive. */
const LATE_MESSAGE_MS = 1_000;

/** Calls back when a thread makes no progress. */
class Watchdog {
  readonly #alarms: readonly Alarm[];
  #timers: NodeJS.Timeout[] = [];

  constructor(alarms: readonly Alarm[]) {
    this.#alarms = alarms;
  }

  /** The thread made progress, and has more to do. */
  restart(): void {
    this.stop();
    for (const { afterMs, run } of this.#alarms) {
      const confirm = () => this.#timers.push(setTimeout(run, Math.min(afterMs, LATE_MESSAGE_MS)));
      this.#timers.push(setTimeout(confirm, afterMs));
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }
}

/** Time in which a thread must end by itself: longer than it can be busy with its batches. */
const END_GRACE_MS = 10_000;

/**
 * Lets the thread end by itself after its work. Terminating a thread while it is still loading can crash the
 * whole process.
 */
async function endThread(worker: Worker): Promise<void> {
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.postMessage(null);
  const timer = setTimeout(() => void worker.terminate(), END_GRACE_MS);
  await exited;
  clearTimeout(timer);
}
