/** Dev chain with injectable thread failures and arbitrary standard streams. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { until, WAIT_MS } from "../../test-support/process/until.ts";

export const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));
const FAULTS = fileURLToPath(new URL("./faults.ts", import.meta.url));

export type Stdio = "pipe" | number;
export type Fault = "throw" | "reject" | "hang";
export type Thread = "consensus" | "serving" | "verifier";

export type Faulty = {
  readonly child: ChildProcess;
  readonly url: string;
  readonly folder: string;
  /** Output on a standard error stream that is a pipe. */
  stderr(): string;
  height(): Promise<number>;
  /** Settles when new blocks were forged. */
  forgesOn(): Promise<void>;
  /**
   * Settles when the thread fails.
   *
   * @param content text of the error, or name of a file in the folder at whose creation the thread no longer hangs
   */
  fail(fault: Fault, thread: Thread, content: string): Promise<unknown>;
  /** Settles with the code after the end; a process that does not end is killed. */
  ended(): Promise<number | null>;
};

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-faulty-"));
  // A node whose output is a file can end a moment before the process that inspects its database, which still writes.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

export type FaultyOptions = {
  readonly stdout: Stdio;
  readonly stderr: Stdio;
  /** Command that runs the program elsewhere, given the data folder. */
  readonly through?: (folder: string) => readonly string[];
};

/** Waits until it responds. */
export async function startFaulty(
  { stdout, stderr, through = () => [] }: FaultyOptions,
  ...args: string[]
): Promise<Faulty> {
  const folder = newFolder();
  const url = `http://127.0.0.1:${await freePort()}`;
  const [command, ...rest] = [...through(folder), process.execPath];
  const child = spawn(
    present(command),
    [
      ...rest,
      ...["--import", FAULTS, PROGRAM, "dev", "--data", join(folder, "data"), "--block-time", "1"],
      ...["--http-port", new URL(url).port, "--log-level", "info", ...args],
    ],
    {
      stdio: ["ignore", stdout, stderr],
      env: { ...process.env, UNIKNODE_TEST_FAULTS: folder },
    },
  );
  // With all of its output.
  const exited = once(child, "close") as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let text = "";
  child.stdout?.resume();
  child.stderr?.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });

  async function height(): Promise<number> {
    const response = await fetch(`${url}/api/blockchain`);
    return ((await response.json()) as { data: { block: { height: number } } }).data.block.height;
  }
  await expect.poll(() => height().catch(() => 0)).toBeGreaterThan(3);
  return {
    child,
    url,
    folder,
    stderr: () => text,
    height,
    async forgesOn() {
      const before = await height();
      await expect.poll(height).toBeGreaterThan(before + 1);
    },
    fail(fault, thread, content) {
      const path = join(folder, `${fault}-${thread}`);
      writeFileSync(`${path}.part`, content);
      renameSync(`${path}.part`, path);
      return until(`${thread} does not fail`, () => !existsSync(path));
    },
    async ended() {
      const timer = setTimeout(() => child.kill("SIGKILL"), WAIT_MS);
      const [code] = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}
