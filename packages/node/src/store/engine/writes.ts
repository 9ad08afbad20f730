/**
 * State of writes to the database: they succeed, or the disk refuses them. It is in shared memory, so that each writing
 * thread can report it while another hangs.
 */
import type { Logger } from "pino";
import { describeTrouble, type Trouble, troubleOf, WRITE_RETRY_MS } from "../../platform/files/disk.ts";

/** One thread's side of the state. */
export type Writes = {
  /** Returns why the last write failed, if the disk refused it. */
  trouble(): Trouble | undefined;
  /** Number of such failed writes of all threads, since the process started. */
  failures(): number;
  /** Records a successful write. */
  worked(): void;
  /** Records the error of a failed write of any kind. */
  failed(error: unknown): void;
};

export type WritesDeps = {
  /**
   * Called when writes have failed for `WRITE_RETRY_MS`. A start that fails for this reason has ended earlier, with its
   * own message.
   */
  readonly onTrouble?: (trouble: Trouble, error: unknown) => void;
  /** Called by the first thread whose write succeeds again. */
  readonly onBack?: () => void;
};

/** Positions in the shared memory. */
const TROUBLE = 0;
const FAILURES = 1;
/** 1 while a failure is reported. */
const REPORTED = 2;
const TROUBLES = [undefined, "disk full", "disk cannot be written"] as const;

/** Creates the shared memory of the threads. */
export const createWriteState = (): SharedArrayBuffer =>
  new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);

export function watchWrites(
  state: SharedArrayBuffer,
  { onTrouble = () => {}, onBack = () => {} }: WritesDeps = {},
): Writes {
  const places = new Int32Array(state);
  const trouble = () => TROUBLES[Atomics.load(places, TROUBLE)];

  function reportLasting(error: unknown): void {
    const lasting = trouble();
    if (lasting && Atomics.exchange(places, REPORTED, 1) === 0) onTrouble(lasting, error);
  }

  return {
    trouble,
    failures: () => Atomics.load(places, FAILURES),
    worked() {
      Atomics.store(places, TROUBLE, 0);
      if (Atomics.exchange(places, REPORTED, 0) !== 0) onBack();
    },
    failed(error) {
      const found = troubleOf(error);
      if (!found) return;
      Atomics.add(places, FAILURES, 1);
      if (Atomics.exchange(places, TROUBLE, TROUBLES.indexOf(found)) !== 0) return;
      setTimeout(() => reportLasting(error), WRITE_RETRY_MS).unref();
    },
  };
}

/** Logs one line when writes begin to fail, and one when they succeed again. */
export const loggedTrouble = (logger: Pick<Logger, "error" | "warn">, folder: string): WritesDeps => ({
  onTrouble: (trouble, error) =>
    logger.error(
      { reason: trouble, error: (error as Error).message },
      `${describeTrouble(trouble, folder)}; retrying every ${WRITE_RETRY_MS / 1_000} s`,
    ),
  onBack: () => logger.warn({ folder }, "the database is writable again"),
});
