/** Pending deliveries of owned webhooks: the next one of each lane, and the state of the queues. */
import type { Postgres } from "../../../postgres/connection.ts";
import type { DeliveryQueue, QueueState } from "../../delivery-queue.ts";
import type { WaitingDelivery } from "../../model/deliveries.ts";
import { type SecretCipher, type SecretRow, secretsFromRow } from "../../secrets.ts";
import { MESSAGE_COLUMNS, type MessageRow, messageFromRow } from "../../storage/delivery-rows.ts";
import { entriesOf, IS_ON, type Lane } from "../../storage/lanes.ts";
import type { Integer } from "../../storage/sql.ts";
import { idsOf } from "../../storage/webhooks.ts";
import type { ShardOwnership } from "../ownership.ts";
import { readsOf, runSteps } from "../sql.ts";

export type PendingDeps = {
  readonly postgres: Pick<Postgres, "query">;
  readonly ownership: Pick<ShardOwnership, "held">;
  /** Cipher of the webhooks' secrets. */
  readonly cipher: SecretCipher;
};

type PendingReads = Pick<DeliveryQueue, "webhooks" | "states" | "nextFirst" | "nextRetry" | "nextReplayed">;

type Call = Pick<WaitingDelivery, "target" | "secrets" | "proofDepth">;

type WaitingRow = MessageRow &
  Omit<SecretRow, "previous_until_ms"> & {
    previous_until_ms: string | null;
    number: string;
    attempts: number;
    target: string;
    proof_depth: number | null;
    replay: string | null;
    next_attempt_ms: string | null;
  };

/** Returns SQL for the pending deliveries of `webhooks` in a lane; conditions on `entry` follow. */
const waitingIn = (lane: Lane): string =>
  `SELECT entry.number, attempts, entry.replay, entry.next_attempt_ms, ${MESSAGE_COLUMNS}
  FROM delivery_lanes AS entry JOIN deliveries ON deliveries.number = entry.number JOIN contents ON contents.number = content
  WHERE entry.lane = '${lane}' AND entry.webhook = webhooks.id`;

const CALLED = `target, token, previous_token, previous_until_ms,
  CASE WHEN with_proof THEN confirmations END AS proof_depth, waiting.*`;

const FIRST = `SELECT place, ${CALLED} FROM unnest($1::bigint[], $2::bigint[], $3::integer[])
    WITH ORDINALITY AS range (of_webhook, after, most, place)
  JOIN webhooks ON webhooks.id = of_webhook AND ${IS_ON}
  CROSS JOIN LATERAL (${waitingIn("first")} AND entry.number > after ORDER BY entry.number LIMIT most) AS waiting
  ORDER BY place, waiting.number`;

/** Returns SQL for the first delivery of the webhook, the first parameter, in a lane. */
const nextIn = (lane: Lane, rest: string): string =>
  `SELECT ${CALLED} FROM webhooks CROSS JOIN LATERAL (${waitingIn(lane)} AND ${rest} LIMIT 1) AS waiting
  WHERE webhooks.id = $1 AND ${IS_ON}`;
const RETRY = nextIn("retry", "entry.next_attempt_ms <= $2 ORDER BY entry.next_attempt_ms");
const RETRY_BEHIND = nextIn("retry", "entry.next_attempt_ms > $2 ORDER BY entry.next_attempt_ms");
const REPLAYED = nextIn("replay", "entry.replay > $2 ORDER BY entry.replay");

/** A webhook that is off has no due retries. */
const STATES = `SELECT id, strict,
    CASE WHEN NOT (${IS_ON}) THEN NULL
      WHEN EXISTS (SELECT FROM ${entriesOf("retry", "webhooks.id")} AND next_attempt_ms > $2) THEN 0
      ELSE (SELECT min(next_attempt_ms) FROM ${entriesOf("retry", "webhooks.id")}) END AS retry_ms,
    EXISTS (SELECT 1 FROM delivery_lanes WHERE webhook = webhooks.id AND is_retraction
      AND next_attempt_ms IS NOT NULL) AS has_retraction
  FROM webhooks WHERE id = ANY ($1)`;

type StateRow = { id: string; strict: boolean; retry_ms: string | null; has_retraction: boolean };

const ABSENT: QueueState = { isStrict: false, retryMs: undefined, hasRetraction: false };

export function createPendingReads({ postgres: { query }, ownership, cipher }: PendingDeps): PendingReads {
  /** Creates a function for the rows of one read; the secrets of a webhook are decrypted once. */
  function toDeliveries(): (row: WaitingRow) => WaitingDelivery {
    const calls = new Map<Integer, Call>();
    return (row) => {
      const call = calls.get(row.webhook) ?? callFromRow(row);
      calls.set(row.webhook, call);
      return { number: Number(row.number), message: messageFromRow(row), attempts: row.attempts, ...call };
    };
  }

  function callFromRow(row: WaitingRow): Call {
    const webhook = Number(row.webhook);
    const secrets = secretsFromRow(webhook, row, cipher);
    return {
      ...{ target: row.target, secrets },
      ...(row.proof_depth !== null && { proofDepth: row.proof_depth }),
    };
  }

  return {
    webhooks: () => runSteps(idsOf(readsOf({ query }), [...ownership.held.keys()])),
    async states(webhooks, latestMs = Number.MAX_SAFE_INTEGER) {
      const rows = await query<StateRow>(STATES, [webhooks, latestMs]);
      const states = new Map(rows.map((row) => [Number(row.id), stateFromRow(row)]));
      return webhooks.map((webhook) => states.get(webhook) ?? ABSENT);
    },
    async nextFirst(ranges) {
      const rows = await query<WaitingRow & { place: string }>(FIRST, [
        ranges.map(({ webhook }) => webhook),
        ranges.map(({ after }) => after),
        ranges.map(({ limit }) => limit),
      ]);
      const [byPlace, toDelivery] = [Map.groupBy(rows, ({ place }) => Number(place)), toDeliveries()];
      return ranges.map((_, index) => (byPlace.get(index + 1) ?? []).map(toDelivery));
    },
    async nextRetry(webhook, nowMs, latestMs = Number.MAX_SAFE_INTEGER) {
      const due = await query<WaitingRow>(RETRY, [webhook, nowMs]);
      const rows = due.length > 0 ? due : await query<WaitingRow>(RETRY_BEHIND, [webhook, latestMs]);
      return rows.map(toDeliveries())[0];
    },
    async nextReplayed(webhook, after) {
      const [row] = await query<WaitingRow>(REPLAYED, [webhook, after]);
      return (
        row && {
          ...toDeliveries()(row),
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
