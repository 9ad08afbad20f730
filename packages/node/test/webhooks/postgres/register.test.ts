/** The register in PostgreSQL, as several processes change it. */
import { EVERY_EVENT } from "@uniknode/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import type { WebhookFields } from "../../../src/webhooks/model/webhook.ts";
import { PostgresStore, readsOf, sqlOf } from "../../../src/webhooks/postgres/sql.ts";
import { CallOrder, createRequestStorage } from "../../../src/webhooks/postgres/storage.ts";
import { Register } from "../../../src/webhooks/register/register.ts";
import { PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import { CALL_TIMEOUT_MS } from "../../../src/webhooks/storage/delivery-queue.ts";
import { lockVersion, noteChange } from "../../../src/webhooks/storage/locks.ts";
import { suspendWebhook } from "../../../src/webhooks/storage/queues.ts";
import { runSteps } from "../../../src/webhooks/storage/sql.ts";
import { activateWaiting, activeWebhooks } from "../../../src/webhooks/storage/webhooks.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { silent } from "../../../test-support/webhooks/support.ts";
import { FIELDS, NOW_MS, TOKEN } from "../queue-port/subject.ts";
import {
  ALL_SHARDS,
  countStates,
  createCommands,
  insertDeliveries,
  LAST_EVENT,
  openDatabase,
  openRegister,
  takeChanges,
  untilBlocked,
} from "./open.ts";

const NEW = { fields: FIELDS, token: TOKEN };
const OTHER_TARGET = "https://other.example/";
const drop = { reason: "updated", atMs: NOW_MS };

const versionOf = (postgres: Postgres): Promise<number> =>
  postgres.transaction("READ WRITE", (transaction) => runSteps(lockVersion(sqlOf(transaction))));

const suspend = (postgres: Postgres, webhook: number, reason = "too many failures"): Promise<void> =>
  new PostgresStore(postgres).write((sql) => suspendWebhook(sql, webhook, reason, NOW_MS));

describe.skipIf(!hasPostgres)("the register in PostgreSQL", () => {
  const databases = useDatabases();

  test("The register has no webhook whose activation failed, because the node did not name its newest event.", async () => {
    const postgres = await openDatabase(databases);
    await ownByWorkers(postgres);
    const lastEvent = () => Promise.reject(new Error("down"));
    const register = new Register(
      { webhookLimit: 10, isTargetAddress: () => true },
      {
        storage: createRequestStorage({ postgres, cipher: PLAIN_SECRETS, lastEvent }).register,
        webhooksChanged: async () => {},
        createPing: () => expect.unreachable(),
        onChanged: () => {},
        onRestarted: () => {},
        awaitMatched: async () => {},
        nowMs: () => NOW_MS,
        logger: silent,
      },
    );
    const created = register.create({
      ...{ event: "block.applied", target: OTHER_TARGET },
      conditions: [EVERY_EVENT],
    });
    await expect(created).rejects.toThrow("down");
    expect(await register.list({ offset: 0, limit: 10 })).toEqual({ webhooks: [], totalCount: 0 });
  });

  describe("the limit", () => {
    test("The limit of the register holds for registrations of several processes at the same time.", async () => {
      const { postgres } = await openRegister(databases);
      const processes = [1, 2, 3].map(() => createCommands(postgres));
      const results = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) => present(processes[index % 3]).insert(NEW, 5)),
      );
      const refused = results.filter(({ status }) => status === "rejected");
      expect(refused).toHaveLength(7);
      for (const { reason } of refused as PromiseRejectedResult[])
        expect(reason).toMatchObject({ code: "WEBHOOK_LIMIT" });
      expect(await postgres.query("SELECT id FROM webhooks")).toHaveLength(5);
    });

    test("The limit of conditions holds for updates of several processes at the same time.", async () => {
      const { postgres, add } = await openRegister(databases);
      const ids = [await add(), await add(), await add()];
      const conditions = `[${" ".repeat(7 * 1_024 * 1_024)}]`;
      const results = await Promise.allSettled(
        ids.map((id) => createCommands(postgres).update(id, { changes: { conditions } })),
      );
      expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
    });
  });

  test("Two processes can change different fields of a webhook at the same time.", async () => {
    const { postgres, webhooks, add } = await openRegister(databases);
    const id = await add();
    await Promise.all(
      [{ name: "mine" }, { confirmations: 7 }, { order: "strict" as const }].map((changes) =>
        createCommands(postgres).update(id, { changes }),
      ),
    );
    expect(await webhooks.find(id)).toMatchObject({ name: "mine", confirmations: 7, order: "strict" });
  });

  test("A process changes the register in the order of its calls.", async () => {
    const { commands, webhooks, add } = await openRegister(databases);
    const id = await add();
    const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
    await Promise.all(names.map((name) => commands.update(id, { changes: { name } })));
    expect(await webhooks.find(id)).toMatchObject({ name: "name 19" });
  });

  test("Every field is stored, and pages are ordered by id.", async () => {
    const { webhooks, add } = await openRegister(databases);
    const fields: WebhookFields = {
      event: null,
      events: ["unik.*", "block.applied"],
      target: "nats://receiver.example/chain",
      enabled: false,
      conditions: '[{"key":"id","condition":"eq","value":"\\u0000"}]',
      match: "all",
      order: "strict",
      confirmations: 10_000,
      proof: true,
      name: "mine",
    };
    const ids = [await add(fields), await add(), await add()];
    const first = { id: ids[0], ...fields, secrets: { token: TOKEN } };
    expect(await webhooks.find(present(ids[0]))).toEqual(first);
    expect(await webhooks.page({ offset: 0, limit: 1 })).toEqual([first]);
    expect((await webhooks.page({ offset: 1, limit: 9 })).map(({ id }) => id)).toEqual(ids.slice(1));
    expect(await webhooks.count()).toBe(3);
  });

  test("Active webhooks are returned by shard, with the event from which on they receive events.", async () => {
    const { postgres, commands, add } = await openRegister(databases);
    const [a, b, c] = [await add(), await add({ enabled: false }), await add({ confirmations: 3 })];
    const waiting = await commands.insert(NEW, 9);
    const all = await runSteps(activeWebhooks(readsOf(postgres), ALL_SHARDS));
    const { event, events, conditions, match } = FIELDS;
    const shared = { event, events, conditions, match, activeAfter: LAST_EVENT };
    expect(all.slice(0, 2)).toEqual([
      { ...shared, id: a, confirmations: 0 },
      { ...shared, id: c, confirmations: 3 },
    ]);
    expect(all[2]).toMatchObject({ id: waiting.id, activeAfter: Number.MAX_SAFE_INTEGER });
    expect((await runSteps(activeWebhooks(readsOf(postgres), [c % 32]))).map(({ id }) => id)).toEqual([c]);
    await new PostgresStore(postgres).write((sql) => activateWaiting(sql, 80));
    const activated = await runSteps(activeWebhooks(readsOf(postgres), ALL_SHARDS));
    expect(activated.map(({ id, activeAfter }) => [id, activeAfter])).toEqual([
      [a, LAST_EVENT],
      [c, LAST_EVENT],
      [waiting.id, 80],
    ]);
    expect(b).toBeLessThan(c);
  });

  test("The version changes with every change of the active webhooks.", async () => {
    const { postgres, commands } = await openRegister(databases);
    let version = await versionOf(postgres);
    const { id } = await commands.insert(NEW, 9);
    const changes = [
      () => commands.activate(id),
      () => commands.update(id, { changes: { confirmations: 1 } }),
      () => suspend(postgres, id),
      () => commands.resume(id),
      () => commands.remove(id),
    ];
    for (const change of changes) {
      await change();
      const next = await versionOf(postgres);
      expect(next).toBeGreaterThan(version);
      version = next;
    }
  });

  test("The owner of a webhook is notified of changes by other processes.", async () => {
    const { postgres, commands, add } = await openRegister(databases);
    const id = await add();
    expect(await takeChanges(postgres)).toEqual([]);
    const expectChange = async (change: Promise<unknown>, isRestart: boolean) => {
      await change;
      expect(await takeChanges(postgres)).toEqual([[id, isRestart]]);
    };
    const ping = { webhook: id, id: "ping", event: "ping", createdMs: NOW_MS, content: { dataText: "{}" } };
    await expectChange(commands.activate(id, ping), false);
    await expectChange(commands.update(id, { changes: { name: "mine" } }), false);
    await expectChange(commands.update(id, { changes: { target: OTHER_TARGET } }), true);
    await expectChange(commands.rotate(id, TOKEN, NOW_MS), false);
    await suspend(postgres, id);
    expect(await takeChanges(postgres)).toEqual([]);
    await expectChange(commands.resume(id), true);
    await expectChange(commands.remove(id), true);
  });

  test("The owner cannot remove a notification before it can see the change.", async () => {
    const { postgres, add } = await openRegister(databases);
    const id = await add();
    await new PostgresStore(postgres).write((sql) => noteChange(sql, id, false));
    let isCommitted = false;
    const taken = await postgres.transaction("READ WRITE", async (transaction) => {
      await runSteps(noteChange(sqlOf(transaction), id, false));
      const changes = takeChanges(postgres).then((changes) => ({ changes, isCommitted }));
      await untilBlocked(postgres);
      isCommitted = true;
      return { changes };
    });
    expect(await taken.changes).toEqual({ changes: [[id, false]], isCommitted: true });
  });

  test("An update that drops the queue cancels what is pending, and counts it.", async () => {
    const { postgres, commands, add } = await openRegister(databases);
    const id = await add();
    await insertDeliveries(postgres, id, 3);
    await insertDeliveries(postgres, id, 2, { next_attempt_ms: NOW_MS, attempts: 1 });
    await insertDeliveries(postgres, id, 1, { reverts: "fact" });
    await insertDeliveries(postgres, id, 4, {}, "replay");
    await insertDeliveries(postgres, id, 1, { state: "delivered" });
    expect(await commands.update(id, { changes: {}, drop })).toMatchObject({ dropped: 10 });
    expect(await countStates(postgres, id)).toEqual({ pending: 1, cancelled: 9, delivered: 1 });
    const moved = { changes: { target: OTHER_TARGET }, drop };
    expect(await commands.update(id, moved)).toMatchObject({ dropped: 1, restarts: true });
    expect(await countStates(postgres, id)).toEqual({ cancelled: 10, delivered: 1 });
    expect(await postgres.query("SELECT target_number FROM webhooks")).toEqual([{ target_number: 2 }]);
  });

  test("A removed webhook leaves deliveries to drop, and no other rows.", async () => {
    const { postgres, commands, webhooks, add } = await openRegister(databases);
    const id = await add();
    await postgres.query("INSERT INTO webhook_aliases VALUES ('old', $1)", [id]);
    expect([await webhooks.idOf("old"), await webhooks.withAlias()]).toEqual([id, [id]]);
    await insertDeliveries(postgres, id, 2);
    await suspend(postgres, id);
    expect(await commands.remove(id)).toBe(true);
    expect(await webhooks.find(id)).toBeUndefined();
    expect([await webhooks.idOf("old"), await webhooks.idOf("a\0"), await webhooks.withAlias()]).toEqual([
      undefined,
      undefined,
      [],
    ]);
    expect(await postgres.query("SELECT id FROM removed_webhooks")).toEqual([{ id: `${id}` }]);
    for (const table of ["queues", "finishing_queues", "webhook_aliases"])
      expect(await postgres.query(`SELECT * FROM ${table}`), table).toEqual([]);
    expect(await countStates(postgres, id)).toEqual({ pending: 2 });
    await commands.activate(id);
    await commands.resume(id);
    expect(await commands.rotate(id, TOKEN, NOW_MS)).toBeUndefined();
  });

  test("A suspension shows its reason, which PostgreSQL can store, and stays the first one.", async () => {
    const { postgres, webhooks, add } = await openRegister(databases);
    const id = await add();
    await suspend(postgres, id, "\0 gone");
    await suspend(postgres, id, "later");
    const suspended = { reason: "\uFFFD gone", sinceMs: NOW_MS };
    expect(await webhooks.find(id)).toMatchObject({ suspended });
  });
});

test("A change that waited too long for its turn is refused, and later ones are not.", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const order = new CallOrder();
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>();
  const first = order.run(() => blocked);
  const second = order.run(async () => "second");
  // The first one has begun.
  await Promise.resolve();
  vi.advanceTimersByTime(CALL_TIMEOUT_MS + 1);
  const third = order.run(async () => "third");
  release();
  await first;
  await expect(second).rejects.toMatchObject({ code: "POSTGRES_BUSY", isRetryable: true });
  expect(await third).toBe("third");
});
