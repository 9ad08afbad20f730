/** Steps that command the dev chain. */
import { ScenarioError } from "./error.ts";
import type { Steps } from "./scenario.ts";
import type { Stage } from "./stage.ts";

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };

export async function mine({ client }: Stage, blocks: number): Promise<string> {
  return `head at height ${(await client.dev.mine({ blocks })).data.head.height}`;
}

export async function travel({ client }: Stage, duration: string): Promise<string> {
  const unit = SECONDS[duration.at(-1) as keyof typeof SECONDS];
  const { now } = (await client.dev.travel({ seconds: Number(duration.slice(0, -1)) * unit })).data;
  return `the time of the chain is ${now.human}`;
}

export async function reorganise(stage: Stage, branch: Steps["reorganise"]): Promise<string> {
  const { without, ...options } = typeof branch === "number" ? { depth: branch } : branch;
  const omitted = without?.map((name) => definedIn(stage.transactions, name));
  const { data } = await stage.client.dev.reorg({ ...options, ...(omitted && { without: omitted }) });
  return `${data.reverted.length} reverted, ${data.applied.length} applied, head at height ${data.head.height}`;
}

export async function snapshot({ client, snapshots }: Stage, name: string): Promise<string> {
  const { id, head } = (await client.dev.snapshot()).data;
  snapshots.set(name, id);
  return `height ${head.height}`;
}

export async function restore(stage: Stage, target: string | number): Promise<string> {
  const id =
    typeof target === "string" ? definedIn(stage.snapshots, target) : await blockBelowHead(stage, target);
  const { reverted, head } = (await stage.client.dev.restore(id)).data;
  return `${reverted.length} reverted, head at height ${head.height}`;
}

async function blockBelowHead({ client }: Stage, blocks: number): Promise<string> {
  const { head } = (await client.dev.snapshot()).data;
  if (head.height <= blocks) {
    throw new ScenarioError(
      "SCENARIO_REFUSED",
      `the chain has ${head.height} blocks: restore fewer than ${blocks}, or mine before`,
    );
  }
  return (await client.blocks.get(head.height - blocks)).data.id;
}

/** Returns a value that an earlier step has stored; a step with an expected refusal stores none. */
function definedIn<V>(values: ReadonlyMap<string | number, V>, name: string): V {
  const value = values.get(name);
  if (value === undefined)
    throw new ScenarioError("SCENARIO_INVALID", `"${name}" is not defined by an earlier step`);
  return value;
}
