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

type MirrorTimes = {
  /** Pause before the process is restarted, doubled each time unless the process ran for long. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A process that sends nothing for this time is killed. */
  readonly maxSilenceMs: number;
  /** Time to end after the disconnection; then the process is killed. */
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

/** The mirror process, and its restarts. */
export class Mirror {
  readonly #config: Omit<ToMirror, "node">;
  readonly #logger: Logger;
  readonly #times: MirrorTimes;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs: number;
  #starts = 0;
  #height = 0;
  #copy: FromMirror["copy"];
  #isClosed = false;

  /** @param config without the URL of the node */
  constructor(config: Omit<ToMirror, "node">, logger: Logger, times: MirrorTimes = MIRROR_TIMES) {
    this.#config = config;
    this.#logger = logger;
    this.#times = times;
    this.#pauseMs = times.firstPauseMs;
  }

  figures(): MirrorFigures {
    return {
      isRunning: this.#child !== undefined,
      starts: this.#starts,
      height: this.#height,
      lastEvent: this.#copy?.sequence ?? 0,
      eventGaps: this.#copy?.gaps,
    };
  }

  /**
   * Starts the process.
   *
   * @param url of the node
   */
  start(url: string): void {
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
    this.#child = child;
    this.#starts++;
    this.#logger.info({ pid: child.pid }, "started the mirror process");
    const silence = this.#watchSilence(child);
    child.on("message", ({ height, copy }: FromMirror) => {
      silence.refresh();
      this.#height = height ?? this.#height;
      this.#copy = copy ?? this.#copy;
    });
    const ended = (reason: object) => {
      clearTimeout(silence);
      if (this.#child === child) this.#restart(url, startedMs, reason);
    };
    // A process that cannot be started emits no `exit`.
    child.on("error", (err) => ended({ err }));
    child.once("exit", (code, signal) => ended({ code, signal, ...(stderr !== "" && { stderr }) }));
    // If the process has already ended, `exit` reports it; one that was not started may have no channel.
    child.send?.({ ...this.#config, node: url }, () => {});
  }

  /** Ends the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    if (child.connected) child.disconnect();
    const late = setTimeout(() => child.kill("SIGKILL"), this.#times.maxStopMs);
    await exited;
    clearTimeout(late);
  }

  /** Starts a timer that kills the process unless it is refreshed. */
  #watchSilence(child: ChildProcess): NodeJS.Timeout {
    const { maxSilenceMs } = this.#times;
    return setTimeout(() => {
      this.#logger.error({ pid: child.pid, timeoutMs: maxSilenceMs }, "the mirror process hangs; killing it");
      child.kill("SIGKILL");
    }, maxSilenceMs);
  }

  #restart(url: string, startedMs: number, reason: object): void {
    this.#child = undefined;
    if (this.#isClosed) return;
    const { firstPauseMs, maxPauseMs } = this.#times;
    const pauseMs = performance.now() - startedMs > maxPauseMs ? firstPauseMs : this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    this.#logger.warn(
      { ...reason, pauseMs },
      `the mirror process ended; restarting it in ${pauseMs / 1_000} s`,
    );
    this.#timer = setTimeout(() => this.start(url), pauseMs);
    this.#timer.unref();
  }
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
