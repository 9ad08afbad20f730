/**
 * A scenario as a test of Vitest, with assertions about the chain after it. Start a dev chain before, and give its token:
 *
 *   UNIKNODE_WEBHOOK_TOKEN=TOKEN npx vitest run --root examples/scenarios
 */
import { readFile } from "node:fs/promises";
import { playScenario } from "@uniknode/client/testing";
import { expect, test } from "vitest";

const { UNIKNODE_URL: url = "http://127.0.0.1:4003", UNIKNODE_WEBHOOK_TOKEN: token } = process.env;

test("a payment survives a reorganisation", { timeout: 60_000 }, async () => {
  const scenario = await readFile(new URL("payment.json", import.meta.url), "utf8");
  const chain = await playScenario(scenario, { url, token });
  const { data: payment } = await chain.client.transactions.get(chain.transactions.payment);
  expect(payment.recipient).toBe(chain.account("account 1").address);
  expect(payment.blockId).toBeDefined();
});
