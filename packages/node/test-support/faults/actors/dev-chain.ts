/** A dev chain in the real process, whose changes are recorded: the node of the scenarios `webhooks` and `cluster`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { freePort } from "../../peers/world.ts";
import { apiUrlOf, type SpawnOptions, spawnUniknode } from "../../process/uniknode.ts";
import type { Random } from "../../random.ts";
import { beginChronicle, openChronicle } from "../checks/chronicle.ts";
import type { Run } from "../scenario.ts";
import { type Control, connectTo, createControl, TOKEN } from "./control.ts";
import { createMember } from "./member.ts";

export type DevChain = Awaited<ReturnType<typeof startDevChain>>;

/** Deepest reorganisation of a run. */
export const MAX_DEPTH = 50;
const SHALLOW_DEPTH = 5;

/** Starts a chain with enough blocks for the deepest reorganisation. */
export async function startDevChain(
  { folder, faults }: Pick<Run, "folder" | "faults">,
  args: readonly string[],
  options: SpawnOptions = {},
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(folder, "data");
  mkdirSync(data);
  const command = [
    ...["dev", "--data", data, "--http-port", `${port}`, "--block-time", "1", "--webhook-token", TOKEN],
    ...args,
  ];
  const spawn = () => spawnUniknode(command, options);
  const node = createMember({ name: "node", spawn, ready: apiUrlOf, faults });
  try {
    await node.start();
    beginChronicle(data);
    const control = createControl(url);
    // On a busy machine, a request for all of them would take too long.
    for (let height = 0; height <= MAX_DEPTH; height += SHALLOW_DEPTH)
      await control.post("/api/dev/mine", { blocks: SHALLOW_DEPTH });
    const client = await connectTo(url);
    const chronicle = openChronicle(data);
    const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
    return {
      ...{ node, port, url, data, control, client, chronicle, database },
      async close() {
        await node.end("SIGKILL");
        database.close();
        chronicle.close();
      },
    };
  } catch (error) {
    await node.end("SIGKILL");
    throw error;
  }
}

/** Mostly shallow, sometimes as deep as allowed. */
export function reorganise(control: Control, random: Random): Promise<unknown> {
  const depth = random.chance(0.2)
    ? random.integer(SHALLOW_DEPTH + 1, MAX_DEPTH)
    : random.integer(1, SHALLOW_DEPTH);
  const blocks = depth + random.integer(1, 2);
  return control.post("/api/dev/reorg", { depth, blocks, transactions: random.chance(0.7) }, [200, 422]);
}
