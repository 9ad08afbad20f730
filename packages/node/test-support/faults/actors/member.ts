/** A process under test, which faults kill, stop and start again. */
import { setTimeout as sleep } from "node:timers/promises";
import { isWithin } from "../../../src/platform/notifier.ts";
import type { Running } from "../../process/uniknode.ts";
import { WAIT_MS } from "../../process/until.ts";

export type MemberOptions = {
  readonly name: string;
  readonly spawn: () => Running;
  readonly ready: (process: Running) => Promise<unknown>;
  /** Gets a description if a process ends by itself, or does not end on request. */
  readonly faults: string[];
};

export type Member = ReturnType<typeof createMember>;

export function createMember({ name, spawn, ready, faults }: MemberOptions) {
  let running: Running | undefined;
  let isClosed = false;
  const former: string[] = [];

  async function watch(process: Running): Promise<void> {
    const { code, stdout, stderr } = await process.ended;
    former.push(stdout, stderr, `--- ended with ${code} ---\n`);
    if (running !== process) return;
    running = undefined;
    faults.push(`${name} ended by itself with code ${code}: ${stderr.trimEnd().split("\n").at(-1)}`);
  }

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const process = running;
    if (!process) return;
    running = undefined;
    process.child.kill("SIGCONT");
    process.child.kill(signal);
    if (!(await isWithin(settled(process.ended), WAIT_MS))) {
      faults.push(`${name} did not end within ${WAIT_MS / 1_000} s after ${signal}`);
      process.child.kill("SIGKILL");
    }
    const { code } = await process.ended;
    if (signal === "SIGTERM" && code !== 0) faults.push(`${name} ended with code ${code} after ${signal}`);
  }

  return {
    name,
    /** Starts the process unless it runs, and waits until it is ready. */
    async start() {
      if (running || isClosed) return;
      const process = spawn();
      running = process;
      void watch(process);
      // A process that ends is reported by `watch`.
      if (await isWithin(settled(ready(process)), WAIT_MS)) return;
      faults.push(`${name} was not ready ${WAIT_MS / 1_000} s after its start`);
    },
    end,
    /** Ends the process for good, but cleanly: only then it stores compiled code, with which the next run starts faster. */
    async close() {
      isClosed = true;
      await end("SIGTERM");
    },
    /** Stops the process until `resume`, as a machine that is suspended. */
    pause: () => void running?.child.kill("SIGSTOP"),
    resume: () => void running?.child.kill("SIGCONT"),
    /** The process; undefined while it does not run. */
    process: () => running,
    /** Returns everything that its processes have printed. */
    output: () => [...former, running?.stdout() ?? "", running?.stderr() ?? ""].join(""),
  };
}

/** Kills a process, and starts it later: another machine may need some time to notice it. Returns a description. */
export async function killFor(member: Member, seconds: number): Promise<string> {
  await member.end("SIGKILL");
  await sleep(seconds * 1_000);
  await member.start();
  return `${member.name} was killed, and started after ${seconds} s`;
}

export async function restartAfter(member: Member, seconds: number): Promise<string> {
  await member.end("SIGTERM");
  await sleep(seconds * 1_000);
  await member.start();
  return `${member.name} was restarted`;
}

export async function pauseFor(member: Member, seconds: number): Promise<string> {
  member.pause();
  await sleep(seconds * 1_000);
  member.resume();
  return `${member.name} was stopped for ${seconds} s`;
}

const settled = async (promise: Promise<unknown>): Promise<void> => {
  await Promise.allSettled([promise]);
};
