/**
 * Runs a server process until a signal or a failure stops it, with settings of the heaps of all threads. It stops
 * gracefully first; a deadline ends the process with exit code 1 when a part or the log hangs.
 */
import { flushCompileCache } from "node:module";
import { setImmediate as nextTick } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import type { Log } from "../logging/logger.ts";

/** A running server that can be stopped. */
export type Served = {
  /** Rejects when an essential part fails. */
  readonly failed: Promise<never>;
  /** Returns the name of the part that is being closed, if any. */
  closing(): string | undefined;
  stop(): Promise<void>;
};

type ProcessDeps<S extends Served> = {
  readonly log: Log;
  /**
   * Starts the server.
   *
   * @param stopping aborted when the process is to stop; the start can then reject instead of ending
   */
  readonly start: (stopping: AbortSignal) => Promise<S>;
  /** Settles when the process is to stop; by default with a signal. */
  readonly stopped?: Promise<unknown>;
  /** Called when the server runs, unless the process is to stop already. */
  readonly whileServing?: (served: S) => Promise<void>;
  /** Called before the server is stopped; not when it could not start. */
  readonly onStopping?: () => void;
  readonly heap?: HeapOptions;
};

/** Time for a graceful stop after a signal or a failure. Shorter than `TimeoutStopSec` of the systemd unit. */
const STOP_TIMEOUT_MS = 15_000;
const FAILURE_TIMEOUT_MS = 8_000;
/** Time to write the last lines of the log. */
const FLUSH_TIMEOUT_MS = 1_000;

/**
 * Resolves when the server has stopped as requested.
 *
 * @throws {Error} when the server could not start, fatal: an essential part of the node failed, or an error was not caught
 */
export async function serveUntilStopped<S extends Served>({
  log,
  start,
  stopped: toStop = stopSignal(),
  whileServing,
  onStopping,
  heap,
}: ProcessDeps<S>): Promise<void> {
  const { logger } = log;
  let served: S | undefined;
  const setDeadline = (timeoutMs: number) =>
    endAt(timeoutMs, () => {
      const part = served?.closing() ?? "start";
      logger.fatal(
        { part, timeoutMs },
        `shutdown timed out after ${timeoutMs / 1_000} s in ${part}; exiting`,
      );
      return log.flushed(FLUSH_TIMEOUT_MS);
    });
  const stopping = new AbortController();
  const stopped = toStop.then(() => {
    setDeadline(STOP_TIMEOUT_MS);
    logger.info("stopping");
    stopping.abort();
  });
  const uncaught = uncaughtError(logger, () => setDeadline(FAILURE_TIMEOUT_MS));
  let endSaving = () => {};
  try {
    served = await Promise.race([startUnlessStopped(start, stopping.signal), uncaught]);
    limitHeapGrowth(heap);
    endSaving = saveMemoryWhenIdle();
    const failed = served?.failed.catch((err) => {
      logger.fatal({ err }, "stopping: an essential part of the node failed");
      setDeadline(FAILURE_TIMEOUT_MS);
      throw err;
    });
    const running = served && whileServing && !stopping.signal.aborted ? whileServing(served) : stopped;
    await Promise.race([stopped, uncaught, failed ?? stopped, running.then(() => stopped)]);
  } finally {
    endSaving();
    if (served) onStopping?.();
    await served?.stop();
    await log.flushed(FLUSH_TIMEOUT_MS);
  }
  logger.info("stopped");
  await log.flushed(FLUSH_TIMEOUT_MS);
}

/** Runs the start; returns undefined if it ended because the process is to stop. */
async function startUnlessStopped<S extends Served>(
  start: ProcessDeps<S>["start"],
  stopping: AbortSignal,
): Promise<S | undefined> {
  try {
    return await start(stopping);
  } catch (error) {
    // Pauses and requests reject with an error of their own, whose name is the same.
    if (stopping.aborted && (error as Error).name === stopping.reason.name) return undefined;
    throw error;
  }
}

