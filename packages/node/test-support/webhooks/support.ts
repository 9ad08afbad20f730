/**
 * Webhook service on a real database file, with a clock that the test moves and a log that the test writes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { onTestFinished } from "vitest";
import type { PastEvents } from "../../src/event-log/history.ts";
import { toHistory } from "../../src/event-log/sqlite/history.ts";
import type { Event } from "../../src/events/catalogue.ts";
import type { ProveFact } from "../../src/proofs/assemble.ts";
import { createReadTogether, type Database } from "../../src/store/engine/database.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import type { MatchingObserver } from "../../src/subscriptions/conditions/slices.ts";
import { type Clock, SteadyTime, type WebhookObserver } from "../../src/webhooks/collaborators.ts";
import type { DeliveryRequest, Post } from "../../src/webhooks/delivery/post.ts";
import type { DeliveryResponse } from "../../src/webhooks/delivery/response.ts";
import type { DeliveryRecord } from "../../src/webhooks/model/deliveries.ts";
import { DEFAULT_WEBHOOK_OPTIONS, type WebhookOptions } from "../../src/webhooks/options.ts";
import type { Ownership } from "../../src/webhooks/ownership.ts";
import type { Register } from "../../src/webhooks/register/register.ts";
import type { WebhookRequests } from "../../src/webhooks/requests.ts";
import type { SecretCipher } from "../../src/webhooks/secrets.ts";
import { runNow, sqlOf } from "../../src/webhooks/sqlite/sql.ts";
import { openSqliteStorage } from "../../src/webhooks/sqlite/storage.ts";
import { readPage } from "../../src/webhooks/storage/delivery-log.ts";
import { Webhooks } from "../../src/webhooks/webhooks.ts";
import { createInventedBlocks } from "../store/invented-blocks.ts";
import { openMigrated } from "../store/migrated.ts";
import { createWebhookStore, type WebhookStore } from "./sqlite-register.ts";

export const silent = pino({ level: "silent" });

/** Path of a database file that is removed with the test. */
export function databasePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "node.sqlite");
}

export type TestClock = Clock & {
  /** Sets the clock of the machine ahead, or back; no timer notices. */
  step(ms: number): void;
  /** Advances the clock from timer to timer, and lets all consequences happen. */
  advance(ms: number): Promise<void>;
};

/** @param settleAll lets all consequences of a timer happen */
export function createTestClock(startMs = 1_700_000_000_000, settleAll = settle): TestClock {
  let nowMs = startMs;
  let stepMs = 0;
  const timers = new Set<{ atMs: number; work: () => void }>();
  const times = { nowMs: () => nowMs + stepMs, elapsedMs: () => nowMs };
  const steadyTime = new SteadyTime(times);
  return {
    ...times,
    steadyMs: () => steadyTime.nowMs(),
    step(ms) {
      stepMs += ms;
    },
    after(delayMs, work) {
      const timer = { atMs: nowMs + delayMs, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        await settleAll();
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (!next || next.atMs > untilMs) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.work();
      }
      nowMs = untilMs;
      await settleAll();
    },
  };
}

/** Lets ticks of the dispatcher and responses that have already arrived take place. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
}

/** Request of the dispatcher to which the test responds; `message` is its body with the sequence of the header. */
export type Call = DeliveryRequest & { readonly atMs: number; readonly message: Record<string, unknown> };

/** Responds with a status, more than that, or a reason for an exception; or never. */
export type Reply = number | DeliveryResponse | Error | "never";

export type Service = {
  readonly webhooks: WebhookRequests & Pick<Webhooks, "notify" | "close"> & { readonly register: Register };
  readonly store: WebhookStore;
  /** Last deliveries of a webhook, newest first. */
  log(webhook: number, limit: number): DeliveryRecord[];
  readonly eventLog: EventLog;
  readonly database: Database;
  readonly clock: TestClock;
  readonly calls: Call[];
  /** Logs events and wakes the service. */
  emit(...events: Event[]): Promise<void>;
  close(): Promise<void>;
};

export type ServiceOptions = {
  readonly path?: string;
  readonly clock?: TestClock;
  /** Key of the secrets in the database; they are stored in plain text unless it is given. */
  readonly cipher?: SecretCipher;
  readonly options?: Partial<WebhookOptions>;
  readonly webhooksChanged?: () => Promise<void>;
  /** Responses of targets; 200 by default. */
  readonly reply?: (call: Call, signal: AbortSignal) => Reply | Promise<Reply>;
  /** Events of the stored blocks, by height from 1. */
  readonly chain?: Event[][];
  /** Ownership of the webhooks; by default, this service owns all. */
  readonly ownership?: Ownership;
  /** Replaces `chain`, by default that of the blocks in the database. */
  readonly createPastEvents?: (database: Database) => PastEvents;
  /** Real sender, which replaces `reply`. */
  readonly post?: Post;
  /** Absent: deliveries have no proofs. */
  readonly createProveFact?: (database: Database) => ProveFact;
  readonly observer?: WebhookObserver;
  readonly matching?: MatchingObserver;
  /** Silent by default. */
  readonly logger?: Logger;
};

