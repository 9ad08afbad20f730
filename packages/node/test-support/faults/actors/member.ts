/** A process under test, which faults kill, stop and start again. */
import { setTimeout as sleep } from "node:timers/promises";
import { isWithin } from "../../../src/platform/notifier.ts";
import { type Running, type SpawnOptions, spawnUniknode } from "../../process/uniknode.ts";
import { WAIT_MS } from "../../process/until.ts";
import type { Link } from "./link.ts";

export type MemberOptions = {
  readonly name: string;
  readonly args: readonly string[];
  readonly spawn?: SpawnOptions;
  readonly links?: readonly Link[];
  /** Text that it prints when it is ready. Default: a URL. */
  readonly ready?: RegExp;
  /** Gets a description if a process ends by itself, or does not end on request. */
  readonly faults: string[];
};

export class Member {
  readonly name: string;
  readonly links: readonly Link[];
  /** The process; undefined while it does not run. */
  running: Running | undefined;
  readonly #options: MemberOptions;
  readonly #former: string[] = [];
  #isClosed = false;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.links = options.links ?? [];
    this.#options = options;
  }

  get output(): string {
    return [...this.#former, this.running?.stdout() ?? "", this.running?.stderr() ?? ""].join("");
  }

  /** Starts the process unless it runs, and waits until it is ready. */
  async start(): Promise<void> {
    const { args, spawn, faults, ready = /http:\S+/ } = this.#options;
    if (this.running || this.#isClosed) return;
    const process = spawnUniknode(args, spawn);
    this.running = process;
    void this.#watch(process);
    // A process that ends is reported by `#watch`.
    if (await isWithin(settled(process.printed(ready)), WAIT_MS)) return;
    faults.push(`${this.name} was not ready ${WAIT_MS / 1_000} s after its start`);
  }

  async #watch(process: Running): Promise<void> {
    const { code, stdout, stderr } = await process.ended;
    this.#former.push(stdout, stderr, `--- ended with ${code} ---\n`);
    if (this.running !== process) return;
    this.running = undefined;
    const reason = stderr.trimEnd().split("\n").at(-1);
    this.#options.faults.push(`${this.name} ended by itself with code ${code}: ${reason}`);
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { faults } = this.#options;
    const process = this.running;
    if (!process) return;
    this.running = undefined;
    process.child.kill("SIGCONT");
    process.child.kill(signal);
    if (!(await isWithin(settled(process.ended), WAIT_MS))) {
      faults.push(`${this.name} did not end within ${WAIT_MS / 1_000} s after ${signal}`);
      process.child.kill("SIGKILL");
    }
    const { code } = await process.ended;
    if (signal === "SIGTERM" && code !== 0)
      faults.push(`${this.name} ended with code ${code} after ${signal}`);
  }

  /** Ends the process for good, but cleanly: only then it stores compiled code, with which the next run starts faster. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end("SIGTERM");
  }

  /** Ends the process, and starts it later: another machine may need some time to notice it. Returns a description. */
  async restart(signal: "SIGKILL" | "SIGTERM", seconds: number): Promise<string> {
    await this.end(signal);
    await sleep(seconds * 1_000);
    await this.start();
    return signal === "SIGTERM"
      ? `${this.name} was restarted`
      : `${this.name} was killed, and started after ${seconds} s`;
  }

  /** Stops the process for some time, as a machine that is suspended. Returns a description. */
  async pauseFor(seconds: number): Promise<string> {
    this.running?.child.kill("SIGSTOP");
    await sleep(seconds * 1_000);
    this.running?.child.kill("SIGCONT");
    return `${this.name} was stopped for ${seconds} s`;
  }
}

const settled = async (promise: Promise<unknown>): Promise<void> => {
  await Promise.allSettled([promise]);
};
