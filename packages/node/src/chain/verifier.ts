/** Signature verification off the main thread, in batches. */
import { Worker } from "node:worker_threads";
import { createPackedVerify, packChecks, type SignatureCheck } from "./signatures.ts";

export type Verifier = {
  /** Whether each signature is valid, in order. Rejects when the verifier was closed or a thread died. */
  verify(checks: readonly SignatureCheck[]): Promise<boolean[]>;
  close(): Promise<void>;
};

export type VerifierOptions = {
  /** Worker threads; 0 verifies in the calling thread. */
  readonly threads: number;
  /** Package of a native accelerator for the threads; see `loadAccelerator`. */
  readonly accelerator?: string | undefined;
};

/** Messages cost nothing any more from 50 signatures on; a batch holds a thread for about 12 ms. */
const BATCH = 128;

/** A thread keeps hardly anything: without limits its heap would grow by tens of megabytes all the same. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 96 };

/** One batch at a time, in order. */
type Lane = {
  waiting: number;
  verify(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  close(): Promise<unknown>;
};

export function createVerifier({ threads, accelerator }: VerifierOptions): Verifier {
  const lanes =
    threads === 0 ? [inThreadLane()] : Array.from({ length: threads }, () => workerLane(accelerator));

  function verifyBatch(checks: readonly SignatureCheck[]): Promise<Uint8Array> {
    const lane = lanes.reduce((best, other) => (other.waiting < best.waiting ? other : best));
    return lane.verify(packChecks(checks));
  }

  return {
    async verify(checks) {
      const batches = [];
      for (let at = 0; at < checks.length; at += BATCH)
        batches.push(verifyBatch(checks.slice(at, at + BATCH)));
      const verdicts = await Promise.all(batches);
      return verdicts.flatMap((batch) => Array.from(batch, (verdict) => verdict === 1));
    },
    close: async () => void (await Promise.all(lanes.map((lane) => lane.close()))),
  };
}

function workerLane(accelerator: string | undefined): Lane {
  const worker = new Worker(new URL("./signature-thread.ts", import.meta.url), {
    workerData: accelerator,
    resourceLimits: LIMITS,
  });
  const pending: PromiseWithResolvers<Uint8Array>[] = [];
  let failure: Error | undefined;

  const fail = (error: Error) => {
    failure ??= error;
    for (const { reject } of pending.splice(0)) reject(failure);
  };
  worker.on("message", (verdicts: Uint8Array) => pending.shift()?.resolve(verdicts));
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the signature thread has ended")));
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));

  return {
    get waiting() {
      return pending.length;
    },
    verify(packed) {
      if (failure) return Promise.reject(failure);
      const answer = Promise.withResolvers<Uint8Array>();
      pending.push(answer);
      worker.postMessage(packed, [packed.buffer]);
      return answer.promise;
    },
    close() {
      failure ??= new Error("the verifier was closed");
      return endThread(worker, exited);
    },
  };
}

/** How long a thread may take to end by itself: longer than it can be busy with what it was given. */
const END_GRACE_MS = 10_000;

/**
 * Lets the thread end by itself, which it does when its work is done. Stopped from outside while it is still loading,
 * it can take the whole process with it.
 */
async function endThread(worker: Worker, exited: Promise<unknown>): Promise<void> {
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
      const verdicts = last.then(nextTurn).then(() => {
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

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
