/** Compares the chain and its deliveries with the expectations of a scenario. */
import { tokensOf, unitsOf } from "./amounts.ts";
import { ScenarioError } from "./error.ts";
import type { CountedEvent, Expectation } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import { balanceOf } from "./transactions.ts";
import { deliveriesOf, settle } from "./webhook-steps.ts";

/** @throws {ScenarioError} SCENARIO_EXPECTATION */
export async function expect(stage: Stage, expectation: Expectation): Promise<string> {
  if ("height" in expectation) return expectHeight(stage, expectation.height);
  if ("balance" in expectation) return expectBalance(stage, expectation.balance);
  if ("delivered" in expectation) return expectCount(stage, "delivered", expectation.delivered);
  return expectCount(stage, "retracted", expectation.retracted);
}

async function expectHeight({ client, start }: Stage, height: number | string): Promise<string> {
  const expected = typeof height === "number" ? height : start.height + Number(height);
  const found = (await client.dev.snapshot()).data.head.height;
  return compare(`height ${expected}`, `height ${found}`);
}

async function expectBalance(
  { client, names, balances }: Stage,
  { of, is }: { readonly of: string; readonly is: string },
): Promise<string> {
  const address = names.address(of);
  const base = /^[+-]/.test(is) ? (balances.get(address) ?? 0n) : 0n;
  const [expected, found] = [base + unitsOf(is), await balanceOf(client, address)];
  return compare(
    `${of} to have ${tokensOf(expected)}`,
    `${of} to have ${tokensOf(found)}`,
    `${of} has ${tokensOf(found)}`,
  );
}

async function expectCount(
  stage: Stage,
  what: "delivered" | "retracted",
  { webhook, event, count }: CountedEvent,
): Promise<string> {
  await settle(stage, webhook);
  const found = await countOf(stage, what, { webhook, event });
  const text = (count: number | string) => `${count} ${event} ${what}`;
  if (count === undefined && found > 0) return text(found);
  return compare(text(count ?? "at least 1"), text(found));
}

async function countOf(
  stage: Stage,
  what: "delivered" | "retracted",
  { webhook, event }: CountedEvent,
): Promise<number> {
  const records = await deliveriesOf(stage, webhook);
  const isDelivered = records.filter(({ state }) => state === "delivered");
  const facts = records.filter((record) => record.event === event && record.reverts === undefined);
  if (what === "delivered") return facts.filter(({ state }) => state === "delivered").length;
  const retracted = new Set(isDelivered.map(({ reverts }) => reverts));
  return facts.filter(({ messageId }) => retracted.has(messageId)).length;
}

function compare(expected: string, found: string, shown = found): string {
  if (expected === found) return shown;
  throw new ScenarioError("SCENARIO_EXPECTATION", `expected ${expected}, but found ${shown}`, {
    expected,
    found: shown,
  });
}
