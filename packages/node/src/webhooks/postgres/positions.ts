/**
 * Positions of the owned shards in the events. A step of matching moves the shards with the lowest position, at most to the
 * position of the next ones, which it then joins: a shard that was claimed late catches up in this way.
 */
import type { Postgres } from "../../postgres/connection.ts";
import type { OwnedShard } from "../storage/shards.ts";
import type { Reads, Sql, Steps } from "../storage/sql.ts";
import type { ShardOwnership } from "./ownership.ts";
import type { HeldShard } from "./shards.ts";
import { PostgresStore } from "./sql.ts";

export type OwnShards = Pick<ShardOwnership, "worker" | "held">;

export type MatchingStep = {
  /** The shards, all at the same position; none if this worker owns none. */
  readonly shards: readonly OwnedShard[];
  readonly matched: number;
  /** Position of the next shards; the greatest integer if there are none. */
  readonly upTo: number;
};

const LAST = Number.MAX_SAFE_INTEGER;

export class Positions {
  readonly #postgres: Postgres;
  readonly #ownership: OwnShards;
  #current: MatchingStep | undefined;

  constructor(postgres: Postgres, ownership: OwnShards) {
    this.#postgres = postgres;
    this.#ownership = ownership;
  }

  /** Begins a step with the shards at the lowest position. */
  begin(): MatchingStep {
    this.#current = stepOf([...this.#ownership.held.values()]);
    return this.#current;
  }

  /** Returns the step that was begun last, until it was moved. */
  step(): MatchingStep {
    return this.#current ?? this.begin();
  }

  /** Returns the lowest position; the greatest integer if this worker owns no shard. */
  lowest(): number {
    return Math.min(LAST, ...[...this.#ownership.held.values()].map(({ matched }) => matched));
  }

  /**
   * Locks shards until the end of the transaction; returns `false` if another worker owns one of them, or if one is before the position,
   * because the database has lost commits. One is after it if the response to its commit was lost.
   */
  lock(sql: Sql, { shards, matched }: Omit<MatchingStep, "upTo">): Steps<boolean> {
    return this.#isAll(sql, shards, LOCK, [matched]);
  }

  /** Moves the shards, which must be locked, to a sequence; returns `false` if another worker owns one of them. */
  move(sql: Sql, { shards }: MatchingStep, matched: number): Steps<boolean> {
    return this.#isAll(sql, shards, MOVE, [matched]);
  }

  *#isAll(
    sql: Sql,
    shards: readonly OwnedShard[],
    text: string,
    values: readonly number[] = [],
  ): Steps<boolean> {
    if (shards.length === 0) return false;
    const parameters = parametersOf(this.#ownership.worker, shards);
    return (yield* sql.change(text, [...parameters, ...values])) === shards.length;
  }

  /** Must be called after the transaction of `move`. */
  moved({ shards }: MatchingStep, matched: number): void {
    this.#current = undefined;
    for (const { shard, epoch } of shards) {
      const mine = this.#ownership.held.get(shard);
      if (mine?.epoch === epoch) mine.matched = matched;
    }
  }

  /** Moves the shards to the next ones; returns `false` if another worker owns one of them. */
  async skip(step: MatchingStep): Promise<boolean> {
    const isMoved = await new PostgresStore(this.#postgres).write((sql) => this.#skip(sql, step));
    if (isMoved) this.moved(step, step.upTo);
    return isMoved;
  }

  *#skip(sql: Sql, step: MatchingStep): Steps<boolean> {
    return (yield* this.lock(sql, step)) && (yield* this.move(sql, step, step.upTo));
  }
}

const parametersOf = (worker: string, shards: readonly OwnedShard[]) => [
  worker,
  shards.map(({ shard }) => shard),
  shards.map(({ epoch }) => epoch),
];

/** Joins the owners with the shards that this worker owns. */
const OWN = `JOIN unnest($2::integer[], $3::bigint[]) AS own (shard, epoch)
  ON owner = $1 AND shard_owners.shard = own.shard AND shard_owners.epoch = own.epoch`;
/** Conflicts with `claim` of `ownership.ts` only: outcomes are recorded while events are matched. */
const KEY_SHARE = "ORDER BY shard_owners.shard FOR KEY SHARE OF shard_owners";
const LOCK = `SELECT 1 FROM shard_owners ${OWN}
  JOIN shard_positions ON shard_positions.shard = shard_owners.shard AND matched >= $4 ${KEY_SHARE}`;
const MOVE = `UPDATE shard_positions SET matched = $4 FROM shard_owners ${OWN}
  WHERE shard_positions.shard = shard_owners.shard`;

function stepOf(shards: readonly HeldShard[]): MatchingStep {
  const matched = Math.min(LAST, ...shards.map((shard) => shard.matched));
  const ahead = shards.filter((shard) => shard.matched > matched);
  return {
    shards: shards.filter((shard) => shard.matched === matched).map(({ shard, epoch }) => ({ shard, epoch })),
    matched,
    upTo: Math.min(LAST, ...ahead.map((shard) => shard.matched)),
  };
}

/** Locks those of the shards that this worker owns until the end of the transaction, and returns them. */
export function* lockOwnShards(
  sql: Reads,
  { worker, held }: OwnShards,
  shards: readonly number[],
): Steps<ReadonlySet<number>> {
  const own = shards.flatMap((shard) => held.get(shard) ?? []);
  if (own.length === 0) return new Set();
  const rows = yield* sql.rows<{ shard: number }>(
    `SELECT shard_owners.shard FROM shard_owners ${OWN} ${KEY_SHARE}`,
    parametersOf(worker, own),
  );
  return new Set(rows.map(({ shard }) => shard));
}
