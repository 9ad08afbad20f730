/**
 * `npm run paths [-- NAME]`
 *
 * Follows four paths through a running node, and prints how many files and functions of the packages each calls. With the name of a
 * path, prints these files in the order of their first call, with their functions: the way that a reader follows.
 *
 * Not counted: functions that timers and peers also call while nothing happens; what a peer asks before it sends the block; and what
 * follows the end of a path, such as the broadcast of a pending transaction, or the recheck of the pool after a commit.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSlots } from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { createWorld, type World } from "../../packages/node/test-support/peers/world.ts";
import { type Client, connect, transferOf } from "../../packages/node/test-support/process/client.ts";
import { until } from "../../packages/node/test-support/process/until.ts";
import { orUsage } from "../arguments.ts";
import { readTrace, tracer } from "./trace.ts";

/** Period in which a path is taken, in milliseconds since 1970. */
type Period = { readonly from: number; readonly to: number };

const NAMES = ["page", "submission", "block", "event"] as const;
type Name = (typeof NAMES)[number];

type Mark = { readonly file: string; readonly name: string };

/** Function whose first call begins what follows the path. */
const ENDS: Partial<Readonly<Record<Name, Mark>>> = {
  submission: { file: "packages/node/src/peers/peers.ts", name: "broadcastTransactions" },
  block: { file: "packages/node/src/chain/writer.ts", name: "announce" },
};
/** The path of a block begins with the last frame before the call that passes the block on. */
const FRAME: Mark = { file: "packages/node/src/peers/transport/session.ts", name: "process" };
const BLOCK_RECEIVED: Mark = { file: "packages/node/src/peers/inbound-blocks.ts", name: "post" };

const TITLES: Readonly<Record<Name, string>> = {
  page: "GET /blocks?limit=5",
  submission: "a submission, until it is pending",
  block: "a block with a transfer, received to committed",
  event: "an event, until it is delivered (without the files of the block)",
};
const BLOCK_TIME_SECONDS = 4;
/** The other node forges at the beginning of a slot, and the block arrives at once. */
const BLOCK_MS = 400;
const QUIET_AFTER_MS = 1_500;
const WARM_REQUESTS = 50;
/** Timers and peers call functions in such a period; they belong to no path. */
const IDLE_MS = 1_000;
const TOKEN = "paths";

/** Takes each path twice, of which the second one counts: by then modules are loaded and caches filled. */
async function takePaths(world: World, traced: { readonly url: string; readonly client: Client }) {
  const { url, client } = traced;
  const slots = createSlots(client.network);
  const { rich } = world;
  let nonce = 0n;

  async function during(work: () => Promise<unknown>): Promise<Period> {
    const from = Date.now();
    await work();
    return { from, to: Date.now() };
  }

  const nextSlotMs = () => slots.unixMsOf(slots.slotTime(slots.slotAt(slots.timeAt(Date.now())) + 1));
  /** Waits for a time at which no block arrives. */
  const betweenBlocks = () => sleep(nextSlotMs() + QUIET_AFTER_MS - Date.now());

  async function submit(): Promise<void> {
    const { accepted } = await client.submit([transferOf(client.network, rich, rich.address, ++nonce)]);
    if (accepted.length !== 1) throw new Error("the node refused the transfer");
  }

  async function nextBlock(): Promise<Period> {
    const from = nextSlotMs();
    await sleep(from + BLOCK_MS - Date.now());
    return { from, to: from + BLOCK_MS };
  }

  // Other pages than the measured one, whose response would come from a cache.
  for (let index = 0; index < WARM_REQUESTS; index++) await client.get(`/api/v2/blocks?limit=${6 + index}`);
  await betweenBlocks();
  const idle = await during(() => sleep(IDLE_MS));
  await betweenBlocks();
  const page = await during(() => client.get("/api/v2/blocks?limit=5"));
  await submit();
  await nextBlock();
  await betweenBlocks();
  const submission = await during(submit);
  const block = await nextBlock();

  const { delivered, close } = await receiveTransactions(url);
  let event = block;
  for (const round of [1, 2]) {
    await submit();
    event = await nextBlock();
    await until("the event was not delivered", () => delivered() >= round);
  }
  close();
  return { page, submission, block, event, idle };
}

