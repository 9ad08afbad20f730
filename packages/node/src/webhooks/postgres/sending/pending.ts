/** Pending deliveries of owned webhooks: the next one of each lane, and the state of the queues. */
import type { Postgres } from "../../../postgres/connection.ts";
import type { DeliveryQueue, QueueState } from "../../delivery-queue.ts";
import type { WaitingDelivery } from "../../model/deliveries.ts";
import type { SecretCipher } from "../../secrets/encryption.ts";
import { type SecretRow, secretsFromRow } from "../../secrets/rows.ts";
import { MESSAGE_COLUMNS, type MessageRow, messageFromRow } from "../contents.ts";
import type { ShardOwnership } from "../ownership.ts";
import { IS_ON } from "../webhook-rows.ts";

export type PendingDeps = {
  readonly postgres: Pick<Postgres, "query">;
  readonly ownership: Pick<ShardOwnership, "epochOf" | "held">;
  /** Cipher of the webhooks' secrets. */
  readonly cipher: SecretCipher;
};

type PendingReads = Pick<DeliveryQueue, "webhooks" | "states" | "nextFirst" | "nextRetry" | "nextReplayed">;

type WaitingRow = MessageRow &
  Omit<SecretRow, "previous_until_ms"> & {
    previous_until_ms: string | null;
    number: string;
    attempts: number;
    target: string;
    replay: string | null;
    next_attempt_ms: string | null;
  };

/** Returns SQL for the pending deliveries of the webhook `$1`; conditions follow. */
const WAITING = `SELECT deliveries.number, attempts, target, token, previous_token, previous_until_ms, replay,
    next_attempt_ms, ${MESSAGE_COLUMNS}
  FROM deliveries JOIN webhooks ON webhooks.id = webhook AND ${IS_ON}
    JOIN contents ON contents.number = content
  WHERE webhook = $1 AND state = 'pending'`;

const FIRST = `${WAITING} AND next_attempt_ms IS NULL AND replay IS NULL AND deliveries.number > $2
  ORDER BY deliveries.number LIMIT $3`;
const RETRY = `${WAITING} AND next_attempt_ms IS NOT NULL AND replay IS NULL AND next_attempt_ms <= $2
  ORDER BY next_attempt_ms LIMIT 1`;
const REPLAYED = `${WAITING} AND replay IS NOT NULL AND replay > $2 ORDER BY replay LIMIT 1`;

/** A webhook that is off has no due retries. */
const STATES = `SELECT id, strict,
    CASE WHEN ${IS_ON} THEN (SELECT min(next_attempt_ms) FROM deliveries WHERE webhook = webhooks.id
      AND state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL) END AS retry_ms,
    EXISTS (SELECT 1 FROM deliveries WHERE webhook = webhooks.id
      AND state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL) AS has_retraction
  FROM webhooks WHERE id = ANY ($1)`;

type StateRow = { id: string; strict: boolean; retry_ms: string | null; has_retraction: boolean };

const ABSENT: QueueState = { isStrict: false, retryMs: undefined, hasRetraction: false };

export function createPendingReads({ postgres: { query }, ownership, cipher }: PendingDeps): PendingReads {
  const toDelivery = (row: WaitingRow): WaitingDelivery => {
    const message = messageFromRow(row);
    const epoch = ownership.epochOf(message.webhook);
    const untilMs = row.previous_until_ms;
    const secretRow = { ...row, previous_until_ms: untilMs === null ? null : Number(untilMs) };
    return {
      number: Number(row.number),
      message,
      attempts: row.attempts,
      target: row.target,
      secrets: secretsFromRow(message.webhook, secretRow, cipher),
      ...(epoch !== undefined && { epoch }),
    };
  };
  return {
    async webhooks() {
      const rows = await query<{ id: string }>("SELECT id FROM webhooks WHERE shard = ANY ($1) ORDER BY id", [
        [...ownership.held.keys()],
      ]);
      return rows.map(({ id }) => Number(id));
    },
    async states(webhooks) {
      const rows = await query<StateRow>(STATES, [webhooks]);
      const states = new Map(rows.map((row) => [Number(row.id), stateFromRow(row)]));
      return webhooks.map((webhook) => states.get(webhook) ?? ABSENT);
    },
    nextFirst: async (webhook, after, limit) =>
      (await query<WaitingRow>(FIRST, [webhook, after, limit])).map(toDelivery),
    async nextRetry(webhook, nowMs) {
      const [row] = await query<WaitingRow>(RETRY, [webhook, nowMs]);
      return row && toDelivery(row);
    },
    async nextReplayed(webhook, after) {
      const [row] = await query<WaitingRow>(REPLAYED, [webhook, after]);
      return (
        row && {
          ...toDelivery(row),
          position: Number(row.replay),
          ...(row.next_attempt_ms !== null && { nextAttemptMs: Number(row.next_attempt_ms) }),
        }
      );
    },
  };
}

const stateFromRow = ({ strict, retry_ms, has_retraction }: StateRow): QueueState => ({
  isStrict: strict,
  retryMs: retry_ms === null ? undefined : Number(retry_ms),
  hasRetraction: has_retraction,
});
