/**
 * The life of a process that serves until it is asked to end: what ends it, and that it ends. An orderly end comes first;
 * a deadline ends the process with code 1 whatever hangs, be it a part or the log.
 */
import type { Logger } from "pino";
import type { Log } from "../logging/logger.ts";
import { stopSignal } from "./signals.ts";

/** What is to be ended in order. */
export type Served = {
  /** Rejects when a part dies that nothing works without. */
  readonly failed: Promise<never>;
  /** The part that is being closed, if one is. */
  closing(): string | undefined;
  stop(): Promise<void>;
};

export type ProcessDeps<S extends Served> = {
  readonly log: Log;
  /** Starts what is served. */
  readonly start: () => Promise<S>;
  /** What goes on until the process is asked to end. */
  readonly whileServing?: (served: S) => Promise<void>;
  /** The process is about to end in order. */
  readonly onStopping?: () => void;
};

/** For an orderly end, counted from the signal or the failure. Shorter than `TimeoutStopSec` of the unit. */
const STOP_TIMEOUT_MS = 15_000;
const FAILURE_TIMEOUT_MS = 8_000;
/** For the last lines of the log. */
const FLUSH_TIMEOUT_MS = 1_000;

/**
 * Settles when what is served has ended because a signal asked for it.
 *
 * @throws {Error} why it ended by itself: it could not start, a part died, or an error was caught nowhere
 */
export async function serveUntilAsked<S extends Served>({
  log,
  start,
  whileServing,
  onStopping,
}: ProcessDeps<S>): Promise<void> {
  const { logger } = log;
  let served: S | undefined;
  const setDeadline = (timeoutMs: number) =>
    endAt(timeoutMs, () => {
      logger.fatal({ part: served?.closing() ?? "start", timeoutMs }, "closing hangs; the process ends");
      return log.flushed(FLUSH_TIMEOUT_MS);
    });
  const stopped = stopSignal().then(() => setDeadline(STOP_TIMEOUT_MS));
  const uncaught = uncaughtError(logger, () => setDeadline(FAILURE_TIMEOUT_MS));
  try {
    served = await Promise.race([start(), uncaught]);
    const failed = served.failed.catch((err) => {
      logger.fatal({ err }, "a part died that the process cannot do without");
      setDeadline(FAILURE_TIMEOUT_MS);
      throw err;
    });
    const asked = whileServing ? whileServing(served).then(() => stopped) : stopped;
    await Promise.race([stopped, uncaught, failed, asked]);
    logger.info("stopping");
  } finally {
    onStopping?.();
    await served?.stop();
    await log.flushed(FLUSH_TIMEOUT_MS);
  }
  logger.info("stopped");
  await log.flushed(FLUSH_TIMEOUT_MS);
}

/** Rejects with the first error of this thread that was caught nowhere; later ones are only logged. */
function uncaughtError(logger: Logger, onFirst: () => void): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  // It may come when all is ending already.
  promise.catch(() => {});
  let isFirst = true;
  const onError = (error: unknown) => {
    if (isFirst) onFirst();
    isFirst = false;
    logger.fatal({ err: error }, "an error was caught nowhere");
    reject(error);
  };
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  return promise;
}

/** Ends the process with code 1 after a time, unless it has ended by then. */
function endAt(timeoutMs: number, sayWhy: () => Promise<void>): void {
  setTimeout(() => void sayWhy().finally(() => process.exit(1)), timeoutMs).unref();
}
