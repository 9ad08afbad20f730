/** Reads a scenario: its form, its bounds, and whether each name is defined before it is used. */
import {
  type Check,
  exactly,
  integerIn,
  invalid,
  listOf,
  matching,
  numberOr,
  objectOf,
  objectOr,
  oneMemberOf,
  recordOf,
  textOf,
} from "./checks.ts";
import { ScenarioError } from "./error.ts";
import { ACCOUNT, ADDRESS, isAccount } from "./names.ts";
import { type Scenario, verbOf } from "./scenario.ts";

/** Maximum numbers of a scenario. */
export const BOUNDS = {
  characters: 262_144,
  steps: 1_000,
  /** Blocks of a step. */
  blocks: 1_000,
  /** Blocks that a step restores. */
  restored: 10_000,
  webhooks: 16,
  events: 64,
  /** Transactions that a branch omits. */
  without: 500,
  properties: 16,
} as const;

const name = matching(/^[a-z][a-z0-9 -]{0,39}$/, "a name such as payment-1");
const account = matching(ACCOUNT, `an account such as "account 0" or "wallet alice"`);
const recipient = matching(
  new RegExp(`${ACCOUNT.source}|${ADDRESS.source}`),
  `an account such as "account 0" or "wallet alice", or an address`,
);
const blocks = integerIn(1, BOUNDS.blocks);
const tokens = matching(/^\d{1,12}(\.\d{1,8})?$/, 'an amount in tokens such as "12.5"');
const event = matching(/^[a-z*][a-z.:*]{0,59}$/, "the name of an event such as block.applied");
const webhook = numberOr(integerIn(1, Number.MAX_SAFE_INTEGER), name);
const properties = recordOf(
  textOf(255),
  (value, at) => value === null || textOf(255)(value, at),
  BOUNDS.properties,
);
const submitted: Readonly<Record<string, Check>> = {
  "fee?": tokens,
  "as?": name,
  "refused?": matching(/^ERR_[A-Z_]{1,60}$/, "a code of the pool such as ERR_APPLY"),
};
const vote = objectOf({ from: account, delegate: account, ...submitted });
const counted = objectOf({ webhook, event, "count?": integerIn(0, 10_000) });

const STEP = oneMemberOf({
  note: textOf(500),
  mine: blocks,
  travel: matching(/^[1-9]\d{0,9}[smhd]$/, "a duration such as 90s, 10m, 2h or 1d"),
  transfer: objectOf({ from: account, to: recipient, amount: tokens, "message?": textOf(255), ...submitted }),
  mint: objectOf({
    owner: account,
    unik: name,
    "kind?": exactly("individual", "organization", "network"),
    "set?": properties,
    ...submitted,
  }),
  update: objectOf({
    owner: account,
    unik: name,
    set: properties,
    ...submitted,
  }),
  transferUnik: objectOf({ from: account, unik: name, to: recipient, ...submitted }),
  vote,
  unvote: vote,
  reorganise: objectOr(
    objectOf({
      depth: blocks,
      "blocks?": blocks,
      "transactions?": exactly(true, false),
      "without?": listOf(name, 1, BOUNDS.without),
    }),
    blocks,
  ),
  snapshot: name,
  restore: numberOr(integerIn(0, BOUNDS.restored), name),
  webhook: objectOf({
    name,
    events: listOf(event, 1, BOUNDS.events),
    "target?": matching(/^(https?|nats):\/\/\S{1,2000}$/, "the URL of a receiver"),
  }),
  fail: objectOf({
    webhook,
    how: exactly("refuse", "delay", "drop", "not"),
    "status?": integerIn(400, 599),
    "seconds?": integerIn(1, 3_600),
  }),
  settle: webhook,
  expect: oneMemberOf({
    height: numberOr(
      integerIn(1, Number.MAX_SAFE_INTEGER),
      matching(/^[+-]\d{1,9}$/, 'a height, or a difference such as "+4"'),
    ),
    balance: objectOf({
      of: recipient,
      is: matching(
        /^[+-]?\d{1,12}(\.\d{1,8})?$/,
        'an amount in tokens such as "12.5", or a change such as "+12.5"',
      ),
    }),
    delivered: counted,
    retracted: counted,
  }),
});

