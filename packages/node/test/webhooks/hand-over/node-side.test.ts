/** The node's side of a hand-over: the service runs only while the node owns the webhooks. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { toHistory } from "../../../src/event-log/sqlite/history.ts";
import { createReadTogether, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { EventLog } from "../../../src/store/events/event-log.ts";
import { MetaStore } from "../../../src/store/node/meta.ts";
import type { DeliveryRequest } from "../../../src/webhooks/delivery/post.ts";
import { FORMAT, type HandOverHead } from "../../../src/webhooks/hand-over/lines.ts";
import { NodeSide } from "../../../src/webhooks/hand-over/node-side.ts";
import { ServiceSwitch } from "../../../src/webhooks/hand-over/service-switch.ts";
import { TABLE_NAMES, type TableName } from "../../../src/webhooks/hand-over/tables.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../../src/webhooks/options.ts";
import { PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import { SqliteHandOverRows } from "../../../src/webhooks/sqlite/hand-over/rows.ts";
import { openSqliteStorage } from "../../../src/webhooks/sqlite/storage.ts";
import { Webhooks } from "../../../src/webhooks/webhooks.ts";
import { collect, LAST, ROWS } from "../../../test-support/webhooks/hand-over-rows.ts";
import { always, blockApplied, databasePath, silent } from "../../../test-support/webhooks/support.ts";

type Node = {
  readonly side: NodeSide;
  readonly service: ServiceSwitch;
  /** Calls to receivers. */
  readonly calls: DeliveryRequest[];
  /** Lets receivers respond; until then, calls are running. */
  respond(): void;
  /** Logs an event. */
  emit(height: number): void;
};

function openNode(path = databasePath()): Node {
  const database = openDatabase(path);
  onTestFinished(database.close);
  migrate(database);
  new MetaStore(database).write("nethash", "chain");
  const eventLog = new EventLog(database, { recordedNames: () => new Set(["block.applied"]) });
  const rows = new SqliteHandOverRows({
    ...{ database, databasePath: path, eventLog, cipher: PLAIN_SECRETS },
  });
  const calls: DeliveryRequest[] = [];
  const { promise: responding, resolve: respond } = Promise.withResolvers<void>();
  const webhooksChanged = async () => {};
  const service = new ServiceSwitch({
    open: () =>
      new Webhooks(DEFAULT_WEBHOOK_OPTIONS, {
        storage: openSqliteStorage({ database, eventLog }),
        history: toHistory({ head: () => 0, eventsAt: () => [] }, createReadTogether(database)),
        async post(request) {
          calls.push(request);
          await responding;
          return { status: 200 };
        },
        webhooksChanged,
        logger: silent,
      }),
    owner: () => rows.owner(),
    logger: silent,
  });
  const side = new NodeSide({ graceMs: 10_000 }, { rows, service, webhooksChanged, logger: silent });
  side.start();
  service.notify();
  onTestFinished(async () => {
    respond();
    await side.close();
  });
  const emit = (height: number) => {
    database.transaction(() => eventLog.append([blockApplied(height)]));
    service.notify();
  };
  return { side, service, calls, respond, emit };
}

const TO_WORKERS = { from: "node", to: "to workers", transfer: "a" } as const;
const OF_WORKERS = { from: "to workers", to: "workers", transfer: "a" } as const;
const TO_NODE = { from: "workers", to: "to node", transfer: "b" } as const;
const HEAD: HandOverHead = {
  ...{ format: FORMAT, network: "chain", matched: 0, isEncrypted: false, epoch: 0, last: LAST },
};

const stopped = ({ side }: Node) => expect.poll(() => side.status().isStopped).toBe(true);

async function ownedByWorkers(node: Node): Promise<void> {
  await node.side.change(TO_WORKERS);
  await stopped(node);
  await node.side.change(OF_WORKERS);
}

test("A hand-over waits for running calls and records them, and refuses requests at once.", async () => {
  const node = openNode();
  const { side, service, calls, respond, emit } = node;
  const { id } = await service.requests.register.create(always());
  emit(1);
  await expect.poll(() => calls.length).toBe(1);
  expect(await side.change(TO_WORKERS)).toMatchObject({ state: "to workers", isStopped: false });
  await expect(service.requests.register.find(`${id}`)).rejects.toMatchObject({
    code: "WEBHOOKS_IN_TRANSFER",
    isRetryable: true,
  });
  expect(() => side.lines("a")).toThrow(expect.objectContaining({ code: "NOT_READY" }));
  emit(2);
  respond();
  await stopped(node);
  expect(calls).toHaveLength(1);
  const { rows } = await collect(side.lines("a"));
  expect(rows.deliveries).toEqual([expect.arrayContaining([1, "block.applied", "block1", "delivered"])]);
  expect(side.status()).toMatchObject({ matched: 1 });
});

test("A hand-over waits for requests in progress.", async () => {
  const { side, service, respond } = openNode();
  const pinging = service.requests.pingTarget({ target: "https://receiver.example/" });
  await side.change(TO_WORKERS);
  await sleep(20);
  expect(side.status().isStopped).toBe(false);
  respond();
  await pinging;
  await expect.poll(() => side.status().isStopped).toBe(true);
});

