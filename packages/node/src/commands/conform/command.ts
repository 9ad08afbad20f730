/** `uniknode conform`: plays scenarios against a receiver of webhooks, and reports which of them it passes. */
import { once } from "node:events";
import { connect } from "node:net";
import { Command } from "commander";
import type { Config } from "../../config/resolve.ts";
import { GROUPS, type Outcome, playScenarios, restartReceiver, SCENARIOS } from "../../conform/run.ts";
import type { Scenario } from "../../conform/stage.ts";
import { CodedError, ConfigError } from "../../platform/coded-error.ts";
import { stopSignal } from "../../platform/lifecycle/process.ts";
import { countOf, mostSimilar } from "../../platform/text/wording.ts";
import { withOptions } from "../flags.ts";
import { printJson, printLines } from "../print.ts";
import { conformOptions, readReceiverUrl } from "./conform-options.ts";

type ConformConfig = Config<typeof conformOptions>;

const NOTES = `
Sends the deliveries of a node, and forged ones, to the URL. Use an instance of the receiver with a database of its own: the
scenarios leave facts behind. The receiver shows its facts at the probe, as JSON: {"facts": [{"id", "event", "height",
"blockId"}]}. docs/guides/conform.md describes the probe and each scenario. Ctrl-C ends with the report of the scenarios that
were played. The exit code is 1 if a scenario failed or was not played after Ctrl-C.`;

/** Time after which the view of a receiver must still be the expected one. */
const SETTLE_MS = 100;
const PIECE_MS = 100;
/** Time in which the probe must show the effect of a delivery. */
const VIEW_TIMEOUT_MS = 5_000;
/** Id of the webhook in the deliveries. */
const WEBHOOK = 1;

/** Maximum number of calls of a failed scenario that the lines show; earlier calls are counted. */
const MAX_CALLS = 10;
const NAME_WIDTH = 27;

export function conformCommand(): Command {
  const command = new Command("conform")
    .argument("[url]", "URL of the receiver, to which a node would send deliveries")
    .addHelpText("after", NOTES);
  return withOptions(command, conformOptions, async (config, url: string | undefined) => {
    const scenarios = selectScenarios(config);
    await conform(readTarget(url), config, scenarios);
  });
}

function readTarget(url: string | undefined): string {
  if (url === undefined)
    throw new ConfigError("give the URL of the receiver, such as http://127.0.0.1:8000/");
  try {
    return readReceiverUrl(url);
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}, not ${JSON.stringify(url)}`);
  }
}

function selectScenarios({ only }: ConformConfig): readonly Scenario[] {
  const names = SCENARIOS.map(({ name }) => name);
  for (const name of only) {
    if (names.includes(name)) continue;
    const similar = mostSimilar(name, names);
    throw new ConfigError(
      `"${name}" is not a scenario${similar === undefined ? ";" : `; did you mean "${similar}"?`} docs/reference/scenarios.md lists all`,
    );
  }
  return only.length === 0 ? SCENARIOS : SCENARIOS.filter(({ name }) => only.includes(name));
}

async function conform(url: string, config: ConformConfig, scenarios: readonly Scenario[]): Promise<void> {
  const { secret: token, restart: command, event, json } = config;
  if (token === undefined) {
    throw new ConfigError(
      "give the secret that the receiver verifies with in UNIKNODE_CONFORM_SECRET, or with --secret",
    );
  }
  await requireReceiver(url);
  const probe = config.probe ?? probeBelow(url);
  const interruption = new AbortController();
  stopSignal("SIGHUP").then(() => interruption.abort());
  const outcomes = await playScenarios(
    scenarios,
    {
      target: url,
      token,
      probe,
      webhook: WEBHOOK,
      event,
      settleMs: SETTLE_MS,
      pieceMs: PIECE_MS,
      timeoutMs: config.timeout * 1_000,
      viewMs: VIEW_TIMEOUT_MS,
    },
    {
      signal: interruption.signal,
      restart: command === undefined ? undefined : (signal) => restartReceiver({ command, probe }, signal),
      onOutcome: (outcome) => json || printLines(outcomeLines(outcome)),
    },
  );
  report(url, config, outcomes);
  if (interruption.signal.aborted) throw incomplete("the run was interrupted");
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Reports a receiver that does not run in one sentence, instead of a failure of each scenario. */
async function requireReceiver(url: string): Promise<void> {
  const { hostname, port, protocol } = new URL(url);
  const socket = connect(
    Number(port) || (protocol === "https:" ? 443 : 80),
    hostname.replace(/^\[|\]$/g, ""),
  );
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    const reason = name === "AbortError" ? `no connection within ${CONNECT_TIMEOUT_MS / 1_000} s` : code;
    throw incomplete(`no receiver at ${url}: ${reason}; start it, or correct the URL`);
  } finally {
    socket.destroy();
  }
}

function report(url: string, { json }: ConformConfig, outcomes: readonly Outcome[]): void {
  const totals = totalsOf(outcomes);
  if (json) printJson(reportJson(url, outcomes));
  else printLines(["", summaryLine(totals)]);
  if (totals.failed.length > 0) throw incomplete(`failed scenarios: ${totals.failed.join(", ")}`);
}

const incomplete = (message: string): CodedError<"CONFORM"> =>
  new CodedError("CONFORM", message, { isRetryable: false });

/** Returns the path `/conform` below a URL, without its query. */
function probeBelow(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, "")}/conform`;
}

