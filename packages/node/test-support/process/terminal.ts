/** Runs the program at a real terminal, and returns what the terminal shows. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { present } from "../../src/platform/present.ts";
import { missingProgram } from "./available.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));

export const CLEAR = "\u001B[K";
const PIECES = new RegExp(`${CLEAR.replace("[", "\\[")}|.`, "gs");

/**
 * Renders the output as an endless terminal would: carriage returns and "clear to the end of the line" are
 * obeyed.
 */
export function shownLines(output: string): string[] {
  const lines = [""];
  let column = 0;
  for (const [piece] of output.matchAll(PIECES)) {
    const line = present(lines.at(-1));
    if (piece === "\n") lines.push("");
    if (piece === "\n" || piece === "\r") column = 0;
    else if (piece === CLEAR) lines[lines.length - 1] = line.slice(0, column);
    else lines[lines.length - 1] = line.slice(0, column) + piece + line.slice(++column);
  }
  return lines;
}

/** Returns why no pseudo terminal can be created, or undefined. */
export const missingTerminal = (): string | undefined => missingProgram("script");

export type AtTerminal = {
  /** Everything that was written to the terminal. */
  output(): string;
  /** Types keys, such as Ctrl-C. */
  type(keys: string): void;
  readonly ended: Promise<number | null>;
  kill(): void;
};

export type TerminalOptions = {
  readonly columns: number;
  readonly rows: number;
  readonly environment: NodeJS.ProcessEnv;
};

/** Starts the program at its own pseudo terminal. */
export function spawnAtTerminal(
  args: readonly string[],
  { columns, rows, environment }: TerminalOptions,
): AtTerminal {
  const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(" ");
  const command = `stty cols ${columns} rows ${rows}; exec ${words}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    env: { ...process.env, TERM: "xterm", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return {
    output: () => output,
    type: (keys) => void child.stdin.write(keys),
    ended: new Promise((resolve) => child.on("close", resolve)),
    kill: () => void child.kill("SIGKILL"),
  };
}
