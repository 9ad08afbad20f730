/**
 * The intake in PostgreSQL, for the webhooks that this worker owns. Each batch is one transaction, which first moves the
 * position of the shards or of the replay: if another worker owns one of them, nothing is written.
 */
import type { LoggedEvent } from "../../events/catalogue.ts";
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Postgres } from "../../postgres/connection.ts";
import type { ActiveWebhooks, Applied, Intake, IntakeBatch, IntakeCommand, StepSize } from "../intake.ts";
import { applyBatch, NOT_CURRENT } from "../storage/intake-batch.ts";
import { webhookOf } from "../storage/intake-commands.ts";
import { readVersion } from "../storage/locks.ts";
import { countReverts, unretracted } from "../storage/retractions.ts";
import { shardOf } from "../storage/shards.ts";
import { type Nullable, type Reads, runSteps, type Steps } from "../storage/sql.ts";
import { confirmedAt } from "../storage/unconfirmed-events.ts";
import { activeWebhooks } from "../storage/webhooks.ts";
import type { ShardOwnership } from "./ownership.ts";
import { type MatchingStep, Positions } from "./positions.ts";
import { createPostgresStore, readsOf } from "./sql.ts";

/** A commit costs more than in a database of this process, each step changes rows of all its webhooks, and nothing waits for a lock. */
const STEP_SIZE: StepSize = { events: 200, webhooks: 1_000, commands: 2_000 };

export type IntakeDeps = {
  readonly postgres: Postgres;
  readonly ownership: ShardOwnership;
};

type State = IntakeDeps & {
  readonly positions: Positions;
  /** Shards at the last reading of the webhooks; undefined if their positions are not known any longer. */
  knownShards: string | undefined;
};

export function createPostgresIntake({ postgres, ownership }: IntakeDeps): Intake {
  const positions = new Positions(postgres, ownership);
  const state: State = { postgres, ownership, positions, knownShards: undefined };
  const reads = readsOf(postgres);
  const stepShards = () => positions.step().shards.map(({ shard }) => shard);
  return {
    activeWebhooks: (known) => readActiveWebhooks(state, known),
    stepSize: STEP_SIZE,
    nextEvents: (limit) => nextEvents(state, limit),
    canReplay: () => runSteps(canReplay(reads, positions.lowest())),
    countReverts: (blockIds, before) => runSteps(countReverts(reads, blockIds, before)),
    unretracted: (blocks, limit) => runSteps(unretracted(reads, stepShards(), blocks, limit)),
    confirmedAt: (heights, limit) => runSteps(confirmedAt(reads, stepShards(), heights, limit)),
    apply: (batch) => apply(state, batch),
  };
}

/** The webhooks of a shard that is ahead of others receive no event up to its position. */
async function readActiveWebhooks(
  state: State,
  known: number | undefined,
): Promise<ActiveWebhooks | undefined> {
  const { postgres, ownership } = state;
  const shards = [...ownership.held.keys()];
  const version = await runSteps(readVersion(readsOf(postgres)));
  if (version === known && shards.join() === state.knownShards) return undefined;
  state.knownShards = shards.join();
  const webhooks = await runSteps(activeWebhooks(readsOf(postgres), shards));
  return {
    version,
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      activeAfter: Math.max(webhook.activeAfter, ownership.held.get(shardOf(webhook.id))?.matched ?? 0),
    })),
  };
}

type EventRow = Nullable<Omit<LoggedEvent, "data">> & { readonly data: string | null };

const EVENT_COLUMNS = `sequence, id, name, height, block_id AS "blockId", created_ms AS "createdMs", time_ms AS "timeMs", reverts, data`;

/** Returns the next events of the shards at the lowest position, up to the position of the others. */
async function nextEvents({ postgres, positions }: State, limit: number): Promise<readonly LoggedEvent[]> {
  for (;;) {
    const step = positions.begin();
    if (step.shards.length === 0) return [];
    const rows = await postgres.query<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM events WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`,
      [step.matched, step.upTo, limit],
      "number",
    );
    if (rows.length > 0) return rows.map(eventFromRow);
    // Between two positions no event may remain: the log records only some names.
    if (step.upTo === Number.MAX_SAFE_INTEGER || !(await positions.skip(step))) return [];
  }
}

const eventFromRow = ({ data, ...row }: EventRow): LoggedEvent => ({
  ...withoutNulls(row),
  ...(data !== null && { data: JSON.parse(data) }),
});

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

async function apply(state: State, batch: IntakeBatch): Promise<Applied> {
  const {
    postgres,
    ownership: { held },
    positions,
  } = state;
  const { position, commands } = batch;
  const step = positions.step();
  if (position.reader === "log" && !commands.every((command) => isOfStep(command, step))) {
    // A shard was claimed after its step had begun, and fell behind: webhooks of the others were read at their earlier positions.
    state.knownShards = undefined;
    return NOT_CURRENT;
  }
  const replayed = position.reader === "replay" ? held.get(shardOf(position.replay.webhook)) : undefined;
  const own = replayed ? [replayed] : [];
  const shards = position.reader === "log" ? step.shards : own;
  const applied = await createPostgresStore(postgres).write((sql) =>
    applyBatch(sql, batch, {
      *lock(sql) {
        return (yield* positions.lock(sql, shards)) ? shards.map(({ shard }) => shard) : undefined;
      },
      canReplay: (sql) => canReplay(sql, replayed?.matched ?? 0),
      move: (sql, matched) => positions.move(sql, step, matched),
    }),
  );
  const matched = position.reader === "log" ? position.matched : undefined;
  if (applied.isCurrent && matched !== undefined) positions.moved(step, matched);
  return applied;
}

/** Returns whether a command concerns a webhook of the step; another worker may own the others by now. */
function isOfStep(command: IntakeCommand, { shards }: MatchingStep): boolean {
  const webhook = webhookOf(command);
  return webhook === undefined || shards.some(({ shard }) => shard === shardOf(webhook));
}