/** Returns the name of the group of a scenario. */
const groupOf = (name: string): string =>
  Object.entries(GROUPS).find(([, scenarios]) => scenarios.some((scenario) => scenario.name === name))?.[0] ??
  "";

/** Formats one outcome. */
function outcomeLines(outcome: Outcome): string[] {
  const { scenario, state } = outcome;
  const name = scenario.name.padEnd(NAME_WIDTH);
  if (state === "passed") return [`ok    ${name} ${outcome.durationMs} ms`];
  if (state === "skipped") return [`skip  ${name} ${outcome.reason}`];
  return [`FAIL  ${scenario.name}`, ...failureLines(outcome).map((line) => `      ${line}`)];
}

/** Describes a failure: the rule, the calls, the difference and the next step. */
function failureLines({ scenario, sent, expected, found, change }: Outcome & { state: "failed" }): string[] {
  const hidden = Math.max(0, sent.length - MAX_CALLS);
  return [
    `rule      ${scenario.rule}`,
    ...(hidden > 0 ? [`sent      ${countOf(hidden, "calls")}, then`] : []),
    ...sent.slice(hidden).map((call) => `sent      ${call}`),
    `expected  ${expected}`,
    `found     ${found}`,
    `change    ${change}`,
    `see       ${scenario.section}`,
  ];
}

const namesOf = (outcomes: readonly Outcome[], state: Outcome["state"]): string[] =>
  outcomes.filter((outcome) => outcome.state === state).map(({ scenario }) => scenario.name);

/** Names of the scenarios by state. */
type Totals = Readonly<Record<Outcome["state"], readonly string[]>>;

const totalsOf = (outcomes: readonly Outcome[]): Totals => ({
  passed: namesOf(outcomes, "passed"),
  failed: namesOf(outcomes, "failed"),
  skipped: namesOf(outcomes, "skipped"),
});

const summaryLine = ({ passed, failed, skipped }: Totals): string =>
  `${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`;

/** Returns the report as a JSON value. */
const reportJson = (url: string, outcomes: readonly Outcome[]) => ({
  url,
  ...totalsOf(outcomes),
  scenarios: outcomes.map(({ scenario: { name, rule, section }, ...outcome }) => ({
    name,
    group: groupOf(name),
    rule,
    section,
    ...outcome,
  })),
});
