/** Runs the program within the process of a test, which is faster than its own process. */
import { vi } from "vitest";
import { main } from "../../src/commands/main.ts";
import type { Ended } from "./uniknode.ts";

/**
 * Runs a command line to its end; one at a time, because it captures the output and changes the environment of the whole process.
 * @param environment variables in addition to those of the tests
 */
export async function runMain(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [stdout, stderr] = [take(process.stdout), take(process.stderr)];
  // Texts name commands in the form in which the program was started: npm started the tests.
  vi.stubEnv("npm_lifecycle_event", undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  try {
    return { code: await main(args), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.release();
    stderr.release();
    vi.unstubAllEnvs();
  }
}

function take(stream: NodeJS.WriteStream) {
  let text = "";
  const write = vi.spyOn(stream, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  return { text: () => text, release: () => write.mockRestore() };
}
