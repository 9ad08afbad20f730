/**
 * Runs the mirror of a node in a separate process, so that a crash or a hang of the mirror, or its memory, does not
 * affect the node. Restarts the process whenever it ends.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Logger } from "pino";
import type { MirrorFigures } from "../../gateway/figures.ts";
import { STANDARD_ERROR } from "../../platform/logging/output.ts";
import { moduleBeside } from "../../platform/threads/module-url.ts";
import type { FromMirror, ToMirror } from "../mirror/child.ts";
import type { NodeOptions } from "./node-options.ts";

export type Mirror = {
  /**
   * Starts the process.
   *
   * @param url of the node
   */
  start(url: string): void;
  figures(): MirrorFigures;
  /** Ends the process. */
  close(): Promise<void>;
};

type MirrorTimes = {
  /** Pause before the process is restarted, doubled each time unless the process ran for long. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A process that sends nothing for this time is killed. */
  readonly maxSilenceMs: number;
  /** Time to end after a signal; then the process is killed. */
  readonly maxStopMs: number;
};

export const MIRROR_TIMES: MirrorTimes = {
  firstPauseMs: 1_000,
  maxPauseMs: 60_000,
  maxSilenceMs: 60_000,
  maxStopMs: 5_000,
};

/** Characters of its standard error, such as those of a crash. */
const MAX_STDERR = 1_000;

/** Module that only the process loads. */
const CHILD = "../mirror/child";

type State = {
  readonly times: MirrorTimes;
  readonly logger: Logger;
  child: ChildProcess | undefined;
  timer: NodeJS.Timeout | undefined;
  pauseMs: number;
  starts: number;
  height: number | undefined;
  copy: FromMirror["copy"];
  isClosed: boolean;
};

/** @param config without the URL of the node */
export function createMirror(
  config: Omit<ToMirror, "node">,
  logger: Logger,
  times: MirrorTimes = MIRROR_TIMES,
): Mirror {
  const state: State = {
    times,
    logger,
    child: undefined,
    timer: undefined,
    pauseMs: times.firstPauseMs,
    starts: 0,
    height: undefined,
    copy: undefined,
    isClosed: false,
  };
  return {
    start: (node) => run({ ...config, node }, state),
    figures: () => ({
      isRunning: state.child !== undefined,
      starts: state.starts,
      height: state.height ?? 0,
      lastEvent: state.copy?.sequence ?? 0,
      eventGaps: state.copy?.gaps ?? 0,
    }),
    async close() {
      state.isClosed = true;
      clearTimeout(state.timer);
      await end(state);
    },
  };
}

/** Returns the configuration of the mirror process, apart from the URL of the node. */
export const toMirrorConfig = (
  { data, mirror, logLevel, logFormat }: Pick<NodeOptions, "data" | "mirror" | "logLevel" | "logFormat">,
  token: string,
): Omit<ToMirror, "node"> => ({
  token,
  databaseUrl: mirror,
  // With the same name, the process that replaces a killed one need not wait for the end of its lease.
  name: `${hostname()}:${resolve(data)}`,
  logLevel,
  logFormat,
});

function run(config: ToMirror, state: State): void {
  const { times, logger } = state;
  const startedMs = performance.now();
  const child = fork(moduleBeside(import.meta.url, CHILD), {
    execArgv: [],
    // It writes to the log of the node, as descriptor 4: the start of a process makes its descriptors 0 to 2 blocking, also for the
    // node, which shares them.
    stdio: ["ignore", "ignore", "pipe", "ipc", STANDARD_ERROR],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(0, MAX_STDERR);
  });
  state.child = child;
  state.starts++;
  logger.info({ pid: child.pid }, "started the mirror process");
  const silence = setTimeout(() => {
    logger.error({ pid: child.pid, timeoutMs: times.maxSilenceMs }, "the mirror process hangs; killing it");
    child.kill("SIGKILL");
  }, times.maxSilenceMs);
  child.on("message", ({ height, copy }: FromMirror) => {
    silence.refresh();
    state.height = height ?? state.height;
    state.copy = copy ?? state.copy;
  });
  // A process that cannot be started emits no `exit`.
  child.once("error", (err) => ended({ err }));
  child.once("exit", (code, signal) => ended({ code, signal, ...(stderr !== "" && { stderr }) }));
  // If the process has already ended, `exit` reports it.
  child.send(config, () => {});

  function ended(reason: object): void {
    clearTimeout(silence);
    if (state.child !== child) return;
    state.child = undefined;
    if (state.isClosed) return;
    const isLong = performance.now() - startedMs > times.maxPauseMs;
    const pauseMs = isLong ? times.firstPauseMs : state.pauseMs;
    state.pauseMs = Math.min(2 * pauseMs, times.maxPauseMs);
    // Ctrl-C and systemd signal all processes of the node: one may end before the other.
    const level = "code" in reason && reason.code === 0 ? "info" : "warn";
    logger[level]({ ...reason, pauseMs }, `the mirror process ended; restarting it in ${pauseMs / 1_000} s`);
    state.timer = setTimeout(run, pauseMs, config, state);
    state.timer.unref();
  }
}

async function end({ child, times }: State): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), times.maxStopMs);
  await exited;
  clearTimeout(late);
}
