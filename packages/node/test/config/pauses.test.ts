import { expect, test } from "vitest";
import { runOptions } from "../../src/config/options.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { readPauses } from "../../src/config/webhooks.ts";
import { parseDurationMs } from "../../src/platform/clock/durations.ts";
import { DEFAULT_RETRY_PAUSES_MS } from "../../src/webhooks/options.ts";

test.each([
  ["5s,2m, 24h", ["5s", "2m", "24h"]],
  [["7d"], ["7d"]],
])("%j is a list of pauses", (value, pauses) => {
  expect(readPauses(value)).toEqual(pauses);
});

test.each([
  ...["", "5", "5s,", "0s", "8d", "1.5m", "-1s", "5 s", "5x", "1s,".repeat(30).concat("1s")],
  ...[[], [5], 5, null, { a: 1 }],
])("%j is invalid", (value) => {
  expect(() => readPauses(value)).toThrow(
    "a list of 1 to 30 pauses such as 5s,2m,24h, each of 1 second to 7 days, is expected",
  );
});

test("Pauses are milliseconds.", () => {
  expect(["5s", "2m", "24h", "7d"].map(parseDurationMs)).toEqual([5_000, 120_000, 86_400_000, 604_800_000]);
});

test("The schedule of retries is an option.", () => {
  const { webhookRetries } = resolveConfig(runOptions, { flags: {}, environment: {} });
  expect(webhookRetries.map(parseDurationMs)).toEqual(DEFAULT_RETRY_PAUSES_MS);
  const environment = { UNIKNODE_WEBHOOK_RETRIES: "1s,2s", UNIKNODE_WEBHOOK_TIMEOUT: "30" };
  expect(resolveConfig(runOptions, { flags: {}, environment })).toMatchObject({
    webhookRetries: ["1s", "2s"],
    webhookTimeout: 30,
  });
});
