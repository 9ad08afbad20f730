/** Requirements of tests that this machine lacks: the tests are skipped, and one line says why. */
import { spawnSync } from "node:child_process";

const TIMEOUT_MS = 60_000;

/** Returns why a program cannot be used here, or undefined. One that exists but cannot run is missing as well. */
export function missingProgram(program: string, args: readonly string[] = ["--version"]): string | undefined {
  const options = { encoding: "utf8", timeout: TIMEOUT_MS, input: "" } as const;
  const { error, status, signal, stderr } = spawnSync(program, args, options);
  if (status === 0) return undefined;
  if (error && "code" in error && error.code === "ENOENT") return `${program} is missing`;
  const printed = stderr?.trim().split("\n").at(-1);
  return `${program} cannot run: ${error?.message ?? (printed || `it ended with ${signal ?? status}`)}`;
}

/** Returns why tests that need Linux cannot run here, or undefined. */
export const missingLinux = (): string | undefined =>
  process.platform === "linux" ? undefined : `this is ${process.platform}, not Linux`;

const reported = new Set<string>();

/** Returns true if there is a reason to skip tests, and prints it. */
export function skips(reason: string | undefined): boolean {
  if (reason === undefined) return false;
  if (!reported.has(reason)) console.warn(`Tests are skipped: ${reason}`);
  reported.add(reason);
  return true;
}
