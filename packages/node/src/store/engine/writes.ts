/**
 * Whether writes to the database succeed: one state for all threads that write, in shared memory, so that each of them
 * can report it while another hangs.
 */
import type { Logger } from "pino";
import {
  describeTrouble,
  type Trouble,
  troubleOf,
  WRITE_RETRY_MS,
} from "../../platform/files/disk-trouble.ts";

/** One thread's side of the state. */
export type Writes = {
  /** Why the last write failed, if it did for lack of a disk. */
  trouble(): Trouble | undefined;
  /** Writes of all threads that failed so, since the process started. */
  failures(): number;
  /** Something was written. */
  worked(): void;
  /** Records the error of a failed write, of whatever kind. */
  failed(error: unknown): void;
};

export type WritesDeps = {
  readonly onTrouble?: (trouble: Trouble, error: unknown) => void;
  readonly onBack?: () => void;
};

/** Positions in the shared memory. */
const TROUBLE = 0;
const FAILURES = 1;
const TROUBLES = [undefined, "disk full", "disk cannot be written"] as const;

/** What the threads share. */
export const createWriteState = (): SharedArrayBuffer =>
  new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);

export function watchWrites(
  state: SharedArrayBuffer,
  { onTrouble = () => {}, onBack = () => {} }: WritesDeps = {},
): Writes {
  const places = new Int32Array(state);
  return {
    trouble: () => TROUBLES[Atomics.load(places, TROUBLE)],
    failures: () => Atomics.load(places, FAILURES),
    worked() {
      if (Atomics.exchange(places, TROUBLE, 0) !== 0) onBack();
    },
    failed(error) {
      const trouble = troubleOf(error);
      if (!trouble) return;
      Atomics.add(places, FAILURES, 1);
      if (Atomics.exchange(places, TROUBLE, TROUBLES.indexOf(trouble)) === 0) onTrouble(trouble, error);
    },
  };
}

/** Logs one line when writes begin to fail, and one when they succeed again. */
export const loggedTrouble = (logger: Pick<Logger, "error" | "warn">, folder: string): WritesDeps => ({
  onTrouble: (trouble, error) =>
    logger.error(
      { reason: trouble, error: (error as Error).message },
      `${describeTrouble(trouble, folder)}; waiting, trying again every ${WRITE_RETRY_MS / 1_000} s`,
    ),
  onBack: () => logger.warn({ folder }, "the database can be written again"),
});
