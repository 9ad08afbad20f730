/** Rows of webhooks and deliveries in PostgreSQL, which a test inserts and reads with SQL. */
import { present } from "../../src/platform/present.ts";
import type { Postgres, PostgresValue } from "../../src/postgres/connection.ts";

type Columns = Readonly<Record<string, PostgresValue>>;

export const CREATED_MS = 1_700_000_000_000;

/** Makes the workers the owner of the webhooks. */
export async function ownByWorkers({ query }: Pick<Postgres, "query">): Promise<void> {
  await query("UPDATE webhook_register SET owner = 'workers', transfer = 'first'");
}

/** Inserts a webhook with an empty queue. Returns its id. */
export async function insertWebhook({ query }: Postgres, columns: Columns = {}): Promise<number> {
  const [row] = await query<{ id: string }>(
    ...insertOf(
      "webhooks",
      {
        ...{ event: "block.applied", events: "[]", target: "https://receiver.example/hook", enabled: true },
        ...{
          conditions: "[]",
          match_all: false,
          strict: false,
          confirmations: 0,
          token: "",
          active_after: 0,
        },
        ...columns,
      },
      "id",
    ),
  );
  const { id } = present(row);
  await query("INSERT INTO queues (webhook) VALUES ($1)", [id]);
  return Number(id);
}

/** Inserts deliveries with their contents: pending first attempts, unless the columns differ. Returns their numbers. */
export async function insertDeliveries(
  postgres: Postgres,
  webhook: number,
  ids: readonly string[],
  columns: Columns = {},
): Promise<number[]> {
  const numbers: number[] = [];
  for (const id of ids) numbers.push(await insertDelivery(postgres, webhook, id, columns));
  return numbers;
}

async function insertDelivery(
  { query }: Postgres,
  webhook: number,
  id: string,
  columns: Columns,
): Promise<number> {
  const [content] = await query<{ number: string }>(
    "INSERT INTO contents (data) VALUES ($1) RETURNING number",
    [`{"id":"${id}"}`],
  );
  const [queue] = await query<{ sequence: string }>(
    "UPDATE queues SET last_sequence = last_sequence + 1 WHERE webhook = $1 RETURNING last_sequence AS sequence",
    [webhook],
  );
  const [delivery] = await query<{ number: string }>("SELECT nextval('delivery_numbers') AS number");
  const number = present(delivery).number;
  const row = {
    ...{ number, webhook, id, sequence: present(queue).sequence, content: present(content).number },
    ...{ event: "block.applied", target_number: 1, state: "pending", created_ms: CREATED_MS },
    ...columns,
  };
  await query(...insertOf("deliveries", row, "number"));
  return Number(number);
}

/** Inserts an attempt of a delivery. */
export async function insertAttempt(
  { query }: Postgres,
  delivery: number,
  columns: Columns = {},
): Promise<void> {
  const row = { delivery, started_ms: CREATED_MS, duration_ms: 5, status: 200, ...columns };
  await query(...insertOf("attempts", row, "number"));
}

/** Returns columns of all deliveries of a webhook as `id column column ...`, in the order of the queue. */
export async function deliveriesOf(
  { query }: Postgres,
  webhook: number,
  columns: readonly string[] = ["state"],
): Promise<string[]> {
  const rows = await query<Readonly<Record<string, unknown>>>(
    `SELECT ${["id", ...columns].join()} FROM deliveries WHERE webhook = $1 ORDER BY number`,
    [webhook],
  );
  return rows.map((row) => ["id", ...columns].map((column) => row[column] ?? "-").join(" "));
}

export async function countRows({ query }: Postgres, table: string): Promise<number> {
  const [row] = await query<{ total: string }>(`SELECT count(*) AS total FROM ${table}`);
  return Number(present(row).total);
}

/** Returns the noted changes as `webhook` or `webhook restart`, and removes them. */
export async function takeChanges({ query }: Postgres): Promise<string[]> {
  const rows = await query<{ webhook: string; is_restart: boolean }>(
    "DELETE FROM queue_changes RETURNING webhook, is_restart",
  );
  return rows.map(({ webhook, is_restart }) => `${webhook}${is_restart ? " restart" : ""}`).sort();
}

function insertOf(table: string, row: Columns, returned: string): [sql: string, values: PostgresValue[]] {
  const names = Object.keys(row);
  const parameters = names.map((_, index) => `$${index + 1}`);
  return [
    `INSERT INTO ${table} (${names.join()}) VALUES (${parameters.join()}) RETURNING ${returned}`,
    Object.values(row),
  ];
}
