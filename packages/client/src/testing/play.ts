/** Plays scenarios on a dev chain. */
import { type Client, createClient } from "../api/client.ts";
import { ScenarioError } from "./error.ts";
import type { Account } from "./names.ts";
import { type PreparedStage, prepare, type Target } from "./prepare.ts";
import { readScenario } from "./read.ts";
import type { Scenario } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import { runStep } from "./steps.ts";
import { titleOf } from "./title.ts";

export type StepOutcome = {
  /** Member of the scenario, such as `steps[3]`. */
  readonly at: string;
  /** The step in one line. */
  readonly title: string;
  readonly durationMs: number;
} & (
  | { readonly state: "passed"; readonly result: string }
  | { readonly state: "failed"; readonly error: Error }
  /** A step after a failure or an interruption. */
  | { readonly state: "skipped" }
);

export type PlayOptions = Target & {
  /** Time limit of each step. Default: 30,000. */
  readonly stepTimeoutMs?: number;
  /** Ends the run; the remaining steps are skipped. */
  readonly signal?: AbortSignal;
  readonly onStep?: (outcome: StepOutcome) => void;
};

export type Report = {
  readonly name: string;
  readonly isPassed: boolean;
  readonly startHeight: number;
  readonly steps: readonly StepOutcome[];
};

/** The chain after a scenario. The client works until the dev chain ends. */
export type PlayedScenario = Report & {
  readonly client: Client;
  /** Returns address and public key of an account of the scenario. */
  readonly account: (name: string) => Pick<Account, "address" | "publicKey">;
  /** Ids of the transactions that the scenario names with `as`. */
  readonly transactions: Readonly<Record<string, string>>;
};

const STEP_TIMEOUT_MS = 30_000;

const ignore = () => {};

/**
 * Plays a scenario, and rejects with the failure of its first step that fails: for tests.
 *
 * @param source parsed JSON, or its text
 * @throws {ScenarioError}
 * @throws {ApiError} if the dev chain does not respond or refuses an action
 */
export async function playScenario(source: string | object, options: PlayOptions): Promise<PlayedScenario> {
  const { report, stage } = await play(readScenario(source), options);
  const failed = report.steps.find((step) => step.state === "failed");
  if (failed) throw locate(failed.error, failed);
  options.signal?.throwIfAborted();
  const { names, transactions } = stage;
  return {
    ...report,
    client: createClient({ url: options.url, webhookToken: options.token }),
    account: names.account,
    transactions: Object.fromEntries(transactions),
  };
}

/** Adds the step to the message of an error, whose class and members stay. */
function locate(error: Error, { at, title }: StepOutcome): Error {
  error.message = `${at} (${title}): ${error.message}`;
  return error;
}

/** Plays a scenario and reports each step. A step that fails does not reject. */
export const runScenario = async (scenario: Scenario, options: PlayOptions): Promise<Report> =>
  (await play(scenario, options)).report;

async function play(scenario: Scenario, options: PlayOptions): Promise<{ report: Report; stage: Stage }> {
  const ending = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal;
  const { url, token, stepTimeoutMs: timeoutMs = STEP_TIMEOUT_MS } = options;
  const stage = await prepare({ url, token, timeoutMs, signal }, scenario);
  const steps = await playSteps(scenario, stage, options, ending);
  // Ends the requests of a step that was given up.
  ending.abort();
  await stage.running;
  const hasFailed = steps.some(({ state }) => state === "failed");
  await stage.end().catch((error: unknown) => {
    // A chain that no longer responds has failed a step already.
    if (!hasFailed) throw error;
  });
  const isPassed = steps.every(({ state }) => state === "passed");
  return { report: { name: scenario.name, isPassed, startHeight: stage.start.height, steps }, stage };
}

async function playSteps(
  { steps }: Scenario,
  stage: PreparedStage,
  { stepTimeoutMs = STEP_TIMEOUT_MS, onStep = () => {} }: PlayOptions,
  ending: AbortController,
): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  let isOver = false;
  for (const [index, step] of steps.entries()) {
    const startedMs = performance.now();
    const timed = () => ({
      ...{ at: `steps[${index}]`, title: titleOf(step) },
      durationMs: Math.round(performance.now() - startedMs),
    });
    let outcome: StepOutcome = { ...timed(), state: "skipped" };
    if (!isOver && !stage.signal.aborted) {
      try {
        const result = await withDeadline(runStep(stage, step), { stage, stepTimeoutMs, ending });
        outcome = { ...timed(), state: "passed", result };
      } catch (error) {
        const isInterrupted = stage.signal.aborted && !ending.signal.aborted;
        if (!isInterrupted) outcome = { ...timed(), state: "failed", error: error as Error };
        isOver = true;
      }
    }
    outcomes.push(outcome);
    onStep(outcome);
  }
  return outcomes;
}

type Deadline = { readonly stage: Stage; readonly stepTimeoutMs: number; readonly ending: AbortController };

/** Ends the run if a step takes too long: its requests abort, and the step rejects. */
async function withDeadline(
  step: Promise<string>,
  { stage, stepTimeoutMs, ending }: Deadline,
): Promise<string> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const state = stage.waitsFor === undefined ? "" : `: ${stage.waitsFor}`;
    late.reject(
      new ScenarioError("SCENARIO_TIMEOUT", `the step did not end within ${stepTimeoutMs} ms${state}`),
    );
    ending.abort();
  }, stepTimeoutMs);
  // After its deadline, the step rejects with the reason of the signal, which is not reported.
  stage.running = step.then(ignore, ignore);
  try {
    return await Promise.race([late.promise, step]);
  } finally {
    clearTimeout(timer);
  }
}
