/**
 * The intake in PostgreSQL, for the webhooks that this worker owns. Each batch is one transaction, which first locks the
 * shards: if another worker owns one of them, or the database has lost the commit of a position, nothing is written.
 */
import type { LoggedEvent } from "../../events/catalogue.ts";
import type { Postgres } from "../../postgres/connection.ts";
import { EVENT_COLUMNS, type EventRow, eventFromRow } from "../../store/events/event-log.ts";
import type {
  ActiveWebhooks,
  Applied,
  BlockReference,
  Confirmed,
  Intake,
  IntakeBatch,
  IntakeCommand,
  StepSize,
} from "../intake.ts";
import type { DeliveredFact } from "../model/deliveries.ts";
import { applyBatch, NOT_CURRENT, webhookOf } from "../storage/intake-commands.ts";
import { readVersion } from "../storage/locks.ts";
import { countReverts, unretracted } from "../storage/retractions.ts";
import { shardOf } from "../storage/shards.ts";
import { type Reads, runSteps, type Steps } from "../storage/sql.ts";
import { confirmedAt } from "../storage/unconfirmed-events.ts";
import { activeWebhooks } from "../storage/webhooks.ts";
import { type MatchingStep, type OwnShards, Positions } from "./positions.ts";
import { PostgresStore, readsOf } from "./sql.ts";

/** A commit costs more than in a database of this process, each step changes rows of all its webhooks, and nothing waits for a lock. */
const STEP_SIZE: StepSize = { events: 200, webhooks: 1_000, commands: 2_000 };

export class PostgresIntake implements Intake {
  readonly stepSize = STEP_SIZE;
  readonly #postgres: Postgres;
  readonly #ownership: OwnShards;
  readonly #positions: Positions;
  readonly #reads: Reads;
  /** Shards and epochs at the last reading of the webhooks; undefined if their positions are not known any longer. */
  #knownClaims: string | undefined;

  constructor(postgres: Postgres, ownership: OwnShards) {
    this.#postgres = postgres;
    this.#ownership = ownership;
    this.#positions = new Positions(postgres, ownership);
    this.#reads = readsOf(postgres);
  }

  /** The webhooks of a shard that is ahead of others receive no event up to its position. */
  async activeWebhooks(known: number | undefined): Promise<ActiveWebhooks | undefined> {
    const { held } = this.#ownership;
    const shards = [...held.keys()];
    // A shard that was claimed again has another position; a database that has lost commits uses versions again.
    const claims = [...held.values()].map(({ shard, epoch }) => `${shard} ${epoch}`).join();
    const version = await runSteps(readVersion(this.#reads));
    if (version === known && claims === this.#knownClaims) return undefined;
    const webhooks = await runSteps(activeWebhooks(this.#reads, shards));
    // After the read: one that failed must be repeated.
    this.#knownClaims = claims;
    return {
      version,
      webhooks: webhooks.map((webhook) => ({
        ...webhook,
        activeAfter: Math.max(webhook.activeAfter, held.get(shardOf(webhook.id))?.matched ?? 0),
      })),
    };
  }

  /** Returns the next events of the shards at the lowest position, up to the position of the others. */
  async nextEvents(limit: number): Promise<readonly LoggedEvent[]> {
    for (;;) {
      const step = this.#positions.begin();
      if (step.shards.length === 0) return [];
      const rows = await this.#postgres.query<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM events WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`,
        [step.matched, step.upTo, limit],
        "number",
      );
      if (rows.length > 0) return rows.map(eventFromRow);
      // Between two positions no event may remain: the log records only some names.
      if (step.upTo === Number.MAX_SAFE_INTEGER || !(await this.#positions.skip(step))) return [];
    }
  }

  canReplay(): Promise<boolean> {
    return runSteps(canReplay(this.#reads, this.#positions.lowest()));
  }

  countReverts(blockIds: readonly string[], before: number): Promise<ReadonlyMap<string, number>> {
    return runSteps(countReverts(this.#reads, blockIds, before));
  }

  unretracted(blocks: readonly BlockReference[], limit: number): Promise<readonly DeliveredFact[]> {
    return runSteps(unretracted(this.#reads, this.#stepShards(), blocks, limit));
  }

  confirmedAt(heights: readonly number[], limit: number): Promise<readonly Confirmed[]> {
    return runSteps(confirmedAt(this.#reads, this.#stepShards(), heights, limit));
  }

  #stepShards(): number[] {
    return this.#positions.step().shards.map(({ shard }) => shard);
  }

  async apply(batch: IntakeBatch): Promise<Applied> {
    const positions = this.#positions;
    const { position, commands } = batch;
    const step = positions.step();
    if (position.reader === "log" && !commands.every((command) => isOfStep(command, step))) {
      // A shard was claimed after its step had begun, and fell behind: webhooks of the others were read at their earlier positions.
      this.#knownClaims = undefined;
      return NOT_CURRENT;
    }
    const replayed =
      position.reader === "replay" ? this.#ownership.held.get(shardOf(position.replay.webhook)) : undefined;
    const own = { shards: replayed ? [replayed] : [], matched: replayed?.matched ?? 0 };
    const locked = position.reader === "log" ? step : own;
    const applied = await new PostgresStore(this.#postgres).write((sql) =>
      applyBatch(sql, batch, {
        *lock(sql) {
          return (yield* positions.lock(sql, locked)) ? locked.shards.map(({ shard }) => shard) : undefined;
        },
        canReplay: (sql) => canReplay(sql, own.matched),
        move: (sql, matched) => positions.move(sql, step, matched),
      }),
    );
    const matched = position.reader === "log" ? position.matched : undefined;
    if (applied.isCurrent && matched !== undefined) positions.moved(step, matched);
    return applied;
  }
}

/**
 * A retraction delays replays until it is matched and the blocks of the mirror reflect it: events are copied beside the blocks,
 * and can be newer (docs/decisions/0053). Blocks that are newer delay them until their own events are copied and matched.
 */
const DELAYS = `SELECT 1 WHERE (SELECT log_sequence FROM head) > (SELECT last_sequence FROM event_log)
  OR EXISTS (SELECT FROM events WHERE sequence > $1::bigint AND sequence <= (SELECT log_sequence FROM head))
  OR EXISTS (SELECT FROM events WHERE reverts IS NOT NULL
    AND sequence > least($1::bigint, (SELECT log_sequence FROM head)))`;

function* canReplay(sql: Reads, matched: number): Steps<boolean> {
  return (yield* sql.row(DELAYS, [matched])) === undefined;
}

/** Returns whether a command concerns a webhook of the step; another worker may own the others by now. */
function isOfStep(command: IntakeCommand, { shards }: MatchingStep): boolean {
  const webhook = webhookOf(command);
  return webhook === undefined || shards.some(({ shard }) => shard === shardOf(webhook));
}
