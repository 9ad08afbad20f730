/** Scenario files for tests: actions on a dev chain, and what must be true after them (docs/guides/scenarios.md). */
export { ScenarioError, type ScenarioErrorCode } from "./error.ts";
export {
  type PlayedScenario,
  type PlayOptions,
  playScenario,
  type Report,
  runScenario,
  type StepOutcome,
} from "./play.ts";
export type { Target } from "./prepare.ts";
export { BOUNDS, readScenario } from "./read.ts";
export type { Branch, Expectation, Scenario, Step, Verb } from "./scenario.ts";