const SCENARIO = objectOf({
  scenario: exactly(1),
  name: textOf(100),
  steps: listOf(STEP, 1, BOUNDS.steps),
});

/**
 * Reads a scenario from its text, or checks the parsed value.
 *
 * @throws {ScenarioError} SCENARIO_INVALID; the message names the member, or the line of a text that is not JSON
 */
export function readScenario(source: string | object): Scenario {
  const value = typeof source === "string" ? parse(source) : source;
  SCENARIO(value, "");
  const scenario = value as Scenario;
  checkNames(scenario);
  return scenario;
}

function parse(text: string): unknown {
  if (text.length > BOUNDS.characters) {
    throw new ScenarioError(
      "SCENARIO_INVALID",
      `it is longer than ${BOUNDS.characters} characters: split it into several scenarios`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const line = lineOf(text, (error as Error).message);
    const place = line === undefined ? "" : ` near line ${line}`;
    throw new ScenarioError("SCENARIO_INVALID", `it is not JSON${place}`, { cause: error });
  }
}

/** Characters that the engine quotes before the error. */
const QUOTED_BEFORE = 10;

/** Finds the line of a syntax error: the engine names either the line or the text around the error. */
function lineOf(text: string, message: string): number | undefined {
  const [, line] = /\(line (\d+) column \d+\)$/.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  const [, excerpt] = /, (?:\.\.\.)?"([\s\S]+)"(?:\.\.\.)? is not valid JSON$/.exec(message) ?? [];
  if (excerpt === undefined || !text.includes(excerpt)) return undefined;
  return text.slice(0, text.indexOf(excerpt) + QUOTED_BEFORE).split("\n").length;
}

/** Checks that a step uses only names that an earlier step has defined. */
function checkNames({ steps }: Scenario): void {
  const known = {
    snapshot: new Set<string>(),
    webhook: new Set<string>(),
    transaction: new Set<string>(),
    unik: new Set<string>(),
  };

  function define(kind: keyof typeof known, name: string, at: string): void {
    if (known[kind].has(name))
      throw invalid(at, `"${name}" is already the name of a ${kind}: choose another`);
    known[kind].add(name);
  }
  function use(kind: keyof typeof known, name: string | number, at: string): void {
    if (typeof name === "number" || known[kind].has(name)) return;
    throw invalid(at, `no earlier step has a ${kind} with the name "${name}": add one, or correct the name`);
  }

  for (const [index, step] of steps.entries()) {
    const [verb, value] = verbOf(step);
    const at = `steps[${index}].${verb}`;
    if (typeof value === "object" && "as" in value && value.as) define("transaction", value.as, `${at}.as`);
    if (verb === "mint") define("unik", value.unik, `${at}.unik`);
    if ((verb === "update" || verb === "transferUnik") && !isAccount(value.unik)) {
      use("unik", value.unik, `${at}.unik`);
    }
    if (verb === "snapshot") define("snapshot", value, at);
    if (verb === "webhook") define("webhook", value.name, `${at}.name`);
    if (verb === "restore") use("snapshot", value, at);
    if (verb === "settle") use("webhook", value, at);
    if (verb === "fail") use("webhook", value.webhook, `${at}.webhook`);
    if (verb === "reorganise" && typeof value === "object") {
      for (const name of value.without ?? []) use("transaction", name, `${at}.without`);
    }
    if (verb !== "expect") continue;
    if ("delivered" in value) use("webhook", value.delivered.webhook, `${at}.delivered.webhook`);
    if ("retracted" in value) use("webhook", value.retracted.webhook, `${at}.retracted.webhook`);
  }
  if (known.webhook.size > BOUNDS.webhooks)
    throw invalid("steps", `there are more than ${BOUNDS.webhooks} webhooks`);
}
