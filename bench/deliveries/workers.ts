/** Delivery workers: the real processes, over the tables of a mirror. */

import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Running, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import type { Contender } from "./contender.ts";

const EVENT = "transaction.applied";
const ALWAYS = JSON.stringify([EVERY_EVENT]);
/** More than the concurrent calls of a webhook: all earlier deliveries are recorded. */
const LATEST = 64;
const TOKEN = "5".repeat(64);

export const deliveryWorkers: Contender = {
  name: "delivery workers",
  async prepare(postgres, { webhooks, target }) {
    await postgres.query(
      `INSERT INTO webhooks (event, events, target, enabled, conditions, match_all, strict, confirmations, token, active_after)
       SELECT $2, '[]', $3, true, $4, false, false, 0, $5, last_sequence FROM generate_series(1, $1::integer), event_log`,
      [webhooks, EVENT, target, ALWAYS, TOKEN],
    );
    await postgres.query("INSERT INTO queues (webhook) SELECT id FROM webhooks");
    await postgres.query("UPDATE shard_positions SET matched = last_sequence FROM event_log");
    await postgres.query(
      "UPDATE webhook_register SET version = version + 1, owner = 'workers', transfer = 'bench'",
    );
  },
  async start(databaseUrl, count) {
    const running = Array.from({ length: count }, (_, index) =>
      spawnUniknode([
        ...["deliver", "--database-url", databaseUrl, "--name", `worker ${index}`],
        ...["--operations-port", "0", "--webhook-private-targets", "--log-level", "error"],
      ]),
    );
    return {
      pids: running.map(({ child }) => present(child.pid)),
      failure: () => running.find(({ child }) => child.exitCode !== null)?.stderr(),
      stop: async () => void (await Promise.all(running.map(end))),
    };
  },
  async commit(postgres, events) {
    await postgres.transaction("READ WRITE", async ({ query, change }) => {
      const [log] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log FOR UPDATE");
      const last = Number(present(log, "the row of the log").last);
      await change(
        `INSERT INTO events (sequence, id, name, height, block_id, created_ms, data)
         SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])`,
        [
          events.map((_, index) => last + index + 1),
          events.map(({ id }) => id),
          events.map(({ name }) => name),
          events.map(({ height = null }) => height),
          events.map(({ blockId = null }) => blockId),
          events.map(() => Date.now()),
          events.map(({ data }) => JSON.stringify(data)),
        ],
      );
      await change("UPDATE event_log SET last_sequence = $1", [last + events.length]);
    });
  },
  async isDone(postgres, deliveries) {
    const [row] = await postgres.query<{ count: string | null }>(
      `SELECT sum(last_sequence) AS count FROM queues
       WHERE NOT EXISTS (SELECT 1 FROM webhooks CROSS JOIN LATERAL (SELECT state FROM deliveries WHERE webhook = webhooks.id
         ORDER BY webhook DESC, number DESC LIMIT ${LATEST}) AS latest WHERE state = 'pending')`,
    );
    return Number(row?.count) === deliveries;
  },
};

async function end({ child, ended }: Running): Promise<void> {
  child.kill("SIGTERM");
  await Promise.race([ended, sleep(10_000)]);
  child.kill("SIGKILL");
  await ended;
}
