/** Plays scenarios one after another. A scenario that fails, or is interrupted, does not end the run. */
import { createMessages } from "./messages.ts";
import { RestartError } from "./restart.ts";
import { openStage, type Scenario, type StageDeps, type StageOptions } from "./stage.ts";
import { ScenarioFailure } from "./view.ts";

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
  /** Names of scenarios that are not played. */
  readonly skipped: readonly string[];
  readonly onOutcome: (outcome: Outcome) => void;
};

/** Plays the scenarios; it skips the remaining ones after the signal. */
export async function playScenarios(
  scenarios: readonly Scenario[],
  options: StageOptions,
  deps: RunDeps,
): Promise<readonly Outcome[]> {
  const { webhook, event } = options;
  const messages = createMessages({ webhook, event, nowMs: Date.now });
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

function reasonToSkip(
  { name, needsRestart }: Scenario,
  { skipped, restart, signal }: RunDeps,
): string | undefined {
  if (signal.aborted) return INTERRUPTED;
  if (skipped.includes(name)) return "left out with --skip";
  return needsRestart && !restart ? "restarts the receiver: give the command with --restart" : undefined;
}

async function playOne(scenario: Scenario, options: StageOptions, deps: StageDeps): Promise<Outcome> {
  const startedMs = performance.now();
  const timed = () => ({ scenario, durationMs: Math.round(performance.now() - startedMs) });
  // Ends the calls that are still in progress after a failure.
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.signal, ending.signal]);
  const { stage, journal, conclude, close } = openStage(options, { ...deps, signal });
  try {
    await conclude(await scenario.play(stage));
    return { ...timed(), state: "passed" };
  } catch (error) {
    if (deps.signal.aborted) return { ...timed(), state: "skipped", reason: INTERRUPTED };
    return { ...timed(), state: "failed", sent: [...journal], ...explain(error, scenario) };
  } finally {
    ending.abort();
    await close();
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
