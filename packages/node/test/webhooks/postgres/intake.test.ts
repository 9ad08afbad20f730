/** Batches of a worker whose shards have different positions in the events. */
import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { NO_MATCHING_OBSERVER } from "../../../src/subscriptions/conditions/slices.ts";
import { createFit } from "../../../src/subscriptions/content.ts";
import { DefinitionReader } from "../../../src/webhooks/matching/definitions.ts";
import { Matcher } from "../../../src/webhooks/matching/matcher.ts";
import { PostgresIntake } from "../../../src/webhooks/postgres/intake.ts";
import { ShardOwnership } from "../../../src/webhooks/postgres/ownership.ts";
import { shardOf } from "../../../src/webhooks/storage/shards.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { silent } from "../../../test-support/webhooks/support.ts";
import { openRegister } from "./open.ts";

const databases = useDatabases();

const EVERY_EVENT = JSON.stringify([{ key: "always", condition: "ne", value: "never" }]);

const openOwnership = (postgres: Postgres) =>
  new ShardOwnership({ worker: "a", leaseMs: 60_000 }, { postgres, elapsedMs: () => performance.now() });

const createMatcher = (intake: PostgresIntake): Matcher =>
  new Matcher({
    ...{ logger: silent, observer: NO_MATCHING_OBSERVER },
    ...{ network: "", fit: createFit(1_000), nowMs: () => 0 },
    intake,
    definitions: new DefinitionReader(intake, silent),
  });

const addEvents = ({ query }: Postgres, first: number, last: number) =>
  query(
    `INSERT INTO events (sequence, id, name, created_ms)
     SELECT sequence, 'event' || sequence, 'block.applied', 0
     FROM generate_series($1::integer, $2::integer) AS sequence`,
    [first, last],
  );

const BLOCK = { height: 78, blockId: "reverted" };

test.runIf(hasPostgres)(
  "A reverted block drops the unconfirmed events of the shards that have reached the revert, and no others.",
  async () => {
    const { postgres, add } = await openRegister(databases);
    await ownByWorkers(postgres);
    const [first, second] = [await add({ confirmations: 3 }), await add({ confirmations: 3 })];
    await postgres.query(
      `INSERT INTO unconfirmed_events (webhook, sequence, name, event_id, event_name, height, block_id)
       SELECT webhook, 1, 'transaction.applied', 'fact', 'transaction.applied', $2::bigint, $3
       FROM unnest($1::bigint[]) AS webhook`,
      [[first, second], BLOCK.height, BLOCK.blockId],
    );
    await postgres.query(
      `INSERT INTO events (sequence, id, name, height, block_id, created_ms, reverts)
       VALUES (11, 'revert', 'block.reverted', $1, $2, 0, 'block')`,
      [BLOCK.height, BLOCK.blockId],
    );
    await postgres.query(
      "UPDATE shard_positions SET matched = CASE WHEN shard = $1::bigint % 32 THEN 10 ELSE 20 END",
      [first],
    );
    const ownership = openOwnership(postgres);
    await ownership.renew();
    const intake = new PostgresIntake(postgres, ownership);
    expect((await intake.nextEvents(10)).map(({ sequence }) => sequence)).toEqual([11]);
    const { version = -1 } = (await intake.activeWebhooks(undefined)) ?? {};
    const { isCurrent } = await intake.apply({
      registerVersion: version,
      atMs: 0,
      commands: [{ kind: "drop", block: BLOCK }],
      position: { reader: "log", matched: 11 },
    });
    expect(isCurrent).toBe(true);
    const left = await postgres.query<{ webhook: string }>("SELECT webhook FROM unconfirmed_events");
    expect(left.map(({ webhook }) => Number(webhook))).toEqual([second]);
  },
);

test.runIf(hasPostgres)(
  "A shard that is claimed while a step is matched joins the others, although none of its webhooks receives an event of the step.",
  async () => {
    const { postgres, add } = await openRegister(databases);
    await ownByWorkers(postgres);
    const first = await add();
    await addEvents(postgres, 71, 76);
    await postgres.query("UPDATE shard_positions SET matched = 70");
    const owned = openOwnership(postgres);
    await owned.renew();
    const held = new Map([...owned.held].filter(([shard]) => shard === shardOf(first)));
    const intake = new PostgresIntake(postgres, { worker: owned.worker, held });
    const nextEvents = intake.nextEvents.bind(intake);
    intake.nextEvents = async () => {
      const events = await nextEvents(3);
      for (const [shard, others] of owned.held) held.set(shard, held.get(shard) ?? others);
      return events;
    };
    const matcher = createMatcher(intake);
    for (let steps = 0; steps < 6; steps++) await matcher.step();
    const positions = await postgres.query<{ matched: string }>(
      "SELECT DISTINCT matched FROM shard_positions",
    );
    expect(positions).toEqual([{ matched: "76" }]);
  },
);

/** Opens a worker that has matched ten events for a webhook. */
async function openMatched() {
  const { postgres, add } = await openRegister(databases);
  const { query } = postgres;
  await ownByWorkers(postgres);
  const webhook = await add({ conditions: EVERY_EVENT });
  await query("UPDATE webhooks SET active_after = 0");
  await addEvents(postgres, 1, 10);
  const ownership = openOwnership(postgres);
  await ownership.renew();
  const matcher = createMatcher(new PostgresIntake(postgres, ownership));
  await matcher.step();
  const sequences = async () => {
    const rows = await query<{ sequence: string }>("SELECT sequence FROM deliveries ORDER BY number");
    return rows.map(({ sequence }) => Number(sequence));
  };
  expect(await sequences()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  return { postgres, webhook, ownership, matcher, sequences };
}

test.runIf(hasPostgres)(
  "A database that has lost commits gets the deliveries of its last events again, in a higher epoch.",
  async () => {
    const { postgres, webhook, ownership, matcher, sequences } = await openMatched();
    const { query } = postgres;
    const epoch = present(ownership.epochOf(webhook));
    // The database is now a replica that was promoted without the last commits: the mirror has copied the events again.
    await query("UPDATE shard_positions SET matched = 5");
    await query("DELETE FROM deliveries WHERE sequence > 5");
    await query("UPDATE queues SET last_sequence = 5");
    await query("UPDATE webhook_register SET version = version - 1");
    await addEvents(postgres, 11, 11);
    await matcher.step();
    expect(await sequences()).toEqual([1, 2, 3, 4, 5]);
    expect(await ownership.renew()).toEqual({ gained: [webhook], lost: [webhook], surplus: [] });
    expect(present(ownership.epochOf(webhook))).toBeGreaterThan(epoch);
    await matcher.step();
    expect(await sequences()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await ownership.renew()).toEqual({ gained: [], lost: [], surplus: [] });
  },
);

test.runIf(hasPostgres)(
  "A commit whose response was lost is matched again, without a second delivery.",
  async () => {
    const { postgres, ownership, matcher, sequences } = await openMatched();
    for (const shard of ownership.held.values()) shard.matched = 8;
    await addEvents(postgres, 11, 11);
    await matcher.step();
    expect(await sequences()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await ownership.renew()).toEqual({ gained: [], lost: [], surplus: [] });
  },
);
