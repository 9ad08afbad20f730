/** Restarts the receiver with a command of its developer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../platform/coded-error.ts";
import { readView } from "./view.ts";

/** The receiver did not restart. */
export class RestartError extends CodedError<"RESTART_FAILED"> {
  constructor(reason: string) {
    super("RESTART_FAILED", `failed to restart the receiver: ${reason}`, { isRetryable: true });
  }
}

type RestartOptions = {
  /** Command for the shell. It returns when the old process has ended, and the new one is starting. */
  readonly command: string;
  readonly probe: string;
};

/** Time limit of the command, and then of the start of the new process. */
const RESTART_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const POLL_TIMEOUT_MS = 5_000;

/**
 * Runs the command, and waits until the probe responds.
 *
 * @throws {RestartError}
 */
export async function restartReceiver(
  { command, probe }: RestartOptions,
  signal: AbortSignal,
): Promise<void> {
  await runCommand(command, AbortSignal.any([signal, AbortSignal.timeout(RESTART_TIMEOUT_MS)]));
  const endsMs = performance.now() + RESTART_TIMEOUT_MS;
  for (;;) {
    const failure = await readView(
      probe,
      AbortSignal.any([signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]),
    ).then(
      () => undefined,
      (error: Error) => error,
    );
    signal.throwIfAborted();
    if (failure === undefined) return;
    if (performance.now() >= endsMs) throw new RestartError(`the receiver did not start: ${failure.message}`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

/**
 * Runs the command with the standard error of this process as its output. A pipe would break when this process ends, and with it the
 * receiver that the command leaves in the background.
 */
async function runCommand(command: string, signal: AbortSignal): Promise<void> {
  const child = spawn(command, { shell: true, signal, stdio: ["ignore", 2, 2] });
  const [code, endedBy] = (await once(child, "exit", { signal }).catch((error: Error) => {
    throw new RestartError(`the command did not end: ${error.message}`);
  })) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new RestartError(`the command ended with ${code ?? endedBy}`);
}
