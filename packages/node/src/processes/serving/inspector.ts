/**
 * Inspects the database of a running node, after its start and once a day, in a separate process with low priority: a
 * damaged file may kill a process that reads it, and SQLite cannot end a long read from within.
 */
import { fork } from "node:child_process";
import type { NetworkFiles } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { ToInspector } from "../../archive/integrity/child.ts";
import type { Inspection } from "../../archive/integrity/damage.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { STANDARD_OUTPUT } from "../../platform/logging/output.ts";
import { moduleBeside } from "../../platform/threads/module-url.ts";

type InspectorOptions = {
  readonly path: string;
  readonly files: NetworkFiles;
  /** Next step after damage was found. */
  readonly remedy: string;
  /** Delay before the first inspection. Defaults to 5 s. */
  readonly startDelayMs?: number;
};

type InspectorFigures = {
  /** Result of the last complete inspection. */
  readonly damage?: string;
  /** Inspections since the process started, by their outcome. */
  readonly sound: number;
  readonly damaged: number;
  readonly failed: number;
};

const START_DELAY_MS = 5_000;
const EVERY_MS = 86_400_000;
/** Time limit for blocks: enough for a few hundred thousand, or for a random part of a longer chain. */
const BLOCKS_MS = 20_000;
/** Enough for a database of 100 GB on a slow disk. */
const TIMEOUT_MS = 3_600_000;
/** Module that only the inspecting process loads. */
const INSPECTION = "../../archive/integrity/child";

export class Inspector {
  readonly #options: InspectorOptions;
  readonly #logger: Logger;
  readonly #outcomes = { sound: 0, damaged: 0, failed: 0 };
  readonly #closing = new AbortController();
  #damage: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: InspectorOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#schedule(options.startDelayMs ?? START_DELAY_MS);
  }

  figures(): InspectorFigures {
    return { ...this.#outcomes, ...(this.#damage !== undefined && { damage: this.#damage }) };
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#run(), delayMs);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    const { path, files, remedy } = this.#options;
    const startMs = performance.now();
    try {
      const found = await inspectInChild({ path, files, forMs: BLOCKS_MS }, this.#closing.signal);
      const { inspected, blocks, damage } = found;
      this.#damage = damage;
      const seconds = Math.round((performance.now() - startMs) / 100) / 10;
      this.#outcomes[damage === undefined ? "sound" : "damaged"]++;
      if (damage === undefined)
        this.#logger.info({ inspected, blocks, seconds }, "database inspection: no damage found");
      else this.#logger.error({ path, damage, remedy }, "database inspection: damage found");
    } catch (err) {
      if (this.#closing.signal.aborted) return;
      this.#outcomes.failed++;
      this.#logger.warn({ err, path }, "failed to inspect the database");
    }
    this.#schedule(EVERY_MS);
  }
}

/** @throws {Error} when the process gives no verdict in time, or is aborted */
function inspectInChild(message: ToInspector, signal: AbortSignal): Promise<Inspection> {
  const { promise, resolve, reject } = Promise.withResolvers<Inspection>();
  const child = fork(moduleBeside(import.meta.url, INSPECTION), {
    execArgv: [],
    // It has the output of the node: a reader of the output of a killed node sees the end of both. It is not descriptor 1: the start
    // of a process makes its descriptors 0 to 2 blocking, also for the node, which shares them.
    stdio: ["ignore", "ignore", "pipe", "ipc", STANDARD_OUTPUT],
    serialization: "advanced",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
    signal,
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(0, MAX_STDERR);
  });
  child.once("message", (found: Inspection) => resolve(found));
  // A process that cannot be started reports it, and then that the message was not sent.
  child.on("error", reject);
  child.once("exit", (code, killedBy) => {
    const message = `its process ended with ${killedBy ?? `code ${code}`}: ${stderr.trim()}`;
    reject(new CodedError("INSPECTION", message, { isRetryable: true }));
  });
  child.send?.(message, () => {});
  // The node does not wait for the process when it stops.
  child.unref();
  child.channel?.unref();
  return promise;
}

const MAX_STDERR = 1_000;
