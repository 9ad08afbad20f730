/** `uniknode conform`: plays scenarios against a receiver of webhooks, and reports which of them it passes. */
import { once } from "node:events";
import { connect } from "node:net";
import { Command } from "commander";
import type { Config } from "../../config/resolve.ts";
import { GROUPS, type Outcome, playScenarios, restartReceiver, SCENARIOS } from "../../conform/run.ts";
import type { Scenario } from "../../conform/stage.ts";
import { CodedError, ConfigError } from "../../platform/coded-error.ts";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { stopSignal } from "../../platform/lifecycle/process.ts";
import { mostSimilar } from "../../platform/text/wording.ts";
import { withOptions } from "../flags.ts";
import { printJson, printLines } from "../print.ts";
import { conformOptions, readReceiverUrl } from "./conform-options.ts";
import { conformXml, outcomeLines, reportJson, summaryLine, totalsOf } from "./report.ts";

type ConformConfig = Config<typeof conformOptions>;

const NOTES = `
Sends the deliveries of a node, and forged ones, to the URL. Use an instance of the receiver with a database of its own: the
scenarios leave facts behind. The receiver shows its facts at the probe, as JSON: {"facts": [{"id", "event", "height",
"blockId"}]}. docs/guides/conform.md describes the probe and each scenario. Ctrl-C ends with the report of the scenarios that
were played. The exit code is 1 if a scenario failed or was not played after Ctrl-C.`;

/** Time after which the view of a receiver must still be the expected one. */
const SETTLE_MS = 100;
const PIECE_MS = 100;

export function conformCommand(): Command {
  const command = new Command("conform")
    .argument("[url]", "URL of the receiver, to which a node would send deliveries")
    .addHelpText("after", NOTES);
  return withOptions(command, conformOptions, async (config, url: string | undefined) => {
    const scenarios = selectScenarios(config);
    if (config.list) printList(config, scenarios);
    else await conform(readTarget(url), config, scenarios);
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

function selectScenarios({ only, skip }: ConformConfig): readonly Scenario[] {
  const names = SCENARIOS.map(({ name }) => name);
  for (const name of [...only, ...skip]) {
    if (names.includes(name)) continue;
    const similar = mostSimilar(name, names);
    throw new ConfigError(
      `"${name}" is not a scenario${similar === undefined ? "" : `; did you mean "${similar}"?`} --list shows all`,
    );
  }
  return only.length === 0 ? SCENARIOS : SCENARIOS.filter(({ name }) => only.includes(name));
}

function printList({ json }: ConformConfig, selected: readonly Scenario[]): void {
  const groups = Object.entries(GROUPS).map(
    ([group, scenarios]) => [group, scenarios.filter((scenario) => selected.includes(scenario))] as const,
  );
  if (json) {
    printJson(
      groups.flatMap(([group, scenarios]) =>
        scenarios.map(({ name, rule, change, section }) => ({ name, group, rule, change, section })),
      ),
    );
    return;
  }
  for (const [group, scenarios] of groups) {
    if (scenarios.length > 0) printLines([group, ...scenarios.map(({ name, rule }) => `  ${name}: ${rule}`)]);
  }
}

async function conform(url: string, config: ConformConfig, scenarios: readonly Scenario[]): Promise<void> {
  const { secret: token, restart: command, event, webhook, skip, json } = config;
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
      webhook,
      event,
      settleMs: SETTLE_MS,
      pieceMs: PIECE_MS,
      timeoutMs: config.timeout * 1_000,
      viewMs: config.viewTimeout * 1_000,
    },
    {
      signal: interruption.signal,
      skipped: skip,
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

function report(url: string, { json, junit }: ConformConfig, outcomes: readonly Outcome[]): void {
  const totals = totalsOf(outcomes);
  if (json) printJson(reportJson(url, outcomes));
  else printLines(["", summaryLine(totals)]);
  if (junit !== undefined) writeWholeFile(junit, conformXml(outcomes));
  if (totals.failed.length > 0) throw incomplete(`failed scenarios: ${totals.failed.join(", ")}`);
}

const incomplete = (message: string): CodedError<"CONFORM"> =>
  new CodedError("CONFORM", message, { isRetryable: false });

/** Returns the path `/conform` below a URL, without its query. */
function probeBelow(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, "")}/conform`;
}