test("A cancelled hand-over continues with the next delivery.", async () => {
  const node = openNode();
  const { side, service, calls, respond, emit } = node;
  await service.requests.register.create(always());
  respond();
  emit(1);
  await expect.poll(() => calls.length).toBe(1);
  await side.change(TO_WORKERS);
  emit(2);
  await stopped(node);
  expect(await side.change({ from: "to workers", to: "node", transfer: "a" })).toMatchObject({
    state: "node",
  });
  await expect.poll(() => calls.length).toBe(2);
  // Repeated without effect.
  await side.change({ from: "to workers", to: "node", transfer: "a" });
  expect(side.status().isStopped).toBe(false);
  expect(await service.requests.register.list({ offset: 0, limit: 1 })).toMatchObject({ totalCount: 1 });
});

test("The node sends nothing after a restart during a hand-over, and continues it.", async () => {
  const path = databasePath();
  const first = openNode(path);
  await first.service.requests.register.create(always());
  await first.side.change(TO_WORKERS);
  await stopped(first);
  const second = openNode(path);
  second.emit(1);
  expect(second.side.status()).toMatchObject({ state: "to workers", isStopped: true });
  expect((await collect(second.side.lines("a"))).rows.webhooks).toHaveLength(1);
  expect(() => second.side.lines("b")).toThrow(expect.objectContaining({ code: "OWNER_CHANGED" }));
  await second.side.change(OF_WORKERS);
  await expect(second.service.requests.register.list({ offset: 0, limit: 1 })).rejects.toMatchObject({
    code: "WEBHOOKS_OF_WORKERS",
  });
  expect(second.calls).toEqual([]);
});

/** Sends all rows in parts. Returns the number of the next part. */
function sendAll(side: NodeSide, session: string): number {
  let part = 1;
  const order = () => ({ transfer: "b", session, part: part++ });
  for (const table of TABLE_NAMES) side.receive(order(), { table, rows: ROWS[table as TableName] });
  return part;
}
const COUNT = TABLE_NAMES.reduce((sum, table) => sum + ROWS[table].length, 0);

test("A node receives webhooks in parts, in order, and sends once it has all of them.", async () => {
  const node = openNode();
  const { side, calls } = node;
  await ownedByWorkers(node);
  const order = (part: number, session = "s") => ({ transfer: "b", session, part });
  expect(() => side.receive(order(0), undefined)).toThrow(expect.objectContaining({ code: "OWNER_CHANGED" }));
  await side.change(TO_NODE);
  expect(() => side.receive(order(1), { table: "queues", rows: [] })).toThrow(
    expect.objectContaining({ code: "PART_UNEXPECTED" }),
  );
  side.receive(order(0), undefined);
  const part = sendAll(side, "s");
  // The response to the last part was lost.
  side.receive(order(part - 1), { table: "attempt_counts", rows: ROWS.attempt_counts });
  expect(() => side.receive(order(part + 1), { table: "queues", rows: [] })).toThrow(
    expect.objectContaining({ code: "PART_UNEXPECTED" }),
  );
  await expect(side.finish(order(part - 1), HEAD, COUNT)).rejects.toMatchObject({ code: "PART_UNEXPECTED" });
  await expect(side.finish(order(part), HEAD, COUNT + 1)).rejects.toMatchObject({ code: "PART_UNEXPECTED" });
  expect(calls).toEqual([]);
  expect(await side.finish(order(part), HEAD, COUNT)).toMatchObject({ state: "node", transfer: "b" });
  expect(await side.finish(order(part), HEAD, COUNT)).toMatchObject({ state: "node" });
  await expect.poll(() => calls.length).toBeGreaterThan(0);
});

test("A second command begins again, and the first one cannot complete.", async () => {
  const node = openNode();
  const { side } = node;
  await ownedByWorkers(node);
  await side.change(TO_NODE);
  side.receive({ transfer: "b", session: "first", part: 0 }, undefined);
  const part = sendAll(side, "first");
  const begin = () => side.receive({ transfer: "b", session: "second", part: 0 }, undefined);
  expect(begin).toThrow(expect.objectContaining({ code: "NOT_READY" }));
  await expect(side.finish({ transfer: "b", session: "first", part }, HEAD, COUNT)).rejects.toMatchObject({
    code: "PART_UNEXPECTED",
  });
  await expect
    .poll(() => {
      try {
        begin();
        return true;
      } catch {
        return false;
      }
    })
    .toBe(true);
  const next = sendAll(side, "second");
  await side.finish({ transfer: "b", session: "second", part: next }, HEAD, COUNT);
});

test("A cancelled hand-over to the node drops the rows that have arrived.", async () => {
  const path = databasePath();
  const node = openNode(path);
  await ownedByWorkers(node);
  await node.side.change(TO_NODE);
  node.side.receive({ transfer: "b", session: "s", part: 0 }, undefined);
  sendAll(node.side, "s");
  await node.side.change({ from: "to node", to: "workers", transfer: "b" });
  const database = openDatabase(path, { readonly: true });
  onTestFinished(database.close);
  await expect.poll(() => database.prepare("SELECT 1 FROM webhooks").all()).toEqual([]);
  expect(node.side.status()).toMatchObject({ state: "workers", transfer: "b", isStopped: true });
});

test("Only events of its own log convince a node, and it never becomes the owner without rows.", async () => {
  const node = openNode();
  const { side } = node;
  await expect(side.change(TO_WORKERS, { sequence: 7, id: "other" })).rejects.toMatchObject({
    code: "OTHER_NODE",
  });
  expect(side.status().state).toBe("node");
  await ownedByWorkers(node);
  await side.change(TO_NODE);
  await expect(side.change({ from: "to node", to: "node", transfer: "b" })).rejects.toMatchObject({
    code: "OWNER_CHANGED",
  });
});