/** Registers a webhook of a receiver that counts its deliveries. */
async function receiveTransactions(url: string) {
  let delivered = 0;
  const receiver = createServer((request, response) => {
    delivered++;
    request.resume();
    response.end();
  }).listen(0, "127.0.0.1");
  await until("the receiver does not listen", () => receiver.listening);
  const { port } = receiver.address() as { port: number };
  const registered = await fetch(`${url}/api/webhooks`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: TOKEN },
    body: JSON.stringify({
      event: "transaction.applied",
      target: `http://127.0.0.1:${port}/`,
      conditions: [{ key: "amount", condition: "gte", value: 0 }],
    }),
  });
  if (!registered.ok) throw new Error(`the webhook was refused: ${await registered.text()}`);
  return { delivered: () => delivered, close: () => receiver.close() };
}

type Trace = ReturnType<typeof readTrace>;

/** Returns the times at which a function was called in a period. */
function timesOf(trace: Trace, mark: Mark, { from, to }: Period): number[] {
  const found = trace.filter(({ file, name }) => file === mark.file && name === mark.name);
  const times = found.flatMap(({ calls }) => calls).filter((ms) => ms >= from && ms <= to);
  if (times.length === 0) throw new Error(`${mark.name} in ${mark.file} was not called`);
  return times;
}

/** Returns the part of a period in which the path is taken. */
function boundsOf(trace: Trace, path: Name, period: Period): Period {
  const end = ENDS[path];
  const to = end ? Math.min(...timesOf(trace, end, period)) : period.to;
  if (path !== "block") return { ...period, to };
  const receivedAt = Math.min(...timesOf(trace, BLOCK_RECEIVED, period));
  return { from: Math.max(...timesOf(trace, FRAME, { ...period, to: receivedAt })), to };
}

type Step = { readonly file: string; readonly functions: readonly string[] };

/** Returns the files that were called in a period, in the order of their first call, with their functions. */
function stepsIn(trace: Trace, { from, to }: Period): Step[] {
  const called = trace
    .map(({ file, name, calls }) => ({ file, name, at: calls.find((ms) => ms >= from && ms <= to) }))
    .filter(({ at }) => at !== undefined)
    .sort((one, other) => present(one.at) - present(other.at));
  return [...Map.groupBy(called, ({ file }) => file)].map(([file, functions]) => ({
    file,
    functions: functions.map(({ name }) => name),
  }));
}

const [name] = orUsage(`usage: npm run paths [-- ${NAMES.join("|")}]`, process.argv.slice(2), () => {
  const names = process.argv.slice(2);
  if (names.some((given) => !NAMES.includes(given as Name))) throw new Error(`there is no path ${names}`);
  return names as Name[];
});
const folder = mkdtempSync(join(tmpdir(), "uniknode-paths-"));
const world = await createWorld({ nodes: 1, blocktime: BLOCK_TIME_SECONDS });
try {
  await world.start(0);
  Object.assign(process.env, tracer(folder));
  const { url } = await world.start(1, "--webhook-token", TOKEN, "--webhook-private-targets");
  const client = await connect(url);
  await until("the traced node has no block", async () => {
    const { block } = (await client.get("/api/blockchain")) as { block: { height: number } };
    return block.height > 2;
  });
  const periods = await takePaths(world, { url, client });
  await sleep(500);
  const { idle } = periods;
  const recorded = readTrace(folder);
  const trace = recorded.filter(({ calls }) => !calls.some((ms) => ms >= idle.from && ms <= idle.to));
  const blockFiles = new Set(stepsIn(trace, periods.block).map(({ file }) => file));
  const steps = (path: Name): Step[] =>
    stepsIn(trace, boundsOf(recorded, path, periods[path])).filter(
      ({ file }) => path !== "event" || !blockFiles.has(file),
    );
  if (name === undefined) {
    for (const path of NAMES) {
      const found = steps(path);
      const functions = found.reduce((sum, step) => sum + step.functions.length, 0);
      console.log(`${path.padEnd(12)}${found.length} files, ${functions} functions: ${TITLES[path]}`);
    }
  } else {
    console.log(TITLES[name]);
    for (const { file, functions } of steps(name)) console.log(`${file}\n  ${functions.join(", ")}`);
  }
} finally {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
}
