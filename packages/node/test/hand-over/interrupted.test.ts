/** Hand-overs that are killed, cancelled, repeated or impossible: at every moment at most one side sends. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { createLastSequence } from "../../src/store/events/event-log.ts";
import { lockOwner } from "../../src/webhooks/postgres/hand-over/owner.ts";
import { returnToWorkers } from "../../test-support/faults/cluster/cluster.ts";
import {
  type HandOverChain,
  type Owner,
  type Registered,
  startHandOverChain,
} from "../../test-support/hand-over/chain.ts";
import { disturb } from "../../test-support/hand-over/disturbances.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import type { Running } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";
import { createDraws } from "../../test-support/random.ts";

const BLOCKS = { event: "block.applied" } as const;
const KILLS = 2;
/** The longest one: tests do not respond to calls until a command has begun, or has ended. */
const TIMEOUT = ["--webhook-timeout", "60"];

let chain: HandOverChain;
let strict: Registered;
let parallel: Registered;
let workers: Running[];
let hasFailed = false;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startHandOverChain({ nodeArgs: TIMEOUT });
  strict = await chain.register("strict", { ...BLOCKS, order: "strict" });
  parallel = await chain.register("parallel", BLOCKS);
  workers = ["w1", "w2"].map((name) => chain.startWorker(name, ...TIMEOUT));
});
afterAll(() => chain?.close());
// The commands of a test that failed or timed out go on, and the owner is no longer the one that the next test expects.
beforeEach(({ skip }) => skip(hasFailed, "an earlier test of this chain has failed"));
afterEach(({ task }) => {
  hasFailed ||= task.result?.state === "fail";
});

async function ownerOf(): Promise<readonly [node: string, workers: string]> {
  const { body } = await chain.call("GET", "/internal/webhooks/owner");
  const [row] = await chain.postgres.query<{ owner: string }>("SELECT owner FROM webhook_register");
  return [(body as { data: { state: string } }).data.state, `${row?.owner}`];
}

/** Waits until the states of both sides are these. */
const reached = (node: string, ofWorkers: string) =>
  until(`${node}, ${ofWorkers}`, async () => `${await ownerOf()}` === `${node},${ofWorkers}`);

/** Waits until a hand-over has begun. */
const begun = (to: Owner) => until("a hand-over", async () => (await ownerOf()).includes(`to ${to}`));

/** Waits until workers own all shards. */
const claimed = () =>
  until("the workers", async () => {
    const [row] = await chain.postgres.query<{ owned: number }>(
      "SELECT count(owner)::integer AS owned FROM shards",
    );
    return row?.owned === 32;
  });

/** Starts a hand-over that waits for a call of the former owner. */
async function startWaiting(to: Owner): Promise<Running> {
  if (to === "node") await claimed();
  const { length } = chain.receiver.calls("strict");
  chain.receiver.respond("strict", undefined);
  await chain.command("mine", { blocks: 1 });
  await until("a call", () => chain.receiver.calls("strict").length > length);
  const waiting = chain.spawnHandOver(to);
  await reached(`to ${to}`, `to ${to}`);
  return waiting;
}

/** Kills a hand-over while it waits for a call of the former owner. */
async function killWaiting(to: Owner): Promise<void> {
  const waiting = await startWaiting(to);
  waiting.child.kill("SIGKILL");
  await waiting.ended;
  chain.receiver.respond("strict", 204);
}

/** Kills a hand-over to the node when the node has everything, and the database has not dropped its rows. */
async function killBeforeLastStep(): Promise<void> {
  const killed = await startWaiting("node");
  await chain.postgres.transaction("READ WRITE", async (transaction) => {
    await lockOwner(transaction);
    chain.receiver.respond("strict", 204);
    await reached("node", "to node");
    killed.child.kill("SIGKILL");
    await killed.ended;
  });
}

/** Names of the processes with a lease. */
const leases = async (): Promise<string[]> =>
  (await chain.postgres.query<{ name: string }>("SELECT name FROM delivery_workers ORDER BY name")).map(
    ({ name }) => name,
  );

