/** A dev chain that delivers webhooks, its mirror, delivery workers, and a receiver: real processes for hand-overs. */
import assert from "node:assert/strict";
import { EVERY_EVENT } from "@uniknode/client";
import { readCopy } from "../../src/mirror/events/rows.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { type MirroredDevChain, startMirroredDevChain, TOKEN } from "../mirror/dev-chain.ts";
import { type Ended, type Running, spawnUniknode } from "../process/uniknode.ts";
import { until } from "../process/until.ts";
import {
  checkDeliveries,
  type Expected,
  followBlocks,
  type Message,
  type Receiver,
  startReceiver,
} from "./receiver.ts";

export type Owner = "workers" | "node";

export type Registered = { readonly id: number; readonly path: string };

export type HandOverChain = Pick<
  MirroredDevChain,
  "url" | "postgres" | "databaseUrl" | "nodeDatabase" | "command" | "restartNode"
> & {
  readonly receiver: Receiver;
  /** Registers a webhook at the receiver, at the node or an API server. */
  register(path: string, body: object, url?: string): Promise<Registered>;
  /** Calls a route of the register. */
  call(
    method: string,
    path: string,
    body?: object,
    url?: string,
  ): Promise<{ status: number; body: unknown; headers: Headers }>;
  startWorker(name: string, ...args: string[]): Running;
  startServer(): Promise<string>;
  stop(process: Running): Promise<void>;
  /** Starts a hand-over command. */
  spawnHandOver(to: Owner, ...args: string[]): Running;
  /** Hands the webhooks over; the command must succeed. */
  handOver(to: Owner, ...args: string[]): Promise<Ended>;
  /**
   * Waits until all events up to now were matched, and the receiver has every delivery of a webhook.
   *
   * @param isConfirmed true if the webhook waits for confirmations: it does not receive the last block
   */
  arrived(webhook: Registered, isConfirmed?: boolean): Promise<unknown>;
  /** Waits as `arrived`, checks the deliveries of a webhook that follows blocks, and compares them with the chain. */
  checkBlocks(webhook: Registered, options: Checked): Promise<Message[]>;
  close(): Promise<void>;
};

type Checked = Pick<Expected, "isStrict"> & { readonly isConfirmed?: boolean };

export type HandOverChainOptions = {
  readonly nodeArgs?: readonly string[];
  /** Arguments of workers and hand-overs. */
  readonly keyArgs?: readonly string[];
};

/** Short pauses, so that retries are soon due. */
export const DELIVERY_ARGS = ["--webhook-timeout", "2", "--webhook-retries", "1s,1s,1s,1s,1s,1s,1s,1s"];

export async function startHandOverChain({
  nodeArgs = [],
  keyArgs = [],
}: HandOverChainOptions = {}): Promise<HandOverChain> {
  const chain = await startMirroredDevChain({ nodeArgs: [...DELIVERY_ARGS, ...nodeArgs] });
  const receiver = await startReceiver();
  chain.startMirror();
  await chain.followed();
  await until("the copy of the events", async () => (await readCopy(chain.postgres)).isStarted);
  const { url, postgres, databaseUrl, command, restartNode } = chain;
  const context = { url, postgres, receiver, nodeDatabase: chain.nodeDatabase };
  const processes = createProcesses(chain, keyArgs);
  const call = (method: string, path: string, body?: object, base = url) => request(base, method, path, body);
  return {
    ...{ url, postgres, databaseUrl, command, restartNode, receiver, call, ...processes },
    nodeDatabase: chain.nodeDatabase,
    async register(path, body, base = url) {
      const target = `${receiver.url}/${path}`;
      const { status, body: response } = await call(
        "POST",
        "/webhooks",
        { target, conditions: [EVERY_EVENT], ...body },
        base,
      );
      assert.equal(status, 201, JSON.stringify(response));
      return { id: (response as { data: { id: number } }).data.id, path };
    },
    arrived: (webhook, isConfirmed = false) => arrived(context, webhook, isConfirmed),
    checkBlocks: (webhook, options) => checkBlocks(context, webhook, options),
    async close() {
      await processes.killAll();
      await receiver.close();
      await chain.closeAll();
    },
  };
}

type Processes = Pick<
  HandOverChain,
  "spawnHandOver" | "handOver" | "startWorker" | "startServer" | "stop"
> & { killAll(): Promise<void> };

function createProcesses({ url, databaseUrl }: MirroredDevChain, keyArgs: readonly string[]): Processes {
  const processes: Running[] = [];
  const spawn = (args: readonly string[]): Running => {
    const running = spawnUniknode(args);
    processes.push(running);
    return running;
  };
  const node = ["--node", url, "--token", TOKEN, "--database-url", databaseUrl, ...keyArgs];
  const spawnHandOver = (to: Owner, ...args: string[]) =>
    spawn(["webhooks", "hand-over", "--to", to, ...node, ...args]);
  return {
    spawnHandOver,
    async handOver(to, ...args) {
      const ended = await spawnHandOver(to, ...args).ended;
      assert.equal(ended.code, 0, ended.stderr + ended.stdout);
      return ended;
    },
    startWorker: (name, ...args) =>
      spawn([
        ...["deliver", "--database-url", databaseUrl, "--name", name, "--operations-port", "0"],
        ...["--webhook-private-targets", ...DELIVERY_ARGS, ...keyArgs, ...args],
      ]),
    async startServer() {
      const server = spawn([
        ...["serve", ...node, "--http-port", "0", "--rate-limit", "0"],
        "--webhook-private-targets",
      ]);
      const [, base] = await server.printed(/(http:\S+)\n/);
      return present(base);
    },
    async stop({ child, ended }) {
      child.kill("SIGTERM");
      await ended;
    },
    async killAll() {
      for (const { child, ended } of processes) {
        child.kill("SIGKILL");
        await ended;
      }
    },
  };
}

