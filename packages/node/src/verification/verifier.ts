/** Verifies signatures off the main thread, in batches. */
import { setImmediate as nextTick } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { CallError, type CallErrorCode } from "../platform/threads/call.ts";
import { moduleBeside } from "../platform/threads/module-url.ts";
import { createOpenCalls } from "../platform/threads/open-calls.ts";
import { packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createPackedVerify } from "./packed-verify.ts";

export type Verifier = {
  /**
   * Settles with the verdict of each signature, in order. Rejects with a `CallError` if the verifier was
   * closed, or if a thread died, does not reply, or is overloaded.
   */
  verify(checks: readonly SignatureCheck[]): Promise<boolean[]>;
  close(): Promise<void>;
};

export type VerifierOptions = {
  /** Worker threads; 0 verifies in the calling thread. */
  readonly threads: number;
  /** Package of a native accelerator for the threads; see `loadAccelerator`. */
  readonly accelerator?: string | undefined;
  /** Time in which a thread must finish a batch of signatures; otherwise it is replaced. Defaults to ten seconds. */
  readonly timeoutMs?: number;
  /**
   * Called once with the reason why the threads verify in WebAssembly although they should not. Defaults to a
   * warning.
   */
  readonly onRefusal?: (reason: string) => void;
};

export type ToSignatureThread = { readonly number: number; readonly packed: Uint8Array<ArrayBuffer> };
export type FromSignatureThread =
  | { readonly number: number; readonly verdicts: Uint8Array }
  | { readonly refusal: string };

/** From 50 signatures on, the cost of a message is negligible; a batch occupies a thread for about 12 ms. */
const BATCH = 128;

/** Heap limits of a thread: it has little data, but without limits its heap grows by tens of megabytes. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 96 };

/** Maximum number of batches per thread: half a million signatures, more than a synchronisation submits at once. */
const MAX_BATCHES = 4_000;
/** A batch costs 12 ms; in WebAssembly on a busy machine, up to a second. */
const TIMEOUT_MS = 10_000;
/** Deadline of a call, including all batches before it. */
const TOTAL_TIMEOUT_MS = 300_000;