async function checkAll(): Promise<void> {
  for (const webhook of [strict, parallel]) {
    await chain.command("mine", { blocks: 2 });
    await chain.checkBlocks(webhook, { isStrict: webhook === strict });
  }
}

describe.skipIf(!hasPostgres)("a hand-over", () => {
  test(`A hand-over whose command is killed at ${KILLS} moments is completed by the next one, and loses nothing.`, async () => {
    const { integer } = createDraws(11);
    const disturbances = disturb(chain, 3);
    let kills = 0;
    let durationMs = 2_000;
    for (let to: Owner = "workers"; kills < KILLS; to = to === "workers" ? "node" : "workers") {
      // Every other one while it waits for a call of the former owner; the others at random.
      const isWaiting = kills % 2 === 0;
      if (isWaiting) {
        chain.receiver.respond("strict", undefined);
        await chain.command("mine", { blocks: 1 });
      }
      const killed = chain.spawnHandOver(to);
      const moment = isWaiting ? begun(to) : sleep(integer(durationMs / 5, durationMs));
      const isEnded = await Promise.race([killed.ended.then(() => true), moment.then(() => false)]);
      if (!isEnded) {
        killed.child.kill("SIGKILL");
        kills++;
      }
      chain.receiver.respond("strict", 204);
      await killed.ended;
      const startMs = performance.now();
      await chain.handOver(to);
      durationMs = performance.now() - startMs;
    }
    await disturbances.end();
    await chain.handOver("node");
    await checkAll();
  });

  test("A hand-over can be cancelled while the former owner's calls are running, and continues afterwards.", async () => {
    const { receiver } = chain;
    receiver.respond("strict", undefined);
    await chain.command("mine", { blocks: 1 });
    const waiting = chain.spawnHandOver("workers");
    await reached("to workers", "to workers");
    const refused = await chain.call("POST", "/webhooks", { ...BLOCKS, target: "http://127.0.0.1:1/" });
    expect(refused).toMatchObject({ status: 503, body: { code: "WEBHOOKS_IN_TRANSFER" } });
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    const { code, stderr } = await chain.spawnHandOver("node").ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("finish it with --to workers, or cancel it with --to workers --cancel"),
    ]);
    const cancelling = chain.spawnHandOver("workers", "--cancel");
    await reached("to workers", "node");
    receiver.respond("strict", 204);
    expect((await cancelling.ended).stdout).toBe("cancelled: the node sends the webhooks\n");
    expect(await ownerOf()).toEqual(["node", "node"]);
    expect((await waiting.ended).code).toBe(1);
    await checkAll();
    const late = await chain.spawnHandOver("workers", "--cancel").ended;
    expect(late.stderr).toContain("no hand-over to the workers is running");
  });

  test("A hand-over to the node can be cancelled as well: the waiting command ends, and workers own all webhooks.", async () => {
    await chain.handOver("workers");
    const waiting = await startWaiting("node");
    await until("shards of the command", async () => (await leases()).includes("hand-over"));
    await chain.handOver("node", "--cancel");
    // The call is still running: only the cancellation can have ended the command.
    const { code, stderr } = await waiting.ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("another command has cancelled the hand-over"),
    ]);
    expect(await leases()).toEqual(["w1", "w2"]);
    chain.receiver.respond("strict", 204);
    expect(await ownerOf()).toEqual(["workers", "workers"]);
    await claimed();
    await checkAll();
    await chain.handOver("node");
    await checkAll();
  });

  test("A hand-over to the node, killed before the last step, is finished as its refusals say, and handed back.", async () => {
    await chain.handOver("workers");
    await killBeforeLastStep();
    const refusals = [
      await chain.spawnHandOver("node", "--cancel").ended,
      await chain.spawnHandOver("workers").ended,
    ];
    for (const { code, stderr } of refusals)
      expect([code, stderr]).toEqual([1, expect.stringMatching(/; finish it with --to node\n$/)]);
    // It may be killed before it ends its lease.
    await chain.postgres.query(
      `INSERT INTO delivery_workers (name, session, lease_until)
       VALUES ('hand-over', 'killed', now() + interval '1 hour')
       ON CONFLICT (name) DO UPDATE SET lease_until = EXCLUDED.lease_until`,
    );
    await returnToWorkers((to, ...args) => chain.spawnHandOver(to, ...args).ended);
    expect(await ownerOf()).toEqual(["workers", "workers"]);
    expect(await leases()).not.toContain("hand-over");
    await checkAll();
    await chain.handOver("node");
  });

  test("A hand-over to the workers is cancelled if the database has lost its first step.", async () => {
    await killWaiting("workers");
    await chain.postgres.query("UPDATE webhook_register SET owner = 'node', transfer = 'before'");
    await chain.handOver("workers", "--cancel");
    expect(await ownerOf()).toEqual(["node", "node"]);
    await checkAll();
  });

  test("A hand-over to the node is continued or cancelled if another command continued during its cancellation.", async () => {
    for (const args of [["--cancel"], []]) {
      await chain.handOver("workers");
      await killWaiting("node");
      await chain.postgres.query("UPDATE webhook_register SET owner = 'workers'");
      expect((await chain.spawnHandOver("workers").ended).stderr).toMatch(
        /finish it with --to node, or cancel it with --to node --cancel\n$/,
      );
      await chain.handOver("node", ...args);
      const owner = args.length > 0 ? "workers" : "node";
      expect(await ownerOf()).toEqual([owner, owner]);
      await checkAll();
    }
  });

  test("A hand-over begins at a height of the chain.", async () => {
    await chain.command("forge", { enabled: false });
    const { body } = await chain.call("GET", "/blockchain");
    const { height } = (body as { data: { block: { height: number } } }).data.block;
    const waiting = chain.spawnHandOver("workers", "--at", `${height + 3}`);
    await waiting.printed(/waiting for block/);
    expect(await ownerOf()).toEqual(["node", "node"]);
    await chain.command("mine", { blocks: 3 });
    await chain.command("forge", { enabled: true });
    expect(await waiting.ended).toMatchObject({ code: 0 });
    await checkAll();
    await chain.handOver("node");
  });

  test("A hand-over is refused while both would send, and with the database of another node.", async () => {
    await chain.postgres.query("UPDATE webhook_register SET owner = 'workers', transfer = 'restored'");
    // The workers would send by now, if the node had handed its webhooks over.
    for (const to of ["workers", "node"] as const) {
      const { code, stderr } = await chain.spawnHandOver(to).ended;
      expect([code, stderr]).toEqual([1, expect.stringContaining("both would send webhooks")]);
    }
    await chain.postgres.query("UPDATE webhook_register SET owner = 'node'");
    // The mirror would replace the id with that of the next event.
    await chain.command("forge", { enabled: false });
    await chain.arrived(strict);
    const database = openDatabase(chain.nodeDatabase, { readonly: true });
    const logged = createLastSequence(database)();
    database.close();
    await until("the copied events", async () => {
      const [copied] = await chain.postgres.query<{ last: string }>(
        "SELECT last_sequence AS last FROM event_log",
      );
      return Number(copied?.last) === logged;
    });
    const [before] = await chain.postgres.query<{ last_id: string }>("SELECT last_id FROM event_log");
    await chain.postgres.query("UPDATE event_log SET last_id = 'of another node'");
    const other = await chain.spawnHandOver("workers").ended;
    expect(other.stderr).toContain("name the node that its mirror follows");
    expect(await ownerOf()).toEqual(["node", "to workers"]);
    await chain.postgres.query("UPDATE event_log SET last_id = $1", [before?.last_id ?? null]);
    await chain.command("forge", { enabled: true });
    await chain.handOver("workers", "--cancel");
    await checkAll();
  });

  test("A hand-over survives a node that is killed or restarted at any moment.", async () => {
    const { integer } = createDraws(5);
    for (const to of ["workers", "node"] as const) {
      const command = chain.spawnHandOver(to);
      await sleep(integer(300, 2_000));
      await chain.restartNode();
      await command.ended;
      await chain.handOver(to);
    }
    await checkAll();
    for (const worker of workers) await chain.stop(worker);
  });
});
