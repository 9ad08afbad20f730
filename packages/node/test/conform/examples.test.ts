/** The receivers that the console and the guide offer, each run with its own interpreter. */
import { describe, expect, test } from "vitest";
import { playScenarios, SCENARIOS } from "../../src/conform/run.ts";
import { LANGUAGES, missingLanguage, startExample } from "../../test-support/conform/example.ts";
import { TOKEN } from "../../test-support/conform/receiver.ts";
import { skips } from "../../test-support/process/available.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const PACE = { timeoutMs: WAIT_MS, viewMs: WAIT_MS, settleMs: 20, pieceMs: 20 };
describe.concurrent.each(LANGUAGES)("The receiver in $name", (language) => {
  const isSkipped = skips(missingLanguage(language));

  test.skipIf(isSkipped)("The receiver passes every scenario.", async ({ onTestFinished }) => {
    const { url, restart, close } = await startExample(language);
    onTestFinished(close);
    const outcomes = await playScenarios(
      SCENARIOS,
      {
        ...{ target: url, probe: `${url}conform`, token: TOKEN, webhook: 1, ...PACE },
        event: "block.applied",
      },
      { ...{ signal: new AbortController().signal, restart }, onOutcome: () => {} },
    );
    const others = outcomes.filter(({ state }) => state !== "passed");
    expect(others.map(({ scenario, ...outcome }) => ({ name: scenario.name, ...outcome }))).toEqual([]);
    expect(outcomes).toHaveLength(SCENARIOS.length);
    expect(await malformedStatuses(url)).toEqual(new Set([401]));
  });
});

const HEADERS = { "webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,00" };

/** Returns the statuses of responses to requests with malformed headers, and without headers. */
async function malformedStatuses(url: string): Promise<Set<number>> {
  const values = ["", "x", "v1,"];
  const malformed = Object.keys(HEADERS).flatMap((name) =>
    values.map((value) => ({ ...HEADERS, [name]: value })),
  );
  const statuses = new Set<number>();
  for (const headers of [{}, ...malformed]) {
    const response = await fetch(url, { method: "POST", body: "{}", headers });
    await response.arrayBuffer();
    statuses.add(response.status);
  }
  return statuses;
}
