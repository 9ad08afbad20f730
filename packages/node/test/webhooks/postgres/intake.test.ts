/** Batches of a worker whose shards have different positions in the events. */
import { expect, test } from "vitest";
import { createPostgresIntake } from "../../../src/webhooks/postgres/intake.ts";
import { createOwnership } from "../../../src/webhooks/postgres/ownership.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { openRegister } from "./open.ts";

const databases = useDatabases();
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
    const elapsedMs = () => performance.now();
    const ownership = createOwnership({ worker: "a", leaseMs: 60_000 }, { postgres, elapsedMs });
    await ownership.renew();
    const { nextEvents, activeWebhooks, apply } = createPostgresIntake({ postgres, ownership });
    expect((await nextEvents(10)).map(({ sequence }) => sequence)).toEqual([11]);
    const { version = -1 } = (await activeWebhooks(undefined)) ?? {};
    const { isCurrent } = await apply({
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
