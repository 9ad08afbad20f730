/**
 * A queue of batches and the thread that verifies them, one at a time and in order. If the thread makes no progress, another
 * one continues with the batches after the one that it holds.
 */
import { Worker } from "node:worker_threads";
import { CallError, type CallErrorCode } from "../platform/threads/call.ts";
import { createOpenCalls, type OpenCalls } from "../platform/threads/open-calls.ts";
import { packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

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

type State = {
  readonly options: WorkerLaneOptions;
  readonly calls: OpenCalls<Uint8Array>;
  readonly batches: Map<number, Batch>;
  /** Receives new batches; the first one starts it, because an idle node needs one thread at most. */
  current: Runner | undefined;
  /** Was replaced, and has one batch left. */
  stalled: Runner | undefined;
  isStuck: boolean;
  isClosed: boolean;
};

export function createWorkerLane(options: WorkerLaneOptions): Lane {
  const onEnd = (number: number) => {
    state.batches.delete(number);
    for (const runner of [state.current, state.stalled]) runner?.numbers.delete(number);
  };
  const state: State = {
    options,
    calls: createOpenCalls<Uint8Array>({ maxCalls: MAX_BATCHES, onEnd }),
    batches: new Map(),
    current: undefined,
    stalled: undefined,
    isStuck: false,
    isClosed: false,
  };
  return {
    get waiting() {
      return state.calls.figures().open;
    },
    get isStuck() {
      return state.isStuck;
    },
    verify: (checks, onStalled) => verify(state, { checks, onStalled }),
    close: () => close(state),
  };
}

async function verify(state: State, batch: Batch): Promise<Uint8Array> {
  if (state.isClosed) throw new CallError("CALL_CLOSED", "the verifier was closed");
  const verdicts = state.calls.begin({
    timeoutMs: TOTAL_TIMEOUT_MS,
    send(number) {
      state.batches.set(number, batch);
      send(state, number);
    },
  });
  if (!verdicts) throw new CallError("CALL_REFUSED", "too many signatures are queued for verification");
  return verdicts;
}

function send(state: State, number: number): void {
  const batch = state.batches.get(number);
  if (!batch) return;
  state.current ??= startRunner(state);
  const { thread, numbers, watchdog } = state.current;
  const packed = packChecks(batch.checks);
  thread.postMessage({ number, packed } satisfies ToSignatureThread, [packed.buffer]);
  if (numbers.size === 0) watchdog.restart();
  numbers.add(number);
}

function startRunner(state: State): Runner {
  const { module, timeoutMs, stallMs } = state.options;
  const thread = new Worker(module, { resourceLimits: LIMITS });
  const runner: Runner = {
    thread,
    numbers: new Set(),
    watchdog: createWatchdog([
      { afterMs: stallMs, run: () => bypass(state, runner) },
      { afterMs: timeoutMs, run: () => fail(state, runner, "hangs", "CALL_TIMEOUT") },
    ]),
    hasReplied: false,
  };
  thread.on("message", (message: FromSignatureThread) => receive(state, runner, message));
  thread.on("messageerror", () => fail(state, runner, "sent an unreadable message"));
  thread.on("error", ({ message }: Error) => fail(state, runner, `failed: ${message}`));
  thread.on("exit", () => fail(state, runner, "has ended"));
  return runner;
}

function receive(state: State, runner: Runner, message: FromSignatureThread): void {
  if ("refusal" in message) {
    state.options.onRefusal(message.refusal);
    return;
  }
  runner.hasReplied = true;
  state.calls.resolve(message.number, message.verdicts);
  if (runner === state.current) state.isStuck = false;
  if (runner.numbers.size > 0) runner.watchdog.restart();
  else if (runner === state.stalled) retire(state, runner);
  else runner.watchdog.stop();
}

/** Lets another thread verify the batches after the first one, unless the lane has replaced a thread already. */
function bypass(state: State, runner: Runner): void {
  if (runner !== state.current) return;
  if (state.stalled) {
    state.isStuck = true;
    return;
  }
  const [held, ...others] = runner.numbers;
  if (held === undefined) return;
  state.stalled = runner;
  state.current = undefined;
  for (const number of others) runner.numbers.delete(number);
  for (const number of others) send(state, number);
  state.batches.get(held)?.onStalled?.();
}

/** Rejects the batch that the thread holds. The others start another thread, unless this one never worked. */
function fail(state: State, runner: Runner, reason: string, code: CallErrorCode = "CALL_CLOSED"): void {
  if (runner !== state.current && runner !== state.stalled) return;
  const [held, ...others] = runner.numbers;
  retire(state, runner);
  const mayContinue = !state.isClosed && (runner.hasReplied || code === "CALL_TIMEOUT");
  const error = new CallError(code, `the signature thread ${reason}`);
  if (held !== undefined) state.calls.reject(held, error);
  for (const number of others) {
    if (mayContinue) send(state, number);
    else state.calls.reject(number, error);
  }
}

function retire(state: State, runner: Runner): void {
  if (state.stalled === runner) state.stalled = undefined;
  else state.current = undefined;
  state.isStuck = false;
  runner.watchdog.stop();
  void runner.thread.terminate();
}

async function close(state: State): Promise<void> {
  state.isClosed = true;
  const { current, stalled } = state;
  current?.watchdog.stop();
  if (stalled) fail(state, stalled, "was closed");
  if (current) await endThread(current.thread);
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
