/** A dev chain in the real process, whose changes are recorded: the node of the scenarios `webhooks` and `cluster`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@uniknode/client";
import { networkFilesFromJson } from "@uniknode/protocol";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { freePort } from "../../peers/world.ts";
import type { SpawnOptions } from "../../process/uniknode.ts";
import { until, WAIT_MS } from "../../process/until.ts";
import type { Random } from "../../random.ts";
import { beginChronicle, Chronicle } from "../checks/chronicle.ts";
import type { Run } from "../scenario.ts";
import { Member } from "./member.ts";

export const TOKEN = "faults";
/** Deepest reorganisation of a run. */
export const MAX_DEPTH = 50;
const SHALLOW_DEPTH = 5;

/** Client of a node, which sends each request once. */
export const clientOf = (url: string): Client =>
  createClient({ url, webhookToken: TOKEN, retries: 0, timeoutMs: WAIT_MS });

export type DevChain = Awaited<ReturnType<typeof startDevChain>>;

/** Starts a chain with enough blocks for the deepest reorganisation. */
export async function startDevChain({ folder, faults }: Run, args: readonly string[], spawn?: SpawnOptions) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(folder, "data");
  mkdirSync(data);
  const path = join(data, "node.sqlite");
  const node = new Member({
    name: "node",
    args: [
      ...["dev", "--data", data, "--http-port", `${port}`, "--block-time", "1", "--webhook-token", TOKEN],
      ...args,
    ],
    faults,
    ...(spawn && { spawn }),
  });
  try {
    await node.start();
    beginChronicle(path);
    const client = clientOf(url);
    // On a busy machine, a request for all of them would take too long.
    for (let height = 0; height <= MAX_DEPTH; height += SHALLOW_DEPTH)
      await client.dev.mine({ blocks: SHALLOW_DEPTH });
    // On a busy machine, the first response may take longer than its own timeout.
    const configuration = await until(`no response of ${url}`, () => client.node.cryptoConfiguration());
    const database = openDatabase(path, { readonly: true });
    const chronicle = new Chronicle(database);
    const files = networkFilesFromJson(configuration.data);
    return { node, port, url, data, client, files, chronicle, database };
  } catch (error) {
    await node.end("SIGKILL");
    throw error;
  }
}

export async function closeDevChain({ node, database }: DevChain): Promise<void> {
  await node.end("SIGKILL");
  database.close();
}

/** Mostly shallow, sometimes as deep as allowed. */
export function reorganise(client: Client, random: Random): Promise<unknown> {
  const depth = random.chance(0.2)
    ? random.integer(SHALLOW_DEPTH + 1, MAX_DEPTH)
    : random.integer(1, SHALLOW_DEPTH);
  const blocks = depth + random.integer(1, 2);
  return client.dev.reorg({ depth, blocks, transactions: random.chance(0.7) });
}
