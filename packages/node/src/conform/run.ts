/**
 * Plays the scenarios one after another. A scenario that fails, or is interrupted, does not end the run. A command of
 * the developer restarts the receiver.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../platform/coded-error.ts";
import { ACCEPTANCE } from "./catalogue/acceptance.ts";
import { REPETITION, RESTARTS } from "./catalogue/repetition.ts";
import { RETRACTIONS_OF_FACTS } from "./catalogue/retractions.ts";
import { VERIFICATION } from "./catalogue/verification.ts";
import { Messages } from "./messages.ts";
import { type Scenario, Stage, type StageDeps, type StageOptions } from "./stage.ts";
import { readView, ScenarioFailure } from "./view.ts";

export type Outcome = {
  readonly scenario: Scenario;
  readonly durationMs: number;
} & (
  | { readonly state: "passed" }
  | { readonly state: "skipped"; readonly reason: string }
  | {
      readonly state: "failed";
      /** Calls with their responses. */
      readonly sent: readonly string[];
      readonly expected: string;
      readonly found: string;
      /** Next step for the developer. */
      readonly change: string;
    }
);

type RunDeps = Pick<StageDeps, "restart" | "signal"> & {
  readonly onOutcome: (outcome: Outcome) => void;
};

/** Plays the scenarios; it skips the remaining ones after the signal. */
export async function playScenarios(
  scenarios: readonly Scenario[],
  options: StageOptions,
  deps: RunDeps,
): Promise<readonly Outcome[]> {
  const { webhook, event } = options;
  const messages = new Messages({ webhook, event, nowMs: Date.now });
  const outcomes: Outcome[] = [];
  for (const scenario of scenarios) {
    const reason = reasonToSkip(scenario, deps);
    const outcome: Outcome =
      reason === undefined
        ? await playOne(scenario, options, { ...deps, messages })
        : { scenario, durationMs: 0, state: "skipped", reason };
    outcomes.push(outcome);
    deps.onOutcome(outcome);
  }
  return outcomes;
}

const INTERRUPTED = "the run was interrupted";

function reasonToSkip({ needsRestart }: Scenario, { restart, signal }: RunDeps): string | undefined {
  if (signal.aborted) return INTERRUPTED;
  return needsRestart && !restart ? "restarts the receiver: give the command with --restart" : undefined;
}

async function playOne(scenario: Scenario, options: StageOptions, deps: StageDeps): Promise<Outcome> {
  const startedMs = performance.now();
  const timed = () => ({ scenario, durationMs: Math.round(performance.now() - startedMs) });
  // Ends the calls that are still in progress after a failure.
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.signal, ending.signal]);
  const stage = new Stage(options, { ...deps, signal });
  try {
    await stage.conclude(await scenario.play(stage, deps.messages));
    return { ...timed(), state: "passed" };
  } catch (error) {
    if (deps.signal.aborted) return { ...timed(), state: "skipped", reason: INTERRUPTED };
    return { ...timed(), state: "failed", sent: [...stage.journal], ...explain(error, scenario) };
  } finally {
    ending.abort();
    await stage.close();
  }
}

type Explanation = { readonly expected: string; readonly found: string; readonly change: string };

/** Explains a failure of the receiver; throws other errors, which are bugs of this program. */
function explain(error: unknown, scenario: Scenario): Explanation {
  if (error instanceof ScenarioFailure) {
    const { expected, found, change = scenario.change } = error;
    return { expected, found, change };
  }
  if (error instanceof RestartError) {
    return {
      expected: "the receiver to restart",
      found: error.message,
      change: "correct the command of --restart",
    };
  }
  throw error;
}

/** The receiver did not restart. */
class RestartError extends CodedError<"RESTART_FAILED"> {
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

/** Scenarios by group. */
export const GROUPS: Readonly<Record<string, readonly Scenario[]>> = {
  acceptance: ACCEPTANCE,
  verification: VERIFICATION,
  repetition: REPETITION,
  retractions: RETRACTIONS_OF_FACTS,
  restarts: RESTARTS,
};

export const SCENARIOS: readonly Scenario[] = Object.values(GROUPS).flat();
