/** Steps with webhooks: their registration, simulated failures, and the end of their deliveries. */
import { ApiError } from "../api/error.ts";
import { EVERY_EVENT } from "../api/every-event.ts";
import type { DeliveryRecord } from "../api/resources/webhooks/deliveries.ts";
import { sleep } from "../api/sleep.ts";
import { ScenarioError } from "./error.ts";
import { startReceiver } from "./receiver.ts";
import type { Failure, NewReceiver, Steps, WebhookName } from "./scenario.ts";
import type { Stage } from "./stage.ts";

const POLL_MS = 50;
/** Maximum of deliveries of a webhook that expectations read. */
const MAX_DELIVERIES = 10_000;

/** Registers a webhook for the time of the run, and starts its receiver unless it has a target. */
export async function webhook(stage: Stage, { name, events, target }: NewReceiver): Promise<string> {
  const { durable, webhooks, onEnd } = stage;
  const receiver = target === undefined ? await startReceiver() : undefined;
  if (receiver) onEnd(receiver.close);
  const url = receiver?.target ?? (target as string);
  const { id, token } = (
    await durable.webhooks.create({
      name: `scenario: ${name}`,
      events,
      target: url,
      conditions: [EVERY_EVENT],
    })
  ).data;
  receiver?.verifyWith(token);
  onEnd((client) => remove(client, id));
  webhooks.set(name, { id, lastDelivery: 0 });
  return `webhook ${id} delivers to ${url}`;
}

async function remove({ webhooks }: Stage["client"], id: number): Promise<void> {
  try {
    await webhooks.remove(id);
  } catch (error) {
    // Another client has already removed it.
    if (!(error instanceof ApiError) || error.code !== "API_NOT_FOUND") throw error;
  }
}

export async function fail(stage: Stage, { webhook: name, how, status, seconds }: Failure): Promise<string> {
  const failure =
    how === "refuse"
      ? { how, ...(status !== undefined && { status }) }
      : how === "delay"
        ? { how, ...(seconds !== undefined && { seconds }) }
        : { how };
  await stage.client.dev.fail(knownWebhook(stage, name).id, failure);
  return how === "not" ? "the receiver gets requests again" : "every attempt fails from now on";
}

/** Waits until every event so far is matched with the webhooks, and no delivery of this one is queued. */
export async function settle(stage: Stage, name: Steps["settle"]): Promise<string> {
  const { client, signal } = stage;
  const { id } = knownWebhook(stage, name);
  for (;;) {
    const unmatched = await unmatchedEvents(stage);
    const { queued, state, failing } = (await client.webhooks.summary(id)).data;
    if (unmatched === 0 && queued === 0) break;
    stage.waitsFor =
      unmatched > 0
        ? `${unmatched} events are not matched with the webhooks`
        : `webhook ${id} is ${state} and has ${queued} queued deliveries${failing?.reason === undefined ? "" : `: ${failing.reason}`}; check its receiver`;
    await sleep(POLL_MS, signal);
  }
  stage.waitsFor = undefined;
  return "no queued deliveries";
}

/** Reads the number of recorded events that the webhook service has not processed yet. */
async function unmatchedEvents({ client }: Stage): Promise<number> {
  const { checks } = (await client.operations.node()).data;
  const [digits] = /^\d+/.exec(checks.matcher?.detail ?? "") ?? [];
  if (digits !== undefined) return Number(digits);
  throw new ScenarioError("SCENARIO_REFUSED", "the node has no webhooks: start it without --webhooks off");
}

/** Returns the deliveries of a webhook since the start of the run, the newest first. */
export async function deliveriesOf(stage: Stage, name: WebhookName): Promise<DeliveryRecord[]> {
  const { id, lastDelivery } = knownWebhook(stage, name);
  const records: DeliveryRecord[] = [];
  for await (const record of stage.client.webhooks.deliveries(id)) {
    if (record.id <= lastDelivery) break;
    if (records.length === MAX_DELIVERIES) {
      throw new ScenarioError(
        "SCENARIO_EXPECTATION",
        `webhook ${id} has more than ${MAX_DELIVERIES} deliveries: expect them in shorter scenarios`,
      );
    }
    records.push(record);
  }
  return records;
}

function knownWebhook({ webhooks }: Stage, name: WebhookName) {
  const known = webhooks.get(name);
  if (known) return known;
  throw new ScenarioError("SCENARIO_INVALID", `no earlier step has a webhook with the name "${name}"`);
}