async function request(base: string, method: string, path: string, body?: object) {
  const response = await fetch(`${base}/api/v2${path}`, {
    method,
    headers: { authorization: TOKEN, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === "" ? undefined : JSON.parse(text),
    headers: response.headers,
  };
}

type Context = Pick<MirroredDevChain, "url" | "postgres" | "nodeDatabase"> & Pick<HandOverChain, "receiver">;

/** Number of deliveries of a webhook, in the database of its owner. */
async function lastSequence({ postgres, nodeDatabase }: Context, { id }: Registered): Promise<number> {
  const [row] = await postgres.query<{ owner: string; last: string | null }>(
    "SELECT owner, (SELECT last_sequence FROM queues WHERE webhook = $1) AS last FROM webhook_register",
    [id],
  );
  if (row?.owner === "workers") return Number(row.last);
  const database = openDatabase(nodeDatabase, { readonly: true });
  const sql = "SELECT last_sequence AS last FROM queues WHERE webhook = ?";
  const queue = database.prepare<{ last: number }>(sql).get(id);
  database.close();
  return queue?.last ?? 0;
}

const TIMED_OUT = `SELECT sequence, count(*) AS count FROM attempts JOIN deliveries ON deliveries.number = attempts.delivery
  WHERE error = 'TimeoutError' GROUP BY webhook, sequence HAVING webhook = `;

/** Returns the number of calls that timed out, by sequence, from the log of the owner. */
async function timedOut(
  { postgres, nodeDatabase }: Context,
  { id }: Registered,
): Promise<Map<number, number>> {
  type Row = { readonly sequence: number | string | null; readonly count: number | string };
  const database = openDatabase(nodeDatabase, { readonly: true });
  const rows = [
    ...database.prepare<Row>(`${TIMED_OUT}?`).all(id),
    ...(await postgres.query<Row>(`${TIMED_OUT}$1`, [id])),
  ];
  database.close();
  return new Map(rows.map(({ sequence, count }) => [Number(sequence), Number(count)]));
}

/** Waits for all deliveries of a webhook. @returns their number */
async function arrived(context: Context, webhook: Registered, isConfirmed: boolean): Promise<number> {
  const { url, postgres, receiver } = context;
  let last = 0;
  const head = async () =>
    ((await request(url, "GET", "/blockchain")).body as { data: { block: { id: string } } }).data.block.id;
  await until(`the deliveries of ${webhook.path}`, async () => {
    const [owner] = await postgres.query<{ owner: string }>("SELECT owner FROM webhook_register");
    const before = await head();
    const [register] = await postgres.query<{ isMatched: boolean }>(
      `SELECT (SELECT min(matched) FROM shards) = last_sequence AS "isMatched" FROM event_log`,
    );
    if (owner?.owner === "workers" && !register?.isMatched) return false;
    last = await lastSequence(context, webhook);
    const messages = receiver.calls(webhook.path);
    const blocks = new Set(messages.map(({ blockId }) => blockId));
    const sequences = new Set(messages.flatMap(({ sequence }) => sequence ?? []));
    return sequences.size === last && (isConfirmed || blocks.has(before));
  });
  return last;
}

async function checkBlocks(
  context: Context,
  webhook: Registered,
  { isStrict, isConfirmed = false }: Checked,
): Promise<Message[]> {
  const { path } = webhook;
  const last = await arrived(context, webhook, isConfirmed);
  // A block that is forged meanwhile adds deliveries, of which only some have arrived.
  const calls = context.receiver.calls(path).filter(({ sequence = 0 }) => sequence <= last);
  const deliveries = checkDeliveries(path, calls, {
    last,
    isStrict,
    timedOut: await timedOut(context, webhook),
  });
  const ids = await blockIds(context.url);
  for (const [height, id] of followBlocks(path, deliveries)) {
    assert.equal(ids.get(height), id, `${path}: block ${height}`);
  }
  return deliveries;
}

/** Returns the ids of all blocks of the chain, by height. */
async function blockIds(url: string): Promise<Map<number, string>> {
  type Block = { readonly height: number | string; readonly id: string };
  type Page = { readonly data: readonly Block[]; readonly meta: { readonly next: string | null } };
  const ids = new Map<number, string>();
  // In this order, a new block does not move the others to another page.
  let path: string | undefined = "/blocks?limit=100&orderBy=height:asc";
  while (path !== undefined) {
    const { data, meta } = (await request(url, "GET", path)).body as Page;
    for (const { height, id } of data) ids.set(Number(height), id);
    path = meta.next?.replace(/^\/api(\/v2)?/, "");
  }
  return ids;
}
