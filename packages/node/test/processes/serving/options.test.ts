import { expect, test } from "vitest";
import { runOptions } from "../../../src/config/options.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import { DAY_MS } from "../../../src/platform/clock/durations.ts";
import { pickServingOptions } from "../../../src/processes/serving/served-data.ts";
import { toRetention } from "../../../src/processes/serving/webhook-options.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../../src/webhooks/options.ts";

const resolved = (flags: Readonly<Record<string, string>>) =>
  resolveConfig(runOptions, { flags, environment: {} });

test("The option determines how long deliveries are kept, failed ones for 30 days at least.", () => {
  const { retention } = DEFAULT_WEBHOOK_OPTIONS;
  expect(toRetention(resolved({}))).toEqual(retention);
  expect(toRetention(resolved({ webhookLogDays: "2" }))).toEqual({ ...retention, maxAgeMs: 2 * DAY_MS });
  const { maxAgeMs, maxFailedAgeMs } = toRetention(resolved({ webhookLogDays: "90" }));
  expect([maxAgeMs, maxFailedAgeMs]).toEqual([90 * DAY_MS, 90 * DAY_MS]);
});

test("The serving thread receives no secret of the options.", () => {
  const secrets = Object.values(runOptions).filter((option) => "secret" in option);
  const flags = {
    ...Object.fromEntries(secrets.map(({ name }) => [name, "a secret"])),
    mirror: "postgres://127.0.0.1/a secret",
  };
  const options = pickServingOptions(resolved(flags));
  expect(secrets.length).toBeGreaterThan(3);
  expect(JSON.stringify(options)).not.toContain("a secret");
  expect(options).toMatchObject({ httpPort: 4003, webhookLimit: 1_000, poolMaxPerRequest: 40 });
});
