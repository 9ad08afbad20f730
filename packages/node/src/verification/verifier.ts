/** Signature verification off the main thread, in batches. */
import { Worker } from "node:worker_threads";
import { CallError, type CallErrorCode } from "../platform/threads/error.ts";
import { moduleBeside } from "../platform/threads/module-url.ts";
import { createOpenCalls } from "../platform/threads/open-calls.ts";
import { packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createPackedVerify } from "./signatures.ts";

export type Verifier = {
  /**
   * Whether each signature is valid, in order. Rejects with a `CallError` when the verifier was closed, or a thread
   * died, does not answer, or has too much to do.
   */
  verify(checks: readonly SignatureCheck[]): Promise<boolean[]>;
  close(): Promise<void>;
};

export type VerifierOptions = {
  /** Worker threads; 0 verifies in the calling thread. */
  readonly threads: number;
  /** Package of a native accelerator for the threads; see `loadAccelerator`. */
  readonly accelerator?: string | undefined;
  /** In which a thread must finish a batch of signatures; otherwise it is replaced. Absent: ten seconds. */
  readonly timeoutMs?: number;
  /** Called once, with the reason why the threads verify in WebAssembly although they should not. Absent: warns. */
  readonly onRefusal?: (reason: string) => void;
};

export type ToSignatureThread = { readonly number: number; readonly packed: Uint8Array<ArrayBuffer> };
export type FromSignatureThread =
  | { readonly number: number; readonly verdicts: Uint8Array }
  | { readonly refusal: string };

/** Messages cost nothing any more from 50 signatures on; a batch holds a thread for about 12 ms. */
const BATCH = 128;

/** A thread keeps hardly anything: without limits its heap would grow by tens of megabytes all the same. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 96 };

/** Batches that a thread has: half a million signatures, more than a synchronisation submits at once. */
const MAX_BATCHES = 4_000;
/** A batch takes 12 ms, in WebAssembly on a busy machine a second. */
const TIMEOUT_MS = 10_000;
/** Deadline of a call, with all batches before it. */
const TOTAL_TIMEOUT_MS = 300_000;

/** One batch at a time, in order. */
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
    // A message to a thread and back takes as long as the verification of several signatures.
    verify: (checks) => (checks.length < BATCH ? gathered(checks) : verifyAll(checks)),
    close: async () => void (await Promise.all(lanes.map((lane) => lane.close()))),
  };
}

/** All threads refuse for the same reason. */
function firstOnly(listener: (reason: string) => void): (reason: string) => void {
  let isCalled = false;
  return (reason) => {
    if (!isCalled) listener(reason);
    isCalled = true;
  };
}

/** Answers the calls of one turn of the event loop together; they fail together, too. */
function gatherCalls<Item, Answer>(
  answerAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (items: readonly Item[]) => Promise<Answer[]> {
  let items: Item[] = [];
  let answers: Promise<readonly Answer[]> | undefined;
  return async (added) => {
    const first = items.length;
    items.push(...added);
    answers ??= nextTick().then(() => {
      const all = items;
      items = [];
      answers = undefined;
      return answerAll(all);
    });
    return (await answers).slice(first, first + added.length);
  };
}

/**
 * The first batch starts the thread: a node at rest has work for one at most. A thread that dies or hangs takes what it was given
 * with it; the next batch starts another one.
 */
function workerLane(
  accelerator: string | undefined,
  timeoutMs: number,
  onRefusal: (reason: string) => void,
): Lane {
  const calls = createOpenCalls<Uint8Array>({ maxCalls: MAX_BATCHES, onTimeout: hang });
  const progress = createWatchdog(timeoutMs, hang);
  let thread: Worker | undefined;
  let isClosed = false;

  function start(): Worker {
    const started = new Worker(moduleBeside(import.meta.url, "signature-thread"), {
      workerData: accelerator,
      resourceLimits: LIMITS,
    });
    const fail = (reason: string) => {
      if (thread === started) drop(reason);
    };
    started.on("message", (message: FromSignatureThread) => {
      if ("refusal" in message) return onRefusal(message.refusal);
      calls.resolve(message.number, message.verdicts);
      if (calls.figures().open > 0) progress.restart();
      else progress.stop();
    });
    started.on("messageerror", () => fail("sent what cannot be read"));
    started.on("error", ({ message }: Error) => fail(`failed: ${message}`));
    started.on("exit", () => fail("has ended"));
    return started;
  }

  function hang(): void {
    drop("hangs", "CALL_TIMEOUT");
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
      if (!verdicts) throw new CallError("CALL_REFUSED", "too many signatures wait to be verified");
      return verdicts;
    },
    async close() {
      isClosed = true;
      progress.stop();
      if (thread) await endThread(thread);
    },
  };
}

/** After a pause of the whole process, its timers run before a message of another thread can arrive. */
const LATE_MESSAGE_MS = 1_000;

/** Calls back when it was not restarted or stopped for so long. */
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

/** How long a thread may take to end by itself: longer than it can be busy with what it was given. */
const END_GRACE_MS = 10_000;

/**
 * Lets the thread end by itself, which it does when its work is done. Stopped from outside while it is still loading,
 * it can take the whole process with it.
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
      // Other work of the thread comes between two batches.
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

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));
