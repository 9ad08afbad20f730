/** Runs one step of a scenario. */
import { mine, reorganise, restore, snapshot, travel } from "./chain-steps.ts";
import { expect } from "./expectations.ts";
import { type Step, verbOf } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import { submit } from "./transactions.ts";
import { fail, settle, webhook } from "./webhook-steps.ts";

/** Resolves with the result in a few words. */
export async function runStep(stage: Stage, step: Step): Promise<string> {
  const [verb, value] = verbOf(step);
  switch (verb) {
    case "note":
      return "";
    case "mine":
      return mine(stage, value);
    case "travel":
      return travel(stage, value);
    case "transfer":
      return submit(stage, verb, value);
    case "mint":
      return submit(stage, verb, value);
    case "update":
      return submit(stage, verb, value);
    case "transferUnik":
      return submit(stage, verb, value);
    case "vote":
    case "unvote":
      return submit(stage, verb, value);
    case "reorganise":
      return reorganise(stage, value);
    case "snapshot":
      return snapshot(stage, value);
    case "restore":
      return restore(stage, value);
    case "webhook":
      return webhook(stage, value);
    case "fail":
      return fail(stage, value);
    case "settle":
      return settle(stage, value);
    case "expect":
      return expect(stage, value);
  }
}
