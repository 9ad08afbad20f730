/** The form of scenarios: every violation is refused with the member and the expected value. */
import { describe, expect, test } from "vitest";
import { readScenario, ScenarioError } from "../../src/testing/index.ts";

const scenarioOf = (...steps: unknown[]) => ({ scenario: 1, name: "a test", steps });

function violationOf(source: string | object): string {
  try {
    readScenario(source);
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    expect(error).toMatchObject({ code: "SCENARIO_INVALID", isRetryable: false });
    return (error as Error).message;
  }
  throw new Error("the scenario was accepted");
}

test("every verb is accepted in its shortest and its longest form", () => {
  const scenario = scenarioOf(
    { note: "every verb" },
    { mine: 1_000 },
    { travel: "90s" },
    { transfer: { from: "account 0", to: "delegate 5", amount: "12.5", message: "rent", as: "rent" } },
    { transfer: { from: "wallet alice", to: "factory", amount: "1", refused: "ERR_LOW_BALANCE" } },
    { mint: { owner: "account 3", unik: "home", kind: "organization", set: { "usr/a": "b" }, fee: "0.3" } },
    { update: { owner: "account 3", unik: "home", set: { "usr/color": "red", "usr/shape": null } } },
    { transferUnik: { from: "account 0", unik: "account 0", to: "wallet alice" } },
    { vote: { from: "account 1", delegate: "delegate 0" } },
    { unvote: { from: "account 1", delegate: "delegate 0" } },
    { reorganise: 2 },
    { reorganise: { depth: 2, blocks: 4, transactions: true, without: ["rent"] } },
    { snapshot: "before" },
    { restore: "before" },
    { restore: 0 },
    { restore: 10_000 },
    { webhook: { name: "payments", events: ["transaction.*"], target: "http://127.0.0.1:8000/" } },
    { fail: { webhook: "payments", how: "refuse", status: 503 } },
    { settle: "payments" },
    { settle: 1 },
    { expect: { height: 8 } },
    { expect: { height: "+4" } },
    { expect: { balance: { of: "account 1", is: "-0.1" } } },
    { expect: { delivered: { webhook: "payments", event: "transaction.applied" } } },
    { expect: { retracted: { webhook: 1, event: "transaction.applied", count: 0 } } },
  );
  expect(readScenario(scenario)).toBe(scenario);
  expect(readScenario(JSON.stringify(scenario))).toEqual(scenario);
});

describe("a violation is named with its member", () => {
  test.each<[unknown, string]>([
    [{ mine: 0 }, "steps[0].mine: an integer from 1 to 1000 is expected, not 0"],
    [{ mien: 1 }, "steps[0]: an object with one of the members note, mine, travel"],
    [{ mine: 1, travel: "1d" }, "steps[0]: an object with one of the members"],
    [{}, "steps[0]: an object with one of the members"],
    [null, "steps[0]: an object is expected, not null"],
    [{ constructor: 1 }, "steps[0]: an object with one of the members"],
    [{ travel: "a day" }, 'steps[0].travel: a duration such as 90s, 10m, 2h or 1d is expected, not "a day"'],
    [
      { transfer: { from: "account 0", to: "account 1", amount: 100 } },
      'steps[0].transfer.amount: an amount in tokens such as "12.5" is expected, not 100',
    ],
    [
      { transfer: { from: "bob", to: "account 1", amount: "1" } },
      'steps[0].transfer.from: an account such as "account 0" or "wallet alice" is expected, not "bob"',
    ],
    [{ transfer: { from: "account 0", to: "account 1" } }, 'steps[0].transfer: "amount" is missing'],
    [
      { transfer: { from: "account 0", to: "account 1", amount: "1", nonce: 1 } },
      'steps[0].transfer: "nonce" is unknown; the members are from, to, amount, message, fee, as, refused',
    ],
    [{ restore: "before" }, 'steps[0].restore: no earlier step has a snapshot with the name "before"'],
    [{ settle: "payments" }, 'steps[0].settle: no earlier step has a webhook with the name "payments"'],
    [
      { fail: { webhook: "payments", how: "drop" } },
      'steps[0].fail.webhook: no earlier step has a webhook with the name "payments"',
    ],
    [
      { reorganise: { depth: 1, transactions: true, without: ["rent"] } },
      'steps[0].reorganise.without: no earlier step has a transaction with the name "rent"',
    ],
    [
      { update: { owner: "account 0", unik: "home", set: { "usr/a": "b" } } },
      'steps[0].update.unik: no earlier step has a unik with the name "home"',
    ],
    [
      { expect: { delivered: { webhook: "payments", event: "block.applied" } } },
      'steps[0].expect.delivered.webhook: no earlier step has a webhook with the name "payments"',
    ],
    [{ expect: { height: "4" } }, "steps[0].expect.height: "],
    [{ webhook: { name: "a", events: [] } }, "steps[0].webhook.events: a list of 1 to 64 members"],
    [{ webhook: { name: "a", events: ["block.applied"], target: "ftp://a/" } }, "steps[0].webhook.target: "],
  ])("%j", (step, message) => {
    expect(violationOf(scenarioOf(step))).toContain(message);
  });
});

test("a name is defined once", () => {
  expect(violationOf(scenarioOf({ snapshot: "a" }, { snapshot: "a" }))).toBe(
    'steps[1].snapshot: "a" is already the name of a snapshot: choose another',
  );
});

test("a text that is not JSON is refused with its line", () => {
  expect(violationOf('{\n  "scenario": 1,\n  "name": a\n}')).toBe("it is not JSON near line 3");
});

test.each([
  ['{\n  "scenario": 1\n  "name": "a"\n}', 3],
  ['{\n  "scenario": 1,\n  "name": "a",\n  "steps": [\n    { "mine": 1 },\n    { "mine": two }\n  ]\n}', 6],
  ['{\n  "scenario": 1,\n  "name": "a",\n  "steps": [\n    { "mine": 1 },\n  ]\n}', 6],
])("the line of %j is found", (text, line) => {
  expect(violationOf(text)).toBe(`it is not JSON near line ${line}`);
});

test("another version of the format is refused", () => {
  expect(violationOf({ ...scenarioOf({ mine: 1 }), scenario: 2 })).toBe("scenario: 1 is expected, not 2");
});

test("size and counts are bounded", () => {
  const mine = { mine: 1 };
  expect(violationOf(scenarioOf())).toBe("steps: a list of 1 to 1000 members is expected, not []");
  expect(violationOf(scenarioOf(...Array.from({ length: 1_001 }, () => mine)))).toContain(
    "a list of 1 to 1000",
  );
  expect(violationOf(" ".repeat(262_145))).toContain("it is longer than 262144 characters");
  const webhooks = Array.from({ length: 17 }, (_, index) => ({
    webhook: { name: `hook ${index}`, events: ["block.applied"] },
  }));
  expect(violationOf(scenarioOf(...webhooks))).toBe("steps: there are more than 16 webhooks");
  expect(violationOf("[".repeat(200_000))).toContain("not JSON");
});