/** Rejects with the first uncaught error of this thread; later ones are only logged. */
function uncaughtError(logger: Logger, onFirst: () => void): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  // An error while the process already stops must not become an unhandled rejection itself.
  promise.catch(() => {});
  let isFirst = true;
  const onError = (error: unknown) => {
    if (isFirst) onFirst();
    isFirst = false;
    logger.fatal({ err: error }, "uncaught error");
    reject(error);
  };
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  return promise;
}

/** Ends the process with exit code 1 after a time, unless it has ended before. */
function endAt(timeoutMs: number, logReason: () => Promise<void>): void {
  setTimeout(() => void logReason().finally(() => process.exit(1)), timeoutMs).unref();
}

/**
 * Resolves with the first interrupt or termination signal. A second one ends the process at once: no committed data is
 * lost, because every commit is on disk.
 *
 * @param others further signals that stop the process
 */
export function stopSignal(...others: NodeJS.Signals[]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isFirst = true;
    const onSignal = (signal: NodeJS.Signals) => {
      if (!isFirst) process.exit(signal === "SIGINT" ? 130 : 143);
      isFirst = false;
      resolve(signal);
    };
    for (const signal of ["SIGINT", "SIGTERM", ...others]) process.on(signal, onSignal);
  });
}

const HANDLED: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Runs long synchronous work without the handlers of signals, which could not run meanwhile: a signal ends the process at once. */
export async function withoutSignalHandlers(work: () => void): Promise<void> {
  // A signal that has arrived is handled before.
  await nextTick();
  const handlers = HANDLED.flatMap((signal) =>
    process.listeners(signal).map((handler) => [signal, handler] as const),
  );
  for (const [signal, handler] of handlers) process.off(signal, handler);
  try {
    work();
  } finally {
    for (const [signal, handler] of handlers) process.on(signal, handler);
  }
}

/**
 * Collects new objects in the thread that made them: a collection costs 0.4 ms in one thread, and several times as much with
 * helper threads. Compiled code stays valid, unlike with the other settings.
 */
export function collectInOneThread(): void {
  setFlagsFromString("--no-parallel-scavenge");
}

type HeapOptions = {
  /** The space for new objects may grow: for a process whose objects live as long as a call over the network. */
  readonly growsForNewObjects?: boolean;
};

/**
 * Makes the heaps of all threads grow in small steps. The defaults of the engine suit programs with long-lived objects;
 * replaying a chain creates many short-lived objects, and needs 130 MB less with these settings for the same
 * CPU time.
 *
 * Must be called after the modules of all threads are loaded: the engine rejects compiled code, even that of the modules
 * of the runtime, unless its settings are those under which the code was compiled.
 */
export function limitHeapGrowth({ growsForNewObjects = false }: HeapOptions = {}): void {
  flushCompileCache();
  // The space for new objects keeps its size. If they live for a while, each collection of a small space would copy them.
  if (!growsForNewObjects) setFlagsFromString("--semi-space-growth-factor=1");
  // Old objects are collected when the heap is 1.8 times as large as after the last collection.
  setFlagsFromString("--heap-growing-percent=80");
}

const INTERVAL_MS = 5_000;
/** Share of one processor that all threads together use, below which the process is idle. */
const IDLE_SHARE = 0.25;

/**
 * Makes an idle process release memory a few seconds after a burst. By default, the engine waits until a
 * thread has not collected for 100 s. A busy process keeps the default, because it would collect several
 * times a second. Returns a function that stops it.
 *
 * Must be called after the modules are loaded, as `limitHeapGrowth`: a start that waits for a processor counts as idle.
 */
export function saveMemoryWhenIdle(intervalMs = INTERVAL_MS): () => void {
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const isIdle = (user + system) / 1_000 < intervalMs * IDLE_SHARE;
    setFlagsFromString(isIdle ? "--optimize-for-size" : "--no-optimize-for-size");
  }, intervalMs).unref();
  return () => {
    clearInterval(timer);
    setFlagsFromString("--no-optimize-for-size");
  };
}
