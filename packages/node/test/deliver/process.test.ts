/** `uniknode deliver`: several workers in real processes share the webhooks of a real database. */
import assert from "node:assert";
import { verifyDelivery } from "@uniknode/client";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { WebhookFields } from "../../src/webhooks/model/webhook.ts";
import { createRegisterCommands } from "../../src/webhooks/postgres/storage.ts";
import { PLAIN_SECRETS } from "../../src/webhooks/secrets.ts";
import { type MirroredDevChain, startMirroredDevChain, TOKEN } from "../../test-support/mirror/dev-chain.ts";
import { startBreakingProxy } from "../../test-support/postgres/breaking-proxy.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { type HeldReceiver, startHeldReceiver } from "../../test-support/webhooks/held-receiver.ts";
import { ownByWorkers } from "../../test-support/webhooks/postgres-rows.ts";

const SECRET = "5".repeat(64);
const WEBHOOKS = 40;

let chain: MirroredDevChain;
let receiver: HeldReceiver;
const workers: Running[] = [];

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain();
  const mirror = chain.startMirror();
  await chain.followed();
  // The test logs the events itself.
  mirror.child.kill("SIGTERM");
  await mirror.ended;
  await ownByWorkers(chain.postgres);
  receiver = await startHeldReceiver();
});
afterAll(async () => {
  await endWorkers();
  await receiver?.close();
  await chain?.closeAll();
});
beforeEach(async () => {
  if (!hasPostgres) return;
  await endWorkers();
  receiver.release();
});

/** Starts a worker whose calls have a timeout of 5 s, so that its lease ends after 15 s. */
function startWorker(name: string, ...more: string[]): Running {
  const worker = spawnUniknode([
    ...["deliver", "--database-url", chain.databaseUrl, "--name", name, "--operations-port", "0"],
    ...["--webhook-private-targets", "--webhook-timeout", "5", ...more],
  ]);
  workers.push(worker);
  return worker;
}

async function endWorkers(): Promise<void> {
  for (const { child, ended } of workers.splice(0)) {
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    await ended;
  }
}

async function urlOf(worker: Running): Promise<string> {
  const [, url] = await worker.printed(/(http:\S+)\n/);
  assert(url);
  return url;
}

async function stop({ child, ended }: Running): Promise<void> {
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0 });
}

const logged = ({ stdout, stderr }: Running, text: string) =>
  expect.poll(() => stdout() + stderr()).toContain(text);

const get = async (url: string, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url + path, { headers });
  return { status: response.status, text: await response.text() };
};

/** Registers a webhook that receives the events from here on. Returns its id. */
async function register(path: string, order: "strict" | "parallel" = "strict"): Promise<number> {
  const { query } = chain.postgres;
  const commands = createRegisterCommands({
    postgres: chain.postgres,
    cipher: PLAIN_SECRETS,
    async lastEvent() {
      const [row] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
      return Number(row?.last);
    },
  });
  const fields: WebhookFields = {
    ...{ event: "block.applied", events: [], conditions: "[]", match: "any", confirmations: 0, proof: false },
    ...{ target: `${receiver.url}/${path}`, enabled: true, order },
  };
  const { id } = await commands.insert({ fields, token: SECRET }, 10_000);
  await commands.activate(id);
  return id;
}

let height = 1_000_000;

/** Logs events of new blocks, as the mirror copies them. */
async function log(count: number): Promise<void> {
  await chain.postgres.query(
    `WITH logged AS (
       UPDATE event_log SET last_sequence = last_sequence + $1::integer RETURNING last_sequence - $1::integer AS before
     )
     INSERT INTO events (sequence, id, name, height, block_id, created_ms, data)
     SELECT before + number, 'block.applied:' || ($2::integer + number), 'block.applied', $2::integer + number,
       'block' || ($2::integer + number), $3, '{"height":' || ($2::integer + number) || '}'
     FROM logged, generate_series(1, $1::integer) AS number`,
    [count, height, Date.now()],
  );
  height += count;
}

type Message = {
  readonly id: string;
  readonly sequence: number;
  readonly height: number;
  readonly epoch: number;
};

/** Returns the calls of a webhook. */
const callsOf = (path: string): Message[] =>
  receiver.calls
    .filter((call) => call.path === `/${path}`)
    .map(({ body, headers }) => {
      const { id, height } = JSON.parse(body) as Message;
      const [sequence, epoch] = ["sequence", "epoch"].map((name) => Number(headers[`webhook-${name}`]));
      return { ...{ id, height }, sequence: sequence ?? 0, epoch: epoch ?? 0 };
    });

