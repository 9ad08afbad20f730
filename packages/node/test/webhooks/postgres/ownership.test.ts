/** Workers share the webhooks of a database: one owner for each shard and epoch, and no write of a former owner. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { Postgres } from "../../../src/postgres/connection.ts";
import { migrate } from "../../../src/postgres/migrations.ts";
import type { OwnerState } from "../../../src/webhooks/hand-over/owner.ts";
import { NameInUseError, type OwnershipChange } from "../../../src/webhooks/ownership.ts";
import { changeOwner } from "../../../src/webhooks/postgres/hand-over/owner.ts";
import { ShardOwnership } from "../../../src/webhooks/postgres/ownership.ts";
import { lockOwnShards, Positions } from "../../../src/webhooks/postgres/positions.ts";
import { type Connection, PostgresStore, sqlOf } from "../../../src/webhooks/postgres/sql.ts";
import { noteChange } from "../../../src/webhooks/storage/locks.ts";
import { SHARDS, shardOf } from "../../../src/webhooks/storage/shards.ts";
import { runSteps } from "../../../src/webhooks/storage/sql.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { connect, hasPostgres } from "../../../test-support/postgres/server.ts";
import { ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { untilBlocked } from "./open.ts";

const LEASE_MS = 60_000;
const MAX_IDLE_MS = 1_000;

describe.runIf(hasPostgres)("the shards of workers", () => {
  const databases = useDatabases();
  let url: string;
  let postgres: Postgres;
  beforeEach(async () => {
    url = await databases.create();
    postgres = connect(url);
    onTestFinished(() => postgres.close());
    await migrate(postgres);
    await ownByWorkers(postgres);
  });

  const start = (worker: string): ShardOwnership =>
    new ShardOwnership({ worker, leaseMs: LEASE_MS }, { postgres, elapsedMs: () => performance.now() });

  /** Lets the lease of a worker end. */
  const expire = (worker: string) =>
    postgres.query("UPDATE delivery_workers SET lease_until = '-infinity' WHERE name = $1", [worker]);

  const addWebhooks = async (count: number): Promise<number[]> => {
    const rows = await postgres.query<{ id: string }>(
      `INSERT INTO webhooks (events, target, enabled, conditions, match_all, strict, confirmations, token, active_after)
       SELECT '["block.applied"]', 'https://receiver.example', true, '[]', false, false, 0, 'token', 0
       FROM generate_series(1, $1) RETURNING id`,
      [count],
    );
    return rows.map(({ id }) => Number(id));
  };

  /** Returns the epoch of an owned webhook. */
  const store = () => new PostgresStore(postgres);
  const epochAt = (worker: ShardOwnership, webhook: number | undefined): number =>
    present(worker.epochOf(present(webhook)));
  const epochsOf = ({ held }: ShardOwnership) => [...held.values()].map(({ shard, epoch }) => [shard, epoch]);

  test("The shards of workers all belong to a single worker, with their webhooks, until it releases them.", async () => {
    const webhooks = await addWebhooks(40);
    const worker = start("a");
    const startMs = Date.now();
    expect(worker.remainingMs()).toBe(0);
    expect(await worker.renew()).toEqual({ gained: expect.anything(), lost: [], surplus: [] });
    expect(worker.held.size).toBe(SHARDS);
    const epoch = epochAt(worker, webhooks[0]);
    expect(epoch).toBeGreaterThanOrEqual(startMs);
    expect(epoch).toBeLessThanOrEqual(Date.now());
    expect(worker.remainingMs()).toBeGreaterThan(0);
    expect(await worker.renew()).toEqual({ gained: [], lost: [], surplus: [] });
    await worker.release();
    expect([worker.held.size, worker.remainingMs()]).toEqual([0, 0]);
    const other = start("b");
    const { gained } = await other.renew();
    expect([...gained].sort((a, b) => a - b)).toEqual(webhooks);
    expect(epochAt(other, webhooks[0])).toBeGreaterThan(epoch);
  });

  test("The shards of workers have a higher epoch after each claim, also in an older copy, and with a clock behind.", async () => {
    const [webhook] = await addWebhooks(1);
    const epochs: number[] = [];
    const aheadMs = Date.now() + 3_600_000;
    for (const [name, stored] of Object.entries({
      a: 0,
      b: undefined,
      copy: 0,
      ahead: aheadMs,
      behind: undefined,
    })) {
      if (stored !== undefined) await postgres.query("UPDATE shard_owners SET epoch = $1", [stored]);
      const worker = start(name);
      await worker.renew();
      epochs.push(epochAt(worker, webhook));
      await worker.release();
    }
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
    expect(epochs.slice(3)).toEqual([aheadMs + 1, aheadMs + 2]);
  });

  test("The shards are shared by count: a worker with too many returns the webhooks that it must give up.", async () => {
    const webhooks = await addWebhooks(64);
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    expect((await b.renew()).gained).toEqual([]);
    const { surplus } = await a.renew();
    expect(surplus).toHaveLength(32);
    // Also webhooks that are registered from here on.
    const given = surplus.map(shardOf);
    expect(a.owns(SHARDS * 100 + (given[0] ?? 0))).toBe(false);
    expect(webhooks.filter((webhook) => !a.owns(webhook)).sort()).toEqual([...surplus].sort());
    expect(webhooks.filter((webhook) => b.owns(webhook))).toEqual([]);
    expect((await a.renew()).surplus).toEqual([]);
    expect((await b.renew()).gained).toEqual([]);
    await a.giveUp(surplus);
    expect((await b.renew()).gained).toEqual(expect.arrayContaining([...surplus]));
    expect(a.held.size + b.held.size).toBe(SHARDS);
    for (const webhook of webhooks) {
      expect([a.epochOf(webhook), b.epochOf(webhook)].filter((epoch) => epoch !== undefined)).toHaveLength(1);
    }
    const c = start("c");
    await c.renew();
    for (const worker of [a, b]) await worker.giveUp((await worker.renew()).surplus);
    await c.renew();
    expect([a.held.size, b.held.size, c.held.size].sort()).toEqual([10, 11, 11]);
  });

  test("The shards of workers without webhooks are given up at once.", async () => {
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    await b.renew();
    expect(await a.renew()).toEqual({ gained: [], lost: [], surplus: [] });
    expect(a.held.size).toBe(SHARDS / 2);
    await b.renew();
    expect(b.held.size).toBe(SHARDS / 2);
  });

  test("The shards of a worker whose lease has ended are claimed with the next epoch, and the worker learns of it.", async () => {
    const webhooks = await addWebhooks(3);
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    const epoch = epochAt(a, webhooks[0]);
    await expire("a");
    expect((await b.renew()).gained).toEqual(webhooks);
    expect(epochAt(b, webhooks[0])).toBeGreaterThan(epoch);
    const { lost, gained } = await a.renew();
    expect([[...lost].sort(), gained]).toEqual([webhooks, []]);
    expect(a.held.size).toBe(0);
  });

  test("The shards of a former process of a worker are given up beyond the share of the worker.", async () => {
    const webhooks = await addWebhooks(64);
    const former = start("a");
    await former.renew();
    const epochs = webhooks.map((webhook) => epochAt(former, webhook));
    const b = start("b");
    await b.renew();
    await expire("a");
    const a = start("a");
    await a.renew();
    expect(a.held.size).toBe(SHARDS / 2);
    await b.renew();
    expect(b.held.size).toBe(SHARDS / 2);
    for (const [index, webhook] of webhooks.entries())
      expect(a.epochOf(webhook) ?? b.epochOf(webhook)).toBeGreaterThan(epochs[index] ?? Number.NaN);
  });

  test("The shards of a former process of a worker are given up while the workers do not own the webhooks.", async () => {
    await start("a").renew();
    await postgres.query("UPDATE webhook_register SET owner = 'to node'");
    await expire("a");
    await start("a").renew();
    expect(await postgres.query("SELECT FROM shards WHERE owner IS NOT NULL")).toEqual([]);
  });

  test("The shards of a worker whose lease has ended unnoticed stay with it after the next renewal.", async () => {
    const a = start("a");
    await a.renew();
    const before = epochsOf(a);
    await expire("a");
    expect(await a.renew()).toEqual({ gained: [], lost: [], surplus: [] });
    expect(epochsOf(a)).toEqual(before);
    await start("b").renew();
    expect(epochsOf(a)).toEqual(before);
  });

  test("The shards of a worker that freezes in a transaction are claimed after the time for which the transaction may idle.", async () => {
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    const frozen = new Postgres({
      ...{ url, applicationName: "test", maxConnections: 1, statementTimeoutMs: 5_000 },
      ...{ maxTransactionIdleMs: MAX_IDLE_MS, isCommitAsynchronous: false, onConnectionLost: () => {} },
    });
    const { promise: continued, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    const work = frozen.transaction("READ WRITE", async (transaction) => {
      await runSteps(lockOwnShards(sqlOf(transaction), a, [...a.held.keys()]));
      onLocked();
      await continued;
      await transaction.query("SELECT 1");
    });
    await locked;
    await expire("a");
    const startMs = performance.now();
    await b.renew();
    expect(performance.now() - startMs).toBeLessThan(5 * MAX_IDLE_MS);
    expect(b.held.size).toBe(SHARDS);
    goOn();
    await expect(work).rejects.toThrow();
    await frozen.close();
  });

  test("The shards that a renewal claimed, lost or found too many are reported by the next one if it fails.", async () => {
    const webhooks = await addWebhooks(40);
    let isDown = true;
    const query: Postgres["query"] = async (sql, values) => {
      if (isDown && sql.includes("FROM webhooks")) throw new Error("down");
      return postgres.query(sql, values);
    };
    const elapsedMs = () => performance.now();
    const a = new ShardOwnership(
      { worker: "a", leaseMs: LEASE_MS },
      { postgres: { query, transaction: (...call) => postgres.transaction(...call) }, elapsedMs },
    );
    const renewAfterFailure = async () => {
      isDown = true;
      await expect(a.renew()).rejects.toThrow("down");
      isDown = false;
      return a.renew();
    };
    const first = await renewAfterFailure();
    expect([...first.gained].sort((a, b) => a - b)).toEqual(webhooks);
    expect(first).toMatchObject({ lost: [], surplus: [] });
    const b = start("b");
    await b.renew();
    const { surplus } = await renewAfterFailure();
    expect(surplus.length).toBeGreaterThan(0);
    await a.giveUp(surplus);
    await expire("a");
    await b.renew();
    const { lost, gained } = await renewAfterFailure();
    expect([[...lost, ...surplus].sort((a, b) => a - b), gained]).toEqual([webhooks, []]);
  });

  test("The shards of workers have no lease after a suspension of the machine, which stops the monotonic clock.", async () => {
    let [passedMs, wallMs] = [1_000, Date.now()];
    const worker = new ShardOwnership(
      { worker: "a", leaseMs: LEASE_MS },
      { postgres, elapsedMs: () => passedMs, nowMs: () => wallMs },
    );
    await worker.renew();
    expect(worker.remainingMs()).toBe(LEASE_MS);
    wallMs += LEASE_MS + 1;
    expect(worker.remainingMs()).toBe(0);
    await worker.renew();
    // The wall clock is set back.
    wallMs -= 2 * LEASE_MS;
    passedMs += 1_000;
    expect(worker.remainingMs()).toBe(LEASE_MS - 1_000);
  });

  test("The shards of workers have no lease until a renewal has reported that they were lost.", async () => {
    const { promise: claimed, resolve: claim } = Promise.withResolvers<void>();
    const slow: Connection = {
      query: postgres.query,
      async transaction(mode, work) {
        await claimed;
        return postgres.transaction(mode, work);
      },
    };
    const stalled = new ShardOwnership(
      { worker: "a", leaseMs: LEASE_MS },
      { postgres: slow, elapsedMs: () => performance.now() },
    );
    const renewing = stalled.renew();
    await expect
      .poll(() => postgres.query("SELECT 1 FROM delivery_workers WHERE name = 'a'"))
      .toHaveLength(1);
    expect(stalled.remainingMs()).toBe(0);
    claim();
    await renewing;
    expect(stalled.remainingMs()).toBeGreaterThan(0);
  });

  test("The shards stay with a running process if another has its name, until its lease ends; it then owns nothing.", async () => {
    const [webhook] = await addWebhooks(1);
    const [former, next] = [start("a"), start("a")];
    await former.renew();
    const epoch = epochAt(former, webhook);
    const inUse = { code: "WORKER_NAME_IN_USE" };
    await expect(next.renew()).rejects.toMatchObject(inUse);
    expect([next.held.size, next.remainingMs()]).toEqual([0, 0]);
    expect((await former.renew()).lost).toEqual([]);
    await expire("a");
    expect((await next.renew()).gained).toEqual([webhook]);
    expect(epochAt(next, webhook)).toBeGreaterThan(epoch);
    const isOwned = former.owns(present(webhook));
    await expect(former.renew()).rejects.toMatchObject(inUse);
    expect([isOwned, former.owns(present(webhook)), former.remainingMs()]).toEqual([true, false, 0]);
    const positions = new Positions(postgres, former);
    const isMoved = await store().write((sql) => positions.move(sql, positions.begin(), 7));
    expect(isMoved).toBe(false);
  });

  test("The shards of a process with more than its share are free beyond it when it restarts under the same name.", async () => {
    const [former, b, c] = [start("a"), start("b"), start("c")];
    await former.renew();
    for (const worker of [b, c]) await worker.renew();
    await expire("a");
    const next = start("a");
    for (const worker of [next, b, c]) await worker.renew();
    expect([next.held.size, b.held.size, c.held.size]).toEqual([11, 11, 10]);
  });

  test("The shards that a worker has claimed without knowing it are free beyond its share.", async () => {
    const committed: Connection = {
      query: postgres.query,
      async transaction(mode, work) {
        await postgres.transaction(mode, work);
        throw new Error("the connection was cut");
      },
    };
    let connection = committed;
    const switching: Connection = {
      query: postgres.query,
      transaction: (mode, work) => connection.transaction(mode, work),
    };
    const a = new ShardOwnership(
      { worker: "a", leaseMs: LEASE_MS },
      { postgres: switching, elapsedMs: () => performance.now() },
    );
    await expect(a.renew()).rejects.toThrow("cut");
    connection = postgres;
    const b = start("b");
    for (const worker of [b, a, b]) await worker.renew();
    expect([a.held.size, b.held.size]).toEqual([SHARDS / 2, SHARDS / 2]);
  });

  test("The shards of workers are moved by their owner only: a former owner changes no position.", async () => {
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    const positions = new Positions(postgres, a);
    const step = positions.begin();
    await expire("a");
    await b.renew();
    const move = () => store().write((sql) => positions.move(sql, step, 9));
    expect(await move()).toBe(false);
    const lock = () => store().write((sql) => positions.lock(sql, step));
    expect(await lock()).toBe(false);
  });

  test("The shards that are behind come first, up to the position of the next, and then join them.", async () => {
    await postgres.query("UPDATE shard_positions SET matched = 20");
    await postgres.query("UPDATE shard_positions SET matched = 5 WHERE shard IN (3, 4)");
    await postgres.query("UPDATE shard_positions SET matched = 9 WHERE shard = 7");
    const worker = start("a");
    await worker.renew();
    const positions = new Positions(postgres, worker);
    const shardsOf = () => positions.begin().shards.map(({ shard }) => shard);
    expect(positions.begin()).toMatchObject({ matched: 5, upTo: 9 });
    expect([shardsOf(), positions.lowest()]).toEqual([[3, 4], 5]);
    expect(await positions.skip(positions.begin())).toBe(true);
    expect(positions.begin()).toMatchObject({ matched: 9, upTo: 20 });
    expect(shardsOf()).toEqual([3, 4, 7]);
    const step = positions.begin();
    await store().write((sql) => positions.move(sql, step, 20));
    positions.moved(step, 20);
    expect(positions.begin()).toMatchObject({ matched: 20, upTo: Number.MAX_SAFE_INTEGER });
    expect(shardsOf()).toHaveLength(SHARDS);
  });

  test("The shards of workers report changes by other processes to their owner, once.", async () => {
    const [first, second] = await addWebhooks(2);
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    await postgres.query("INSERT INTO queue_changes VALUES ($1, true), ($2, false)", [
      present(first),
      present(second),
    ]);
    expect(await b.takeChanges()).toEqual([]);
    expect(await a.takeChanges()).toEqual(
      expect.arrayContaining([
        { webhook: first, isRestart: true },
        { webhook: second, isRestart: false },
      ]),
    );
    expect(await a.takeChanges()).toEqual([]);
  });

  test("The shards of workers report a change to their new owner, not to one that lost them without knowing it.", async () => {
    const [webhook] = await addWebhooks(1);
    const [a, b] = [start("a"), start("b")];
    await a.renew();
    await expire("a");
    await b.renew();
    await store().write((sql) => noteChange(sql, present(webhook), true));
    expect(await a.takeChanges()).toEqual([]);
    expect(await b.takeChanges()).toEqual([{ webhook, isRestart: true }]);
  });

  test("The shards are given up and not claimed during a hand-over, and fenced by the process that copies them.", async () => {
    const webhooks = await addWebhooks(3);
    const worker = start("a");
    await worker.renew();
    const epoch = epochAt(worker, webhooks[0]);
    const change = (from: OwnerState, to: OwnerState) =>
      postgres.transaction("READ WRITE", (transaction) =>
        changeOwner(transaction, { from, to, transfer: "second" }),
      );
    await change("workers", "to node");
    const copying = new ShardOwnership(
      { worker: "hand-over", leaseMs: LEASE_MS, claimsIn: "to node" },
      { postgres, elapsedMs: () => performance.now() },
    );
    await copying.renew();
    expect(copying.held.size).toBe(0);
    const { surplus } = await worker.renew();
    expect([...surplus].sort()).toEqual(webhooks);
    // The shards without webhooks were given up at once.
    await copying.renew();
    expect(copying.held.size).toBe(SHARDS - 3);
    await worker.giveUp(surplus);
    expect((await worker.renew()).gained).toEqual([]);
    await copying.renew();
    expect([worker.held.size, copying.held.size]).toEqual([0, SHARDS]);
    expect(epochAt(copying, webhooks[0])).toBeGreaterThan(epoch);
    await copying.release();
    await change("to node", "node");
    await worker.renew();
    expect(worker.held.size).toBe(0);
  });

  test("The shards of workers are not claimed if the owner of the webhooks changes meanwhile.", async () => {
    const worker = start("a");
    await worker.renew();
    await worker.release();
    const { promise: isChanged, resolve: onChanged } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const changing = postgres.transaction("READ WRITE", async (transaction) => {
      await changeOwner(transaction, { from: "workers", to: "to node", transfer: "second" });
      onChanged();
      await released;
    });
    await isChanged;
    const renewing = worker.renew().catch((error: Error) => error);
    await untilBlocked(postgres);
    release();
    await changing;
    expect(await renewing).toMatchObject({ code: "OWNER_CHANGED", isRetryable: true });
    expect(await worker.renew()).toEqual({ gained: [], lost: [], surplus: [] });
    expect(worker.held.size).toBe(0);
  });

  test("The shards of workers have at most one owner for each epoch, whatever ends, restarts and races.", async () => {
    const webhooks = await addWebhooks(8);
    const names = ["a", "b", "c"];
    const workers = names.map(start);
    const owners = new Map<string, ShardOwnership>();
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 40; round++) {
      const index = random(3);
      const name = present(names[index]);
      if (random(3) === 0) await expire(name);
      if (random(8) === 0) await present(workers[index]).release();
      if (random(6) === 0) workers[index] = start(name);
      // A process that restarts may wait for the lease of the former one.
      const changes = await Promise.all(
        workers.map((worker) =>
          worker.renew().catch((error: unknown): OwnershipChange => {
            if (!(error instanceof NameInUseError)) throw error;
            return { gained: [], lost: [], surplus: [] };
          }),
        ),
      );
      for (const [index, worker] of workers.entries()) {
        for (const { shard, epoch } of worker.held.values()) {
          const known = owners.get(`${shard} ${epoch}`) ?? worker;
          expect(known === worker, `shard ${shard} has one owner in epoch ${epoch}`).toBe(true);
          owners.set(`${shard} ${epoch}`, worker);
        }
        await worker.giveUp(present(changes[index]).surplus);
      }
    }
    for (const name of names) await expire(name);
    for (let round = 0; round < 3; round++) {
      for (const worker of workers) await worker.giveUp((await worker.renew()).surplus);
    }
    const shards = workers.flatMap(({ held }) => [...held.keys()]);
    expect(new Set(shards).size).toBe(SHARDS);
    expect(shards).toHaveLength(SHARDS);
    expect(webhooks.map(shardOf).every((shard) => shards.includes(shard))).toBe(true);
  });
});
