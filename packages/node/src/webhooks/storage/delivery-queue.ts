/**
 * The delivery queue: what the webhook service sends, retries, replays, lists and drops. Every webhook has its own queue, with the
 * lanes of `lanes.ts`. Deliveries are written by matching, in the transaction that moves the cursor of the event log: `intake.ts`.
 *
 * Times are milliseconds since 1970. A change is on disk when its promise settles. Every call settles within `CALL_TIMEOUT_MS`, even
 * if the database is blocked. A failed call holds no lock, and has changed nothing unless the response to its commit was lost. The
 * dispatcher repeats it after a pause: a failed attempt whose outcome was committed unnoticed is then counted twice.
 */
import type {
  AttemptOutcome,
  RecordedOutcome,
  ReplayedDelivery,
  WaitingDelivery,
} from "../model/deliveries.ts";
import type { Ownership } from "../ownership.ts";
import { type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";
import { DeliveryLogRows } from "./delivery-log.ts";
import { MESSAGE_COLUMNS, type MessageRow, messageFromRow } from "./delivery-rows.ts";
import { IS_ON, type Lane, rowsIn } from "./lanes.ts";
import { type LockOwned, recordOutcomes } from "./outcomes.ts";
import { type PingOutcome, recordPing } from "./pings.ts";
import { type FinishStep, finishStep } from "./queues.ts";
import { ReplayRows } from "./replays.ts";
import { RetentionSteps } from "./retention.ts";
import { type Flag, given, type Kind, type Reads, type Steps, type Store } from "./sql.ts";
import { idsOf } from "./webhooks.ts";

export const CALL_TIMEOUT_MS = 10_000;

const LAST = Number.MAX_SAFE_INTEGER;

/** The untried deliveries of a queue after a number, up to a limit. */
export type FirstRange = { readonly webhook: number; readonly after: number; readonly limit: number };

/** State of a queue in the database, except its first attempts. */
export type QueueState = {
  /** True if a delivery starts only after the previous one was acknowledged or finally failed. */
  readonly isStrict: boolean;
  /** Time of the next retry, 0 for now; undefined if there is none or the webhook is off. */
  readonly retryAtMs: number | undefined;
  /** True if one of the retries is a retraction. */
  readonly hasRetraction: boolean;
};

type WaitingRow = MessageRow &
  SecretRow & {
    number: number;
    attempts: number;
    target: string;
    proofDepth: number | null;
    replay: number | null;
    nextAttemptMs: number | null;
  };

const COLUMNS = `deliveries.number, attempts, deliveries.replay, deliveries.next_attempt_ms AS "nextAttemptMs", ${MESSAGE_COLUMNS},
  target, token, previous_token, previous_until_ms, CASE WHEN with_proof THEN confirmations END AS "proofDepth"`;
const CALLED = `JOIN deliveries ON deliveries.number = entry.number JOIN contents ON contents.number = content`;

/** Returns SQL for the next deliveries of the webhook, the first parameter, in a lane. */
const nextIn = (kind: Kind, lane: Lane | "due", rest: string): string =>
  `SELECT ${COLUMNS} FROM (SELECT number FROM ${rowsIn(kind, lane, "$1")} AND ${rest}) AS entry ${CALLED}
   JOIN webhooks ON webhooks.id = deliveries.webhook AND ${IS_ON} ORDER BY deliveries.number`;

const RETRACTIONS: Readonly<Record<Kind, string>> = {
  sqlite: `deliveries INDEXED BY deliveries_retractions
    WHERE webhook = webhooks.id AND state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL`,
  postgres: "delivery_lanes WHERE webhook = webhooks.id AND is_retraction AND next_attempt_ms IS NOT NULL",
};

export type DeliveryQueueDeps = {
  readonly store: Store;
  readonly cipher: SecretCipher;
  readonly ownership: Ownership;
  /** Returns the shards that this process owns. In SQLite there are none: it owns all webhooks. */
  readonly shards: () => readonly number[];
  readonly lockOwned: LockOwned;
};

export class DeliveryQueue {
  readonly ownership: Ownership;
  readonly log: DeliveryLogRows;
  readonly replays: ReplayRows;
  readonly retention: RetentionSteps;
  readonly #deps: DeliveryQueueDeps;

  constructor(deps: DeliveryQueueDeps) {
    const { store, ownership, shards } = deps;
    this.#deps = deps;
    this.ownership = ownership;
    this.log = new DeliveryLogRows(store);
    this.replays = new ReplayRows(store, shards);
    this.retention = new RetentionSteps(store);
  }

  /** Returns the ids of all owned webhooks: each has a queue. */
  webhooks(): Promise<readonly number[]> {
    const { store, shards } = this.#deps;
    return store.read((sql) => idsOf(sql, shards()));
  }

  /**
   * Returns the states of queues, in the order of the ids. Nothing is due in the queue of a removed webhook. A retry that would be
   * due after `latestMs` is due now: no delay is that long, so the clock that scheduled it was ahead. Absent: there is none.
   */
  states(webhooks: readonly number[], latestMs = LAST): Promise<readonly QueueState[]> {
    return this.#deps.store.read((sql) => readStates(sql, webhooks, latestMs));
  }

  /**
   * Returns the next untried deliveries of queues, for each by ascending number, in the order of the ranges; none while the webhook
   * is off.
   */
  nextFirst(ranges: readonly FirstRange[]): Promise<readonly (readonly WaitingDelivery[])[]> {
    const { store, cipher } = this.#deps;
    return store.read(function* (sql) {
      const rows = yield* readFirst(sql, ranges);
      const toDelivery = createToDelivery(cipher);
      return rows.map((each) => each.map(toDelivery));
    });
  }

  /** Returns the retry that is overdue the longest, or else one that would be due after `latestMs`; none while the webhook is off. */
  nextRetry(webhook: number, nowMs: number, latestMs = LAST): Promise<WaitingDelivery | undefined> {
    const { store, cipher } = this.#deps;
    return store.read(function* (sql) {
      const next = (relation: "<=" | ">") =>
        nextIn(sql.kind, "due", `next_attempt_ms ${relation} $2 ORDER BY next_attempt_ms LIMIT 1`);
      const due = yield* sql.row<WaitingRow>(next("<="), [webhook, nowMs]);
      const row = due ?? (yield* sql.row<WaitingRow>(next(">"), [webhook, latestMs]));
      return row && createToDelivery(cipher)(row);
    });
  }

  /** Returns the first delivery of the replay lane after a position; none while the webhook is off. */
  nextReplayed(webhook: number, after: number): Promise<ReplayedDelivery | undefined> {
    const { store, cipher } = this.#deps;
    return store.read(function* (sql) {
      const next = nextIn(sql.kind, "replay", "replay > $2 ORDER BY replay LIMIT 1");
      const row = yield* sql.row<WaitingRow>(next, [webhook, after]);
      if (!row) return undefined;
      return {
        ...createToDelivery(cipher)(row),
        position: Number(row.replay),
        ...(row.nextAttemptMs !== null && { nextAttemptMs: row.nextAttemptMs }),
      };
    });
  }

  /**
   * Records the outcomes of attempts in order, all or none: the attempt in the log, the state of the delivery, and the
   * consequences for the webhook. A delivery without a recorded outcome stays pending, and is the next one again.
   */
  record(outcomes: readonly AttemptOutcome[]): Promise<readonly RecordedOutcome[]> {
    return recordOutcomes(this.#deps.store, this.#deps.lockOwned, outcomes);
  }

  recordPing(ping: PingOutcome): Promise<number> {
    return this.#deps.store.write((sql) => recordPing(sql, ping));
  }

  finishStep(atMs: number): Promise<FinishStep> {
    return finishStep(this.#deps.store, this.#deps.shards(), atMs);
  }
}

/** Creates a function for the rows of one read; the secrets of a webhook are decrypted once. */
function createToDelivery(cipher: SecretCipher): (row: WaitingRow) => WaitingDelivery {
  const calls = new Map<number, Pick<WaitingDelivery, "target" | "secrets" | "proofDepth">>();
  return (row) => {
    const { number, webhook, attempts, target, proofDepth } = row;
    const call = calls.get(webhook) ?? {
      target,
      secrets: secretsFromRow(webhook, row, cipher),
      ...(proofDepth !== null && { proofDepth }),
    };
    calls.set(webhook, call);
    return { number, message: messageFromRow(row), attempts, ...call };
  };
}

const RANGE = { of_webhook: "bigint", after: "bigint", most: "integer" } as const;

/** Reads the first attempts of all ranges with one statement in PostgreSQL, where each is a round trip. */
function* readFirst(sql: Reads, ranges: readonly FirstRange[]): Steps<WaitingRow[][]> {
  if (sql.kind === "sqlite") {
    const found: WaitingRow[][] = [];
    for (const { webhook, after, limit } of ranges)
      found.push(yield* sql.rows<WaitingRow>(FIRST_OF_ONE, [webhook, after, limit]));
    return found;
  }
  const { table, values } = given(
    sql.kind,
    RANGE,
    ranges.map(({ webhook, after, limit }) => [webhook, after, limit]),
  );
  const rows = yield* sql.rows<WaitingRow & { place: number }>(
    `SELECT place, ${COLUMNS} FROM ${table} JOIN webhooks ON webhooks.id = of_webhook AND ${IS_ON}
     CROSS JOIN LATERAL (SELECT number FROM ${rowsIn(sql.kind, "first", "webhooks.id")} AND number > after
       ORDER BY number LIMIT most) AS entry ${CALLED} ORDER BY place, deliveries.number`,
    values,
  );
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return ranges.map((_, index) => byPlace.get(index + 1) ?? []);
}

const FIRST_OF_ONE = nextIn("sqlite", "first", "number > $2 ORDER BY number LIMIT $3");

type StateRow = { id: number; isStrict: Flag; retryAtMs: number | null; hasRetraction: Flag };

const ABSENT: QueueState = { isStrict: false, retryAtMs: undefined, hasRetraction: false };

/** A webhook that is off has no due retries. */
function* readStates(sql: Reads, webhooks: readonly number[], latestMs: number): Steps<QueueState[]> {
  const retries = rowsIn(sql.kind, "due", "webhooks.id");
  const rows = yield* sql.rows<StateRow>(
    `SELECT id, strict AS "isStrict",
       CASE WHEN NOT (${IS_ON}) THEN NULL
         WHEN EXISTS (SELECT 1 FROM ${retries} AND next_attempt_ms > $2) THEN 0
         ELSE (SELECT min(next_attempt_ms) FROM ${retries}) END AS "retryAtMs",
       EXISTS (SELECT 1 FROM ${RETRACTIONS[sql.kind]}) AS "hasRetraction"
     FROM webhooks WHERE id = ANY ($1)`,
    [webhooks, latestMs],
  );
  const states = new Map(
    rows.map(({ id, isStrict, retryAtMs, hasRetraction }) => [
      id,
      {
        isStrict: Boolean(isStrict),
        retryAtMs: retryAtMs ?? undefined,
        hasRetraction: Boolean(hasRetraction),
      },
    ]),
  );
  return webhooks.map((webhook) => states.get(webhook) ?? ABSENT);
}