const sequencesOf = (path: string) => callsOf(path).map(({ sequence }) => sequence);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Number of shards of each worker. */
async function shares(): Promise<Record<string, number>> {
  const rows = await chain.postgres.query<{ owner: string | null; shards: number }>(
    "SELECT owner, count(*)::integer AS shards FROM shards GROUP BY owner",
  );
  return Object.fromEntries(rows.map(({ owner, shards }) => [owner ?? "free", shards]));
}

const statesOf = async (webhook: number) =>
  (
    await chain.postgres.query<{ state: string; attempts: number }>(
      `SELECT state, (SELECT count(*)::integer FROM attempts WHERE delivery = deliveries.number) AS attempts
       FROM deliveries WHERE webhook = $1 ORDER BY number`,
      [webhook],
    )
  ).map(({ state, attempts }) => [state, attempts]);

describe.skipIf(!hasPostgres)("delivery workers", () => {
  test("Delivery workers deliver signed messages in order, with the epoch of their webhook.", async () => {
    const url = await urlOf(startWorker("a", "--token", TOKEN));
    const webhook = await register("order");
    await log(30);
    await expect.poll(() => sequencesOf("order")).toEqual(upTo(30));
    const call = receiver.calls.findLast(({ path }) => path === "/order");
    assert(call);
    expect(await verifyDelivery(call, { secret: SECRET })).toMatchObject({
      event: "block.applied",
      webhookId: webhook,
      data: { height: height },
      epoch: expect.any(Number),
    });
    await expect.poll(() => statesOf(webhook)).toEqual(upTo(30).map(() => ["delivered", 1]));
    expect((await get(url, "/health/live")).status).toBe(200);
    const ready = async () => {
      const { status, text } = await get(url, "/health/ready");
      return [status, JSON.parse(text).checks.database];
    };
    await expect.poll(ready).toEqual([200, { ok: true, detail: "owns 32 of 32 shards" }]);
    expect((await get(url, "/health/status")).text).toContain('"worker":"a"');
    expect((await get(url, "/metrics")).status).toBe(401);
    const metrics = await get(url, "/metrics", { authorization: TOKEN });
    for (const line of [
      "uniknode_worker_shards 32",
      "uniknode_worker_database_up 1",
      "uniknode_webhook_matcher_lag_events 0",
      `uniknode_webhook_deliveries_total{webhook="${webhook}",outcome="delivered"} 30`,
      'uniknode_webhook_attempt_duration_seconds_count{status="2xx"} 30',
    ]) {
      expect(metrics.text).toContain(line);
    }
  });

  test("Delivery workers share few webhooks equally.", async () => {
    startWorker("a");
    for (const number of upTo(9)) await register(`few-${number}`);
    await expect.poll(shares).toEqual({ a: 32 });
    startWorker("b");
    const webhooksOf = async () =>
      (
        await chain.postgres.query<{ owner: string | null; webhooks: number }>(
          "SELECT owner, count(*)::integer AS webhooks FROM webhooks JOIN shards USING (shard) GROUP BY owner",
        )
      ).map(({ owner, webhooks }) => [owner, webhooks]);
    await expect
      .poll(async () => new Map((await webhooksOf()) as [string, number][]))
      .toEqual(
        new Map([
          ["a", 5],
          ["b", 5],
        ]),
      );
    await expect.poll(shares).toEqual({ a: 16, b: 16 });
  });

  test("Delivery workers share the webhooks, and take over from a stopped worker, without losing a delivery or its order.", async () => {
    const a = startWorker("a");
    const paths = upTo(WEBHOOKS).map((number) => `shared-${number}`);
    for (const path of paths) await register(path);
    await log(10);
    await expect.poll(() => paths.every((path) => callsOf(path).length === 10)).toBe(true);
    const b = startWorker("b");
    await expect.poll(shares).toEqual({ a: 16, b: 16 });
    await log(10);
    await expect.poll(() => paths.every((path) => callsOf(path).length === 20)).toBe(true);
    await stop(a);
    await log(10);
    await expect.poll(shares).toEqual({ b: 32 });
    await expect.poll(() => paths.every((path) => callsOf(path).length === 30)).toBe(true);
    for (const path of paths) {
      const calls = callsOf(path);
      expect(calls.map(({ sequence }) => sequence)).toEqual(upTo(30));
      const epochs = calls.map(({ epoch }) => epoch);
      expect(epochs).toEqual(epochs.toSorted((left, right) => left - right));
      expect(epochs.at(-1)).toBeGreaterThan(epochs[0] ?? 0);
    }
    await stop(b);
    expect(await shares()).toEqual({ free: 32 });
  });

  test("Delivery workers finish their running calls before they stop.", async () => {
    const worker = startWorker("a", "--webhook-timeout", "30");
    const webhook = await register("stopped");
    await urlOf(worker);
    receiver.hold();
    await log(1);
    await expect.poll(() => sequencesOf("stopped")).toEqual([1]);
    worker.child.kill("SIGTERM");
    await logged(worker, "stopping");
    receiver.release();
    expect(await worker.ended).toMatchObject({ code: 0 });
    expect(await statesOf(webhook)).toEqual([["delivered", 1]]);
    expect(await chain.postgres.query("SELECT * FROM delivery_workers")).toEqual([]);
  });

  test("Delivery workers repeat the unrecorded call of a killed worker, with the same id and the next epoch.", async () => {
    const a = startWorker("a");
    const webhook = await register("killed");
    await urlOf(a);
    receiver.hold();
    await log(2);
    await expect.poll(() => sequencesOf("killed")).toEqual([1]);
    a.child.kill("SIGKILL");
    await a.ended;
    receiver.release();
    startWorker("b");
    await expect.poll(() => sequencesOf("killed")).toEqual([1, 1, 2]);
    const [first, second] = callsOf("killed");
    assert(first && second);
    expect(second.id).toBe(first.id);
    expect(second.epoch).toBeGreaterThan(first.epoch);
    await expect
      .poll(() => statesOf(webhook))
      .toEqual([
        ["delivered", 1],
        ["delivered", 1],
      ]);
  });

  test("Delivery workers do not record the late outcome of a stalled worker, and its webhooks stay with their new owner.", async () => {
    const a = startWorker("a");
    const webhook = await register("stalled");
    await urlOf(a);
    receiver.hold();
    await log(1);
    await expect.poll(() => sequencesOf("stalled")).toEqual([1]);
    a.child.kill("SIGSTOP");
    const b = startWorker("b");
    await expect.poll(() => sequencesOf("stalled")).toEqual([1, 1]);
    receiver.release();
    await expect.poll(() => statesOf(webhook)).toEqual([["delivered", 1]]);
    await stop(b);
    a.child.kill("SIGCONT");
    await expect.poll(shares).toEqual({ a: 32 });
    await log(1);
    await expect.poll(() => sequencesOf("stalled")).toEqual([1, 1, 2]);
    await expect
      .poll(() => statesOf(webhook))
      .toEqual([
        ["delivered", 1],
        ["delivered", 1],
      ]);
  });

  test("Delivery workers refuse the name of a running worker: the second process ends, the first sends each delivery once.", async () => {
    const first = startWorker("a");
    await register("named");
    await urlOf(first);
    await log(5);
    const second = startWorker("a");
    let isEnded = false;
    const ended = second.ended.finally(() => {
      isEnded = true;
    });
    let last = 5;
    for (; !isEnded; last++) {
      await log(1);
      await expect.poll(() => sequencesOf("named").at(-1)).toBe(last + 1);
    }
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([1, expect.not.stringContaining("http:")]);
    expect(stderr).toContain('another process delivers with the name "a": stop it, or give this one another');
    expect(sequencesOf("named")).toEqual(upTo(last));
    expect(await shares()).toEqual({ a: 32 });
  });

  test("Delivery workers get the name of a killed worker when its lease has ended, and continue.", async () => {
    const killed = startWorker("a");
    const webhook = await register("renamed");
    await urlOf(killed);
    await log(1);
    await expect.poll(() => statesOf(webhook)).toEqual([["delivered", 1]]);
    killed.child.kill("SIGKILL");
    await killed.ended;
    await log(1);
    const next = startWorker("a");
    await logged(next, "waiting: a process with this name has a lease");
    await expect.poll(() => sequencesOf("renamed")).toEqual([1, 2]);
  });

  test("Delivery workers end if another process has got their name while they were stalled.", async () => {
    const stalled = startWorker("a");
    const webhook = await register("replaced");
    await urlOf(stalled);
    receiver.hold();
    await log(1);
    await expect.poll(() => sequencesOf("replaced")).toEqual([1]);
    stalled.child.kill("SIGSTOP");
    const next = startWorker("a");
    await expect.poll(() => sequencesOf("replaced")).toEqual([1, 1]);
    receiver.release();
    await expect.poll(() => statesOf(webhook)).toEqual([["delivered", 1]]);
    stalled.child.kill("SIGCONT");
    const { code, stderr } = await stalled.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('delivers with the name "a"')]);
    await log(1);
    await expect.poll(() => sequencesOf("replaced")).toEqual([1, 1, 2]);
    await expect.poll(shares).toEqual({ a: 32 });
    await stop(next);
  });

  test("Delivery workers continue after the database was down.", async () => {
    const worker = startWorker("a");
    const webhook = await register("outage");
    const url = await urlOf(worker);
    await log(1);
    await expect.poll(() => statesOf(webhook)).toEqual([["delivered", 1]]);
    await chain.server.halt();
    await logged(worker, "failed to renew the lease");
    // A result is shared for a second.
    await expect.poll(async () => (await get(url, "/health/ready")).status).toBe(503);
    expect((await get(url, "/health/live")).status).toBe(200);
    expect((await get(url, "/metrics")).text).toContain("uniknode_worker_database_up 0");
    await chain.server.resume();
    await logged(worker, "is renewed again");
    await log(1);
    await expect.poll(() => sequencesOf("outage")).toEqual([1, 2]);
    await expect.poll(async () => (await get(url, "/health/ready")).status).toBe(200);
    const lines = (worker.stdout() + worker.stderr()).match(/failed to run webhook deliveries/g) ?? [];
    expect(lines.length).toBeLessThan(5);
  });

  test("Delivery workers are listed by the node.", async () => {
    await urlOf(startWorker("listed", "--token", TOKEN, "--node", chain.url));
    const processes = async () => {
      const { text } = await get(chain.url, "/api/v2/operations/node", { authorization: TOKEN });
      return (JSON.parse(text) as { data: { processes: object[] } }).data.processes;
    };
    await expect
      .poll(processes)
      .toContainEqual(
        expect.objectContaining({ kind: "worker", name: "listed", height: expect.any(Number) }),
      );
  });

  test.each(["node_identity", "key_check", "owner, transfer"])(
    "Delivery workers start after their first connection has broken at the statement with %s.",
    async (text) => {
      const proxy = await startBreakingProxy(chain.databaseUrl, text);
      onTestFinished(proxy.close);
      const worker = startWorker("late", "--database-url", proxy.url);
      await urlOf(worker);
      expect(proxy.hasBroken()).toBe(true);
      await logged(worker, "waiting for the database: check --database-url");
      // Before the proxy closes.
      workers.splice(workers.indexOf(worker), 1);
      await stop(worker);
    },
  );

  test("Delivery workers wait for the mirror, and stop while they wait.", async () => {
    const url = await chain.server.createDatabase("empty");
    const waiting = spawnUniknode(["deliver", "--database-url", url, "--operations-port", "0"]);
    await logged(waiting, "waiting for the mirror");
    await stop(waiting);
  });

  test("Delivery workers that wait for the hand-over have health and metrics, and begin with it.", async () => {
    await chain.postgres.query("UPDATE webhook_register SET owner = 'node', version = version + 1");
    const worker = startWorker("early");
    const url = await urlOf(worker);
    await logged(worker, "waiting: the node delivers the webhooks of this network");
    const database = async () => {
      const { status, text } = await get(url, "/health/ready");
      return [status, JSON.parse(text).checks.database.detail];
    };
    await expect.poll(database).toEqual([200, "waiting: the node delivers the webhooks of this network"]);
    expect((await get(url, "/metrics")).text).toMatch(/uniknode_worker_shards Nan/i);
    await ownByWorkers(chain.postgres);
    await expect.poll(database).toEqual([200, "owns 32 of 32 shards"]);
  });

  test("Delivery workers with a user or a session that can only read end with advice.", async () => {
    await chain.postgres.query("CREATE ROLE reader LOGIN");
    await chain.postgres.query("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    const reader = chain.databaseUrl.replace(/\/\/\w+@/, "//reader@");
    const run = (url: string) => runUniknode(["deliver", "--database-url", url, "--operations-port", "0"]);
    expect(await run(reader)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "the user reader of --database-url cannot write to the table attempts: give a user that can",
      ),
    });
    await chain.postgres.query("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reader");
    await chain.postgres.query("ALTER ROLE reader SET default_transaction_read_only = on");
    // A replica can become the primary: systemd starts the worker again, unless the code is 2.
    expect(await run(reader)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("give the URL of the primary server"),
    });
  });

  test("Delivery workers name the option of a port that is in use.", async () => {
    const { port } = new URL(await urlOf(startWorker("a")));
    const { code, stderr } = await runUniknode([
      ...["deliver", "--database-url", chain.databaseUrl, "--operations-port", port],
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("--operations-port");
  });
});

test.each<[string, string[], RegExp]>([
  ["without a database", [], /--database-url/],
  [
    "with a node but without its token",
    ["--database-url", "postgres://127.0.0.1/x", "--node", "http://a"],
    /--token/,
  ],
])("a worker %s says what to do", async (_, args, message) => {
  const { code, stderr } = await runUniknode(["deliver", ...args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