/** Runs one batch at a time, in order. */
type Lane = {
  waiting: number;
  verify(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  close(): Promise<unknown>;
};

export function createVerifier(options: VerifierOptions): Verifier {
  const { threads, accelerator, timeoutMs = TIMEOUT_MS } = options;
  const onRefusal = firstOnly(options.onRefusal ?? ((reason) => process.emitWarning(reason)));
  const lanes =
    threads === 0
      ? [inThreadLane()]
      : Array.from({ length: threads }, () => workerLane(accelerator, timeoutMs, onRefusal));

  function verifyBatch(checks: readonly SignatureCheck[]): Promise<Uint8Array> {
    const lane = lanes.reduce((best, other) => (other.waiting < best.waiting ? other : best));
    return lane.verify(packChecks(checks));
  }

  async function verifyAll(checks: readonly SignatureCheck[]): Promise<boolean[]> {
    const batches = [];
    for (let at = 0; at < checks.length; at += BATCH) batches.push(verifyBatch(checks.slice(at, at + BATCH)));
    const verdicts = await Promise.all(batches);
    return verdicts.flatMap((batch) => Array.from(batch, (verdict) => verdict === 1));
  }

  const gathered = gatherCalls(verifyAll);
  return {
    // A message to a thread and back costs as much as the verification of several signatures.
    verify: (checks) => (checks.length < BATCH ? gathered(checks) : verifyAll(checks)),
    close: async () => void (await Promise.all(lanes.map((lane) => lane.close()))),
  };
}

/** All threads report the same reason; only the first report is passed on. */
function firstOnly(listener: (reason: string) => void): (reason: string) => void {
  let isCalled = false;
  return (reason) => {
    if (!isCalled) listener(reason);
    isCalled = true;
  };
}

/** Combines the calls of one tick of the event loop into one call; they also fail together. */
function gatherCalls<Item, Verdict>(
  verifyAll: (items: readonly Item[]) => Promise<readonly Verdict[]>,
): (items: readonly Item[]) => Promise<Verdict[]> {
  let items: Item[] = [];
  let verdicts: Promise<readonly Verdict[]> | undefined;
  return async (added) => {
    const first = items.length;
    items.push(...added);
    verdicts ??= nextTick().then(() => {
      const all = items;
      items = [];
      verdicts = undefined;
      return verifyAll(all);
    });
    return (await verdicts).slice(first, first + added.length);
  };
}

/**
 * The first batch starts the thread, because an idle node needs one at most. If a thread dies or hangs, its
 * batches fail, and the next batch starts another thread.
 */
function workerLane(
  accelerator: string | undefined,
  timeoutMs: number,
  onRefusal: (reason: string) => void,
): Lane {
  const hang = () => drop("hangs", "CALL_TIMEOUT");
  const calls = createOpenCalls<Uint8Array>({ maxCalls: MAX_BATCHES, onTimeout: hang });
  const progress = createWatchdog(timeoutMs, hang);
  let thread: Worker | undefined;
  let isClosed = false;

  function start(): Worker {
    const started = startThread(accelerator, receive, (reason) => {
      if (thread === started) drop(reason);
    });
    return started;
  }

  function receive(message: FromSignatureThread): void {
    if ("refusal" in message) onRefusal(message.refusal);
    else {
      calls.resolve(message.number, message.verdicts);
      if (calls.figures().open > 0) progress.restart();
      else progress.stop();
    }
  }

  function drop(reason: string, code: CallErrorCode = "CALL_CLOSED"): void {
    const dropped = thread;
    thread = undefined;
    progress.stop();
    calls.rejectAll(new CallError(code, `the signature thread ${reason}`));
    void dropped?.terminate();
  }

  return {
    get waiting() {
      return calls.figures().open;
    },
    async verify(packed) {
      if (isClosed) throw new CallError("CALL_CLOSED", "the verifier was closed");
      const isIdle = calls.figures().open === 0;
      const verdicts = calls.begin({
        timeoutMs: TOTAL_TIMEOUT_MS,
        send(number) {
          thread ??= start();
          thread.postMessage({ number, packed } satisfies ToSignatureThread, [packed.buffer]);
          if (isIdle) progress.restart();
        },
      });
      if (!verdicts) throw new CallError("CALL_REFUSED", "too many signatures are queued for verification");
      return verdicts;
    },
    async close() {
      isClosed = true;
      progress.stop();
      if (thread) await endThread(thread);
    },
  };
}

function startThread(
  accelerator: string | undefined,
  onMessage: (message: FromSignatureThread) => void,
  onFailure: (reason: string) => void,
): Worker {
  const thread = new Worker(moduleBeside(import.meta.url, "signature-thread"), {
    workerData: accelerator,
    resourceLimits: LIMITS,
  });
  thread.on("message", onMessage);
  thread.on("messageerror", () => onFailure("sent an unreadable message"));
  thread.on("error", ({ message }: Error) => onFailure(`failed: ${message}`));
  thread.on("exit", () => onFailure("has ended"));
  return thread;
}

/** After a pause of the whole process, its timers fire before a message of another thread can arrive. */
const LATE_MESSAGE_MS = 1_000;

/** Calls back if it was not restarted or stopped for `timeoutMs`. */
function createWatchdog(timeoutMs: number, onExpired: () => void): { restart(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  return {
    restart() {
      stop();
      timer = setTimeout(() => {
        timer = setTimeout(onExpired, LATE_MESSAGE_MS);
      }, timeoutMs);
    },
    stop,
  };
}

/** Timeout for a thread to exit: longer than it can be busy with its batches. */
const END_GRACE_MS = 10_000;

/**
 * Asks the thread to exit after its work. Terminating a thread while it is still loading can crash the
 * whole process.
 */
async function endThread(worker: Worker): Promise<void> {
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.postMessage(null);
  const timer = setTimeout(() => void worker.terminate(), END_GRACE_MS);
  await exited;
  clearTimeout(timer);
}

function inThreadLane(): Lane {
  const verifyPacked = createPackedVerify();
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;
  return {
    waiting: 0,
    verify(packed) {
      // Yields between two batches.
      const verdicts = last.then(nextTick).then(() => {
        if (closed) throw new Error("the verifier was closed");
        return verifyPacked(packed);
      });
      last = verdicts.catch(() => undefined);
      return verdicts;
    },
    close: async () => {
      closed = true;
    },
  };
}
