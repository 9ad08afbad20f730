/** A worker, clients of other processes and retention that change the same queues at the same time. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import type { IntakeCommand } from "../../../src/webhooks/intake.ts";
import type { AttemptOutcome } from "../../../src/webhooks/model/deliveries.ts";
import { openPostgresStorage } from "../../../src/webhooks/postgres/storage.ts";
import { PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import type { DeliveryQueue } from "../../../src/webhooks/storage/delivery-queue.ts";
import type { WebhookStorage } from "../../../src/webhooks/webhooks.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { connect, hasPostgres } from "../../../test-support/postgres/server.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";
import { createDraws, type Random } from "../../../test-support/random.ts";
import { countRows } from "../../../test-support/webhooks/postgres-rows.ts";
import { openPostgresSubject } from "../queue-port/postgres-subject.ts";
import { apply, enqueue, NOW_MS, nextFirst, type Subject } from "../queue-port/subject.ts";

const databases = useDatabases();
const STEPS = 60;
const MAX_STEPS = 1_000;
const RETENTION = {
  ...{ maxAgeMs: 1_000, maxFailedAgeMs: 1_000, maxDeliveries: 300, maxWaiting: 40, keptBlocks: 1 },
};

let postgres: Postgres;
let worker: Subject;
/** The same database in another process, which owns nothing. */
let other: WebhookStorage;
let webhooks: number[];

type Step = (random: Random, webhook: number) => Promise<unknown>;

/** Runs random steps one after the other. */
async function runSteps(seed: number, steps: readonly Step[]): Promise<void> {
  const random = createDraws(seed);
  for (let step = 0; step < STEPS; step++) await random.pick(steps)(random, random.pick(webhooks));
}

const block = (height: number) => ({ height, blockId: `b${height}` });

/** Puts events of a block into all queues, or retracts delivered ones. */
function createMatching(): Step[] {
  let height = 0;
  const put: Step = async (random) => {
    height++;
    // Retention keeps the facts of blocks that can be reverted.
    await postgres.query("UPDATE head SET height = $1", [height]);
    const commands = webhooks.flatMap((webhook) =>
      Array.from({ length: random.integer(0, 8) }, (_, index) =>
        enqueue(webhook, `${height} ${webhook} ${index}`, { ...block(height), isRetractable: true }),
      ),
    );
    return apply(worker, commands);
  };
  const retract: Step = async () => {
    const reverted = block(height);
    const facts = await worker.intake.unretracted([reverted], 100);
    const commands = facts.map(({ number, webhook, id, content, hasSameTarget }): IntakeCommand => {
      const retraction = { webhook, id: `${id} -`, event: "block.reverted", reverts: id, content };
      return { kind: "retract", number, webhook, ...(hasSameTarget && { retraction }) };
    });
    return apply(worker, commands);
  };
  return [put, put, retract];
}

/** Records an outcome of everything that is due. */
const send: Step = async (random) => {
  const due = await Promise.all(webhooks.map((webhook) => dueOf(worker.queue, webhook)));
  const outcomes = due.flat().map(({ webhook, delivery }): AttemptOutcome => {
    const base = { webhook, delivery, attempt: { startedMs: NOW_MS, durationMs: 1 }, atMs: NOW_MS };
    const retryAtMs = random.chance(0.6) ? NOW_MS + random.integer(0, 9) : undefined;
    const suspension = {
      reason: "gone",
      ...(random.chance(0.9) && { ifFailingBeforeMs: random.chance(0.9) ? 0 : NOW_MS + 1 }),
    };
    return random.chance(0.6) ? base : { ...base, failure: { reason: "HTTP 500", retryAtMs, suspension } };
  });
  return worker.queue.record(outcomes);
};

async function dueOf(queue: DeliveryQueue, webhook: number) {
  const found = [
    ...(await nextFirst(queue, webhook, 0, 5)),
    (await queue.nextRetry(webhook, NOW_MS + 9)) ?? [],
    (await queue.nextReplayed(webhook, 0)) ?? [],
  ].flat();
  return found.map(({ number }) => ({ webhook, delivery: number }));
}

const finish: Step = () => worker.queue.finishStep(NOW_MS);
const takeChanges: Step = () => worker.queue.ownership.takeChanges();

/** Steps that are refused while a queue is being finished. */
const sendAgain: Step[] = [
  async (random: Random, webhook: number) => {
    const { records } = await other.queue.log.page(webhook, {}, { limit: 20 });
    const numbers = records.flatMap(({ number }) => (random.chance(0.5) ? number : []));
    return other.queue.log.sendNow(webhook, numbers, NOW_MS);
  },
  (random: Random, webhook: number) =>
    other.queue.log.requeueMatching(
      webhook,
      { state: random.pick(["failed", "cancelled", "delivered"]) },
      { after: 0, limit: 500 },
      NOW_MS,
    ),
  (random: Random, webhook: number) =>
    other.queue.log.expediteMatching(
      webhook,
      random.pick(["first", "retry", "replay"]),
      {},
      { after: 0, limit: 500 },
      NOW_MS,
    ),
].map((step: Step) => async (random, webhook) => {
  await step(random, webhook).catch((error) => expect(error).toMatchObject({ code: "QUEUE_ENDING" }));
});

