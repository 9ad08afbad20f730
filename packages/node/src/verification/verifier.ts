/** Verifies signatures off the main thread, in batches. */
import { setImmediate as nextTick } from "node:timers/promises";
import { CallError } from "../platform/threads/call.ts";
import { moduleBeside } from "../platform/threads/module-url.ts";
import { packChecks, type SignatureCheck } from "./packed-checks.ts";
import { createPackedVerify } from "./packed-verify.ts";
import { type Lane, WorkerLane } from "./worker-lane.ts";

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
  /** Code of the threads. Defaults to `signature-thread`. */
  readonly module?: URL;
  /** Time in which a thread must finish a batch of signatures; otherwise it is replaced. Defaults to ten seconds. */
  readonly timeoutMs?: number;
  /**
   * Called once with the reason why the threads verify in WebAssembly although they should not. Defaults to a
   * warning.
   */
  readonly onRefusal?: (reason: string) => void;
};

/** From 50 signatures on, the cost of a message is negligible; a batch occupies a thread for about 12 ms. */
const BATCH = 128;

/** A batch costs 12 ms; in WebAssembly on a busy machine, up to a second. */
const TIMEOUT_MS = 10_000;
/** A batch, or the start of a thread, takes less. With the confirmation of the watchdog, an admission still waits longer than this. */
const STALL_MS = 1_500;

export class BatchVerifier implements Verifier {
  readonly #lanes: readonly Lane[];
  readonly #gathered: (checks: readonly SignatureCheck[]) => Promise<boolean[]>;

  constructor(options: VerifierOptions) {
    const { threads, timeoutMs = TIMEOUT_MS } = options;
    const { module = moduleBeside(import.meta.url, "signature-thread") } = options;
    const onRefusal = firstOnly(options.onRefusal ?? ((reason) => process.emitWarning(reason)));
    this.#lanes =
      threads === 0
        ? [new InThreadLane()]
        : Array.from(
            { length: threads },
            () => new WorkerLane({ module, timeoutMs, stallMs: Math.min(STALL_MS, timeoutMs), onRefusal }),
          );
    this.#gathered = gatherCalls((checks, onStalled) => this.#verifyAll(checks, onStalled));
  }

  verify(checks: readonly SignatureCheck[]): Promise<boolean[]> {
    // A message to a thread and back costs as much as the verification of several signatures.
    return checks.length < BATCH ? this.#gathered(checks) : this.#verifyAll(checks);
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async #verifyAll(checks: readonly SignatureCheck[], onStalled?: () => void): Promise<boolean[]> {
    const batches = [];
    for (let at = 0; at < checks.length; at += BATCH) {
      batches.push(chooseLane(this.#lanes).verify(checks.slice(at, at + BATCH), onStalled));
    }
    const verdicts = await Promise.all(batches);
    return verdicts.flatMap((batch) => Array.from(batch, (verdict) => verdict === 1));
  }
}

/** All threads report the same reason; only the first report is passed on. */
function firstOnly(listener: (reason: string) => void): (reason: string) => void {
  let isCalled = false;
  return (reason) => {
    if (!isCalled) listener(reason);
    isCalled = true;
  };
}

/** The lane with the fewest batches, preferring lanes that make progress. */
function chooseLane(lanes: readonly Lane[]): Lane {
  const moving = lanes.filter(({ isStuck }) => !isStuck);
  return (moving.length > 0 ? moving : lanes).reduce((best, other) =>
    other.waiting < best.waiting ? other : best,
  );
}

type VerifyAll = (checks: readonly SignatureCheck[], onStalled?: () => void) => Promise<boolean[]>;

/** The calls of one tick of the event loop. */
type Gathered = { readonly checks: SignatureCheck[]; calls: number; readonly verdicts: Promise<boolean[]> };

/** Combines the calls of one tick of the event loop into one call. If it stalls or fails, each is repeated by itself. */
function gatherCalls(verifyAll: VerifyAll): (checks: readonly SignatureCheck[]) => Promise<boolean[]> {
  let gathered: Gathered | undefined;

  function gather(): Gathered {
    const verdicts = nextTick().then(() => {
      gathered = undefined;
      return made.calls === 1 ? verifyAll(made.checks) : verifyUnlessStalled(verifyAll, made.checks);
    });
    const made: Gathered = { checks: [], calls: 0, verdicts };
    return made;
  }

  return async (added) => {
    gathered ??= gather();
    const joined = gathered;
    const first = joined.checks.length;
    joined.checks.push(...added);
    joined.calls++;
    try {
      return (await joined.verdicts).slice(first, first + added.length);
    } catch (error) {
      const isRepeated = error instanceof CallError && error.code !== "CALL_REFUSED" && joined.calls > 1;
      if (!isRepeated) throw error;
      return verifyAll(added);
    }
  };
}

function verifyUnlessStalled(verifyAll: VerifyAll, checks: readonly SignatureCheck[]): Promise<boolean[]> {
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  const onStalled = () => reject(new CallError("CALL_TIMEOUT", "the signature thread makes no progress"));
  return Promise.race([verifyAll(checks, onStalled), stalled]);
}

class InThreadLane implements Lane {
  readonly waiting = 0;
  readonly isStuck = false;
  readonly #verifyPacked = createPackedVerify();
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  verify(checks: readonly SignatureCheck[]): Promise<Uint8Array> {
    // Yields between two batches.
    const verdicts = this.#last.then(nextTick).then(() => {
      if (this.#isClosed) throw new Error("the verifier was closed");
      return this.#verifyPacked(packChecks(checks));
    });
    this.#last = verdicts.catch(() => undefined);
    return verdicts;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