export function createService(given: ServiceOptions = {}): Service {
  const database = openMigrated(given.path ?? databasePath());
  const clock = given.clock ?? createTestClock();
  const store = createWebhookStore(database, given.cipher);
  const eventLog = new EventLog(database, { recordedNames: () => store.eventNames(), now: clock.nowMs });
  const calls: Call[] = [];

  const pastEvents = given.createPastEvents?.(database) ?? {
    head: () => given.chain?.length ?? 0,
    eventsAt: (height) => [...(given.chain?.[height - 1] ?? [])],
  };
  const storage = openSqliteStorage({
    ...{ database, eventLog },
    ...(given.cipher && { cipher: given.cipher }),
  });
  const { ownership = storage.queue.ownership } = given;
  const service = new Webhooks(
    { ...DEFAULT_WEBHOOK_OPTIONS, closeGraceMs: 0, ...given.options },
    {
      storage: { ...storage, queue: Object.assign(storage.queue, { ownership }) },
      history: toHistory(pastEvents, createReadTogether(database)),
      webhooksChanged: given.webhooksChanged ?? (async () => {}),
      post: given.post ?? postTo(calls, clock, given.reply),
      clock,
      random: () => 0.5,
      logger: given.logger ?? silent,
      ...(given.createProveFact && { proveFact: given.createProveFact(database) }),
      ...(given.observer && { observer: given.observer }),
      ...(given.matching && { matching: given.matching }),
    },
  );
  let isOpen = true;
  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    const closed = service.close();
    await clock.advance(0);
    await closed;
    database.close();
  }
  onTestFinished(close);
  return {
    webhooks: withRequests(service),
    store,
    log: (webhook, limit) => [...runNow(readPage(sqlOf(database), webhook, {}, { limit })).records],
    eventLog,
    database,
    clock,
    calls,
    async emit(...events) {
      database.transaction(() => eventLog.append(events));
      service.notify();
      await settle();
    },
    close,
  };
}

/** Returns the service and its requests as one object. */
function withRequests(service: Webhooks): Service["webhooks"] {
  const { requests } = service;
  const { register, log, replays } = requests;
  return {
    ...{ register, log, replays },
    dryRun: (body) => requests.dryRun(body),
    ping: (id) => requests.ping(id),
    pingTarget: (body) => requests.pingTarget(body),
    notify: () => service.notify(),
    close: (graceMs) => service.close(graceMs),
  };
}

/** Records calls, and responds as the test says; 200 by default. */
function postTo(calls: Call[], clock: TestClock, replyTo: ServiceOptions["reply"]): Post {
  return async (request, signal) => {
    const { "webhook-sequence": sequence } = request.headers;
    const message = {
      ...JSON.parse(request.body),
      ...(sequence !== undefined && { sequence: Number(sequence) }),
    };
    const call = { ...request, atMs: clock.nowMs(), message };
    calls.push(call);
    const hungUp = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason)),
    );
    hungUp.catch(() => {});
    const reply = (await Promise.race([replyTo?.(call, signal), hungUp])) ?? 200;
    if (reply instanceof Error) throw reply;
    if (reply === "never") await hungUp;
    return typeof reply === "object" ? reply : { status: Number(reply) };
  };
}

/** Body that subscribes to every event of a name. */
export const always = (event = "block.applied", target = "https://receiver.example/hook") => ({
  event,
  target,
  conditions: [{ key: "id", condition: "ne", value: "" }],
});

export const blockApplied = (height: number): Event => ({
  id: `block.applied:block${height}`,
  name: "block.applied",
  height,
  blockId: `block${height}`,
  data: { id: `block${height}`, height, totalFee: "12345678901234567890" },
});

export const blockReverted = (height: number): Event => ({
  id: `block.reverted:block${height}`,
  name: "block.reverted",
  height,
  blockId: `block${height}`,
  reverts: `block.applied:block${height}`,
  data: { id: `block${height}`, height, totalFee: "12345678901234567890" },
});

export const heights = (calls: readonly Call[]): unknown[] => calls.map(({ message }) => message.height);

/** Inserts a block, of which only the height matters. */
export const raiseChain = (database: Database, height: number): void =>
  createInventedBlocks(database)({ height, id: `block${height}` });
