/** The real program in its own process, for tests. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { present } from "../../src/platform/present.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Running = {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Settles with the output after the process ended. */
  readonly ended: Promise<Ended>;
  /**
   * Settles with the first match in the standard output.
   * @throws {Error} with everything printed, if the process ends first
   */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
};

export type SpawnOptions = {
  readonly environment?: NodeJS.ProcessEnv;
  readonly nodeArguments?: readonly string[];
  /** Working directory; default: that of the test. */
  readonly folder?: string;
  /** Command that runs the program elsewhere, such as on another host. */
  readonly through?: readonly string[];
};

/** Starts the program; the caller ends it. */
export function spawnUniknode(args: readonly string[], options: SpawnOptions = {}): Running {
  const { through = [], nodeArguments = [] } = options;
  const [command, ...rest] = [...through, process.execPath, ...nodeArguments, PROGRAM, ...args];
  const child = spawn(present(command), rest, {
    // The program names itself by the command that started it, and the tests may be started by any.
    env: { ...process.env, npm_lifecycle_event: undefined, ...options.environment },
    cwd: options.folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });

  async function printed(pattern: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      const match = stdout.match(pattern);
      if (match) return match;
      const more = new Promise<"more">((resolve) => {
        child.stdout.once("data", () => resolve("more"));
      });
      if ((await Promise.race([more, ended])) === "more") continue;
      const last = stdout.match(pattern);
      if (last) return last;
      throw new Error(`uniknode ended before it printed ${pattern}:\n${stdout}\n${stderr}`);
    }
  }

  return { child, stdout: () => stdout, stderr: () => stderr, ended, printed };
}

/** Returns the base URL that a dev chain prints when it serves. */
export async function apiUrlOf(node: Pick<Running, "printed">): Promise<string> {
  const [, url] = await node.printed(/API\s+(http:\S+?)\/api/);
  return present(url, "the URL of the API");
}

/** Runs the program to its end. */
export const runUniknode = (args: readonly string[], options?: SpawnOptions): Promise<Ended> =>
  spawnUniknode(args, options).ended;
