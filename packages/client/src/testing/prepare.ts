/** Prepares a dev chain for a scenario, and returns it to its former state afterwards. */
import { createNetwork, networkFilesFromJson } from "@uniknode/protocol";
import { type Client, createClient } from "../api/client.ts";
import { createNames, type Names } from "./names.ts";
import { type Scenario, verbOf } from "./scenario.ts";
import type { Ending, Stage } from "./stage.ts";
import { balanceOf } from "./transactions.ts";

/** The dev chain of a run. */
export type Target = {
  /** Base URL of the dev chain. */
  readonly url: string;
  /** Webhook token of the dev chain. */
  readonly token: string;
};

export type PreparedStage = Stage & {
  /** Removes the webhooks of the run, and resumes forging if it was on. */
  readonly end: () => Promise<void>;
};

type PrepareOptions = Target & {
  /** Timeout of each request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** Pauses forging, so that a scenario has the same blocks in each run, and reads what the steps compare with. */
export async function prepare(
  { url, token, timeoutMs, signal }: PrepareOptions,
  { steps }: Scenario,
): Promise<PreparedStage> {
  const client = createClient({ url, webhookToken: token, timeoutMs, signal });
  const durable = createClient({ url, webhookToken: token });
  const network = createNetwork(networkFilesFromJson((await client.node.cryptoConfiguration()).data));
  const accounts = (await client.dev.accounts()).data;
  const { forging } = (await client.dev.snapshot()).data;
  // The chain forges until this response: an earlier head would not be the start.
  const { head } = (await client.dev.forge({ enabled: false })).data;
  const endings: Ending[] = [async ({ dev }) => void (forging && (await dev.forge({ enabled: true })))];
  const end = () => runAll(endings.toReversed(), durable);
  const names = createNames(accounts, network.description.pubKeyHash, head.id);
  const webhooks: Stage["webhooks"] = new Map();
  try {
    const balances = await balancesOf(client, names, steps);
    for (const id of webhookIds(steps)) webhooks.set(id, await knownWebhook(client, id));
    return {
      ...{ client, durable, network, names, signal, balances, webhooks, start: head },
      transactions: new Map(),
      snapshots: new Map(),
      onEnd: (ending) => void endings.push(ending),
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Runs every ending, also after one that fails, and then rejects with the first failure. */
async function runAll(endings: readonly Ending[], client: Client): Promise<void> {
  const failures: unknown[] = [];
  for (const ending of endings) await ending(client).catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Balances that expectations compare with. */
async function balancesOf(
  client: Client,
  names: Names,
  steps: Scenario["steps"],
): Promise<Map<string, bigint>> {
  const addresses = steps.flatMap((step) => {
    const [verb, value] = verbOf(step);
    return verb === "expect" && "balance" in value ? [names.address(value.balance.of)] : [];
  });
  const balances = new Map<string, bigint>();
  for (const address of new Set(addresses)) balances.set(address, await balanceOf(client, address));
  return balances;
}

/** Ids of webhooks that exist before the scenario. */
function webhookIds(steps: Scenario["steps"]): Set<number> {
  const ids = steps.flatMap((step) => {
    const [verb, value] = verbOf(step);
    if (verb === "settle") return [value];
    if (verb === "fail") return [value.webhook];
    if (verb !== "expect") return [];
    return "delivered" in value
      ? [value.delivered.webhook]
      : "retracted" in value
        ? [value.retracted.webhook]
        : [];
  });
  return new Set(ids.filter((id) => typeof id === "number"));
}

async function knownWebhook({ webhooks }: Client, id: number) {
  await webhooks.get(id);
  const { data } = await webhooks.deliveries(id).page({ limit: 1 });
  return { id, lastDelivery: data[0]?.id ?? 0 };
}
