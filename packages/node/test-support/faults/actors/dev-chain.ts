/** A dev chain in the real process, whose changes are recorded: the node of the scenarios `webhooks` and `cluster`. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { freePort } from "../../peers/world.ts";
import { connect } from "../../process/client.ts";
import { apiUrlOf, type SpawnOptions } from "../../process/uniknode.ts";
import { until } from "../../process/until.ts";
import type { Random } from "../../random.ts";
import { beginChronicle, Chronicle } from "../checks/chronicle.ts";
import type { Run } from "../scenario.ts";
import { Member } from "./member.ts";

/** Token of every process. */
export const TOKEN = "faults";
/** Deepest reorganisation of a run. */
export const MAX_DEPTH = 50;
const SHALLOW_DEPTH = 5;

type Body = { readonly data?: unknown; readonly meta?: { readonly next: string | null } };

/** Requests to the register of webhooks and to the dev chain. */
export class Control {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws {Error} if there is no response, or its status is unexpected */
  async send(method: string, path: string, body?: unknown, expected = [200]): Promise<Body> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: TOKEN, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(expected.includes(response.status), `${method} ${path} returned ${response.status}: ${text}`);
    return JSON.parse(text) as Body;
  }

  /** Returns `data` of the response, as does `get`. */
  async post(path: string, body: unknown = {}, expected = [200, 201]): Promise<unknown> {
    return (await this.send("POST", path, body, expected)).data;
  }

  async get(path: string): Promise<unknown> {
    return (await this.send("GET", path)).data;
  }

  /** Returns `data` of every page. */
  async list<T>(path: string): Promise<T[]> {
    const entries: T[] = [];
    for (let next: string | null = path; next !== null; ) {
      const page = await this.send("GET", next);
      entries.push(...(page.data as T[]));
      next = page.meta?.next ?? null;
    }
    return entries;
  }
}

export type DevChain = Awaited<ReturnType<typeof startDevChain>>;

/** Starts a chain with enough blocks for the deepest reorganisation. */
export async function startDevChain(
  { folder, faults }: Pick<Run, "folder" | "faults">,
  args: readonly string[],
  spawn: SpawnOptions = {},
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(folder, "data");
  mkdirSync(data);
  const node = new Member({
    name: "node",
    args: [
      ...["dev", "--data", data, "--http-port", `${port}`, "--block-time", "1", "--webhook-token", TOKEN],
      ...args,
    ],
    ...{ spawn, ready: apiUrlOf, faults },
  });
  try {
    await node.start();
    const path = join(data, "node.sqlite");
    beginChronicle(path);
    const control = new Control(url);
    // On a busy machine, a request for all of them would take too long.
    for (let height = 0; height <= MAX_DEPTH; height += SHALLOW_DEPTH)
      await control.post("/api/dev/mine", { blocks: SHALLOW_DEPTH });
    // On a busy machine, the first response may take longer than its own timeout.
    const client = await until(`no response of ${url}`, () => connect(url));
    const database = openDatabase(path, { readonly: true });
    const chronicle = new Chronicle(database);
    return { node, port, url, data, control, client, chronicle, database };
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
export function reorganise(control: Control, random: Random): Promise<unknown> {
  const depth = random.chance(0.2)
    ? random.integer(SHALLOW_DEPTH + 1, MAX_DEPTH)
    : random.integer(1, SHALLOW_DEPTH);
  const blocks = depth + random.integer(1, 2);
  return control.post("/api/dev/reorg", { depth, blocks, transactions: random.chance(0.7) }, [200, 422]);
}
