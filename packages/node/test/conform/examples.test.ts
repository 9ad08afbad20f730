/** The receivers that the console and the guide offer, each run with its own interpreter. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
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

describe.concurrent.each(LANGUAGES.filter(({ name }) => name === "JavaScript" || name === "Python"))(
  "The receiver in $name",
  (language) => {
    test.skipIf(skips(missingLanguage(language)))(
      "The receiver refuses a body above 1 MiB.",
      async ({ onTestFinished }) => {
        const { url, close } = await startExample(language);
        onTestFinished(close);
        const body = Buffer.alloc(1_048_576);
        expect((await fetch(url, { method: "POST", headers: HEADERS, body })).status).toBe(401);
        expect(await statusOfBytes(url, body.length + 1)).toBe(413);
      },
    );
  },
);

/** Returns the status of the response to a body of zeros, which is sent unless the receiver refuses its length. */
async function statusOfBytes(url: string, bytes: number): Promise<number | undefined> {
  const headers = { ...HEADERS, "content-length": bytes, expect: "100-continue" };
  const request = httpRequest(url, { method: "POST", headers });
  request.once("continue", () => request.end(Buffer.alloc(bytes)));
  request.flushHeaders();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  request.destroy();
  return response.statusCode;
}

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
