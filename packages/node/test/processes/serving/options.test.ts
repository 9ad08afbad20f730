import { expect, test } from "vitest";
import { runOptions } from "../../../src/config/options.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import { pickServingOptions } from "../../../src/processes/serving/options.ts";
import { toRetention } from "../../../src/processes/serving/webhook-options.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../../src/webhooks/options.ts";

const resolved = (flags: Readonly<Record<string, string>>) =>
  resolveConfig(runOptions, { flags, environment: {} });

test("The options determine how long and how many deliveries are kept.", () => {
  const { retention } = DEFAULT_WEBHOOK_OPTIONS;
  expect(toRetention(resolved({}))).toEqual(retention);
  const flags = { webhookLogDays: "2", webhookLogSize: "5000", webhookQueueSize: "4000" };
  expect(toRetention(resolved(flags))).toEqual({
    ...retention,
    maxAgeMs: 2 * 86_400_000,
    maxDeliveries: 5_000,
    maxWaiting: 4_000,
  });
  const { maxFailedAgeMs } = toRetention(resolved({ webhookLogDays: "90" }));
  expect(maxFailedAgeMs).toBe(90 * 86_400_000);
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
