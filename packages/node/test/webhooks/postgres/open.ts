/** A register in a new PostgreSQL database, and rows of its queues. */
import { onTestFinished } from "vitest";
import type { Postgres, PostgresValue } from "../../../src/postgres/connection.ts";
import { migrate } from "../../../src/postgres/migrations.ts";
import type { WebhookFields } from "../../../src/webhooks/model/webhook.ts";
import { PostgresStore } from "../../../src/webhooks/postgres/sql.ts";
import { createRegisterCommands } from "../../../src/webhooks/postgres/storage.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../../../src/webhooks/secrets.ts";
import type { RegisterCommands } from "../../../src/webhooks/storage/register-commands.ts";
import { WebhookRows } from "../../../src/webhooks/storage/webhook-list.ts";
import type { Databases } from "../../../test-support/postgres/databases.ts";
import { until } from "../../../test-support/process/until.ts";
import { FIELDS, NOW_MS, TOKEN } from "../queue-port/subject.ts";

export const ALL_SHARDS = Array.from({ length: 32 }, (_, shard) => shard);
/** Sequence of the newest event of the log. */
export const LAST_EVENT = 70;

export async function openDatabase(databases: Databases): Promise<Postgres> {
  const postgres = await databases.connect();
  onTestFinished(() => postgres.close());
  await migrate(postgres);
  return postgres;
}

export const createCommands = (postgres: Postgres, cipher: SecretCipher = PLAIN_SECRETS): RegisterCommands =>
  createRegisterCommands({ postgres, cipher, lastEvent: async () => LAST_EVENT });

export type TestRegister = {
  readonly postgres: Postgres;
  readonly commands: RegisterCommands;
  readonly webhooks: WebhookRows;
  /** Registers an active webhook. Returns its id. */
  add(fields?: Partial<WebhookFields>): Promise<number>;
};

export async function openRegister(databases: Databases): Promise<TestRegister> {
  const postgres = await openDatabase(databases);
  const commands = createCommands(postgres);
  return {
    postgres,
    commands,
    webhooks: new WebhookRows(new PostgresStore(postgres), PLAIN_SECRETS),
    async add(fields = {}) {
      const { id } = await commands.insert({ fields: { ...FIELDS, ...fields }, token: TOKEN }, 1_000);
      await commands.activate(id);
      return id;
    },
  };
}

export type DeliveryColumns = {
  readonly state?: string;
  readonly next_attempt_ms?: number;
  readonly attempts?: number;
  readonly reason?: string;
  readonly created_ms?: number;
  readonly reverts?: string;
};

/**
 * Inserts deliveries of a webhook; the positions in the replay lane begin at 1.
 *
 * @returns their numbers
 */
export async function insertDeliveries(
  { query }: Pick<Postgres, "query">,
  webhook: number,
  count: number,
  { state = "pending", attempts = 0, created_ms = NOW_MS, ...columns }: DeliveryColumns = {},
  lane: "live" | "replay" = "live",
): Promise<number[]> {
  const values: PostgresValue[] = [webhook, count, state, attempts, created_ms];
  const { next_attempt_ms = null, reason = null, reverts = null } = columns;
  const rows = await query<{ number: string }>(
    `INSERT INTO deliveries (number, webhook, id, event, target_number, content, state, attempts, created_ms,
       next_attempt_ms, reason, reverts, replay)
     SELECT nextval('delivery_numbers'), $1, gen_random_uuid(), 'block.applied', 1, 1, $3, $4, $5, $6::bigint, $7, $8,
       CASE WHEN $9 THEN position END
     FROM generate_series(1, $2::integer) AS position RETURNING number`,
    [...values, next_attempt_ms, reason, reverts, lane === "replay"],
  );
  return rows.map(({ number }) => Number(number));
}

/** Returns the number of deliveries of a webhook by state. */
export async function countStates({ query }: Postgres, webhook: number): Promise<Record<string, number>> {
  const rows = await query<{ state: string; total: number }>(
    "SELECT state, count(*)::integer AS total FROM deliveries WHERE webhook = $1 GROUP BY state",
    [webhook],
  );
  return Object.fromEntries(rows.map(({ state, total }) => [state, total]));
}

/** Removes the changes that the owner would read; returns them as `[webhook, isRestart]`. */
export async function takeChanges({ query }: Postgres): Promise<[number, boolean][]> {
  const rows = await query<{ webhook: string; is_restart: boolean }>("DELETE FROM queue_changes RETURNING *");
  return rows
    .map(({ webhook, is_restart }): [number, boolean] => [Number(webhook), is_restart])
    .sort(([a], [b]) => a - b);
}

/** Waits until a statement of this database waits for a lock. */
export const untilBlocked = ({ query }: Postgres) =>
  until("no statement waits for a lock", async () => {
    const blocked = await query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return blocked.length > 0;
  });