const change: Step[] = [
  (random, webhook) =>
    other.register.commands.update(webhook, {
      changes: { target: `https://receiver.example/${random.integer(1, 3)}`, enabled: random.chance(0.9) },
      ...(random.chance(0.2) && { drop: { reason: "updated", atMs: NOW_MS } }),
    }),
  (_random, webhook) => other.register.commands.resume(webhook),
  (_random, webhook) => other.queue.replays.start(webhook, { fromHeight: 1, toHeight: 9 }, NOW_MS),
  (_random, webhook) => other.queue.replays.cancel(webhook, NOW_MS),
  (random, webhook) =>
    other.queue.recordPing({
      ...{ webhook, id: `ping ${random.below(1)}`, createdMs: NOW_MS, dataText: "{}", finishedMs: NOW_MS },
      attempt: { startedMs: NOW_MS, durationMs: 1 },
    }),
];

const retain = (queue: DeliveryQueue): Step[] => [
  () => queue.retention.dropBehind(0, RETENTION, NOW_MS),
  () => queue.retention.dropRemoved(),
  async () => {
    const overfull = await queue.retention.nextOverfull(0, RETENTION.maxWaiting);
    return overfull && queue.retention.failSurplus(overfull, NOW_MS);
  },
];

/** Continues the steps of the worker until none is left. */
async function finishAll(): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) if (!(await worker.queue.finishStep(NOW_MS)).more) return;
  throw new Error("the queues are never finished");
}

/** The deliveries that belong to lanes, and the entries of the lanes. */
const IN_LANES = `SELECT lane_of(state, next_attempt_ms, replay), webhook, number, next_attempt_ms, replay, reverts IS NOT NULL
  FROM deliveries WHERE state IN ('pending', 'failed')`;
const ENTRIES = "SELECT * FROM delivery_lanes";

describe.skipIf(!hasPostgres)("webhooks on PostgreSQL that several processes change", () => {
  beforeEach(async () => {
    const url = await databases.create();
    // Its statements wait for the locks of others.
    worker = await openPostgresSubject(url, WAIT_MS);
    postgres = connect(url);
    await postgres.query("INSERT INTO head VALUES (true, 'network', 0, '0', 0, 'ready', 1, 'test', now())");
    other = openPostgresStorage(
      { worker: "other", leaseMs: 600_000 },
      { postgres, network: "network", cipher: PLAIN_SECRETS },
    );
    webhooks = [
      ...[await worker.addWebhook(), await worker.addWebhook({ order: "strict" })],
      await worker.addWebhook(),
    ];
  });
  afterEach(() => postgres.close());

  test.each([1, 2, 3])(
    "Webhooks on PostgreSQL that several processes change end without deadlocks, and stay consistent (seed %i).",
    async (seed) => {
      const removed = await worker.addWebhook();
      webhooks.push(removed);
      await Promise.all([
        runSteps(seed, [...createMatching(), send, send, finish, takeChanges]),
        runSteps(seed + 10, sendAgain),
        runSteps(seed + 20, [...sendAgain, ...change]),
        runSteps(seed + 30, change),
        runSteps(seed + 40, retain(worker.queue)),
        runSteps(seed + 50, retain(other.queue)),
      ]);
      webhooks.pop();
      await Promise.all([
        runSteps(seed + 60, [...createMatching(), send]),
        other.register.commands.remove(removed),
        runSteps(seed + 70, retain(other.queue)),
      ]);
      await finishAll();
      while (await other.queue.retention.dropRemoved());
      const none = await Promise.all(
        [
          "attempts WHERE delivery NOT IN (SELECT number FROM deliveries)",
          "contents WHERE number NOT IN (SELECT content FROM deliveries)",
          "deliveries WHERE content NOT IN (SELECT number FROM contents)",
          "deliveries WHERE (state = 'pending') = (finished_ms IS NOT NULL)",
          "deliveries WHERE webhook NOT IN (SELECT id FROM webhooks)",
          "queues JOIN deliveries USING (webhook) WHERE sequence > last_sequence",
          `(${IN_LANES} EXCEPT ${ENTRIES}) AS missing`,
          `(${ENTRIES} EXCEPT ${IN_LANES}) AS superfluous`,
          "(SELECT FROM deliveries WHERE sequence IS NOT NULL GROUP BY webhook, sequence HAVING count(*) > 1) AS twice",
        ].map((rows) => countRows(postgres, rows)),
      );
      expect(none).toEqual(none.map(() => 0));
      expect(await countRows(postgres, "deliveries")).toBeGreaterThan(0);
      expect(
        present(await other.queue.log.page(present(webhooks[0]), {}, { limit: 1 })).records,
      ).toHaveLength(1);
    },
  );
});
