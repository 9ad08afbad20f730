/**
 * Ownership of webhooks by lease (docs/decisions/0052). A worker renews its lease in a single row. Others remove the row of
 * a worker whose lease has ended, and may then claim its shards: a worker whose row was removed has lost all of them, even if
 * no worker has claimed them yet. Only the clock of the database decides when a lease ends; the worker itself counts the time
 * since it sent the last renewal.
 */
import { randomUUID } from "node:crypto";
import { present } from "../../platform/present.ts";
import type { Postgres, Query, Transaction } from "../../postgres/connection.ts";
import type { OwnerState } from "../hand-over/owner.ts";
import { nextEpoch } from "../model/webhook.ts";
import type { Ownership, OwnershipChange } from "../ownership.ts";
import { type OwnedShard, SHARDS, type Share, shardOf, withinShare } from "../storage/shards.ts";
import { bumpVersionWhile } from "./register.ts";
import { beginLease, endLease, renewLease } from "./worker-lease.ts";

export type OwnershipOptions = {
  /** Name of this worker: no other running process has it. */
  readonly worker: string;
  /** Id of this process. Default: a random one. */
  readonly session?: string;
  readonly leaseMs: number;
  /** State of the webhooks in which this process claims shards. Default: `workers`, in which workers share them. */
  readonly claimsIn?: OwnerState;
};

export type OwnershipDeps = {
  readonly postgres: Postgres;
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number;
};

/** A shard, and the sequence of the last event that was matched for its webhooks. */
export type HeldShard = OwnedShard & { matched: number };

export type ShardOwnership = Ownership & {
  readonly worker: string;
  /** The owned shards, by number. */
  readonly held: ReadonlyMap<number, HeldShard>;
};

type State = OwnershipOptions &
  OwnershipDeps & {
    readonly session: string;
    readonly held: Map<number, HeldShard>;
    /** Shards that this worker is giving up. */
    readonly surplus: Set<number>;
    /** Owned shards and their epochs, as the last successful renewal has reported them. */
    reported: Map<number, number>;
    /** Time at which the lease ends, by the monotonic clock. */
    leaseEndMs: number;
  };

export function createOwnership(options: OwnershipOptions, deps: OwnershipDeps): ShardOwnership {
  const state: State = {
    session: randomUUID(),
    ...options,
    ...deps,
    held: new Map(),
    surplus: new Set(),
    reported: new Map(),
    leaseEndMs: 0,
  };
  const { worker, held } = state;
  return {
    worker,
    held,
    epochOf: (webhook) => held.get(shardOf(webhook))?.epoch,
    renew: () => renew(state),
    giveUp: (webhooks) => giveUp(state, new Set(webhooks.map(shardOf))),
    owns: (webhook) => held.has(shardOf(webhook)) && !state.surplus.has(shardOf(webhook)),
    release: () => release(state),
    remainingMs: () => Math.max(0, state.leaseEndMs - deps.elapsedMs()),
    takeChanges: () => takeChanges(state),
  };
}

async function renew(state: State): Promise<OwnershipChange> {
  const { postgres, held, elapsedMs, leaseMs } = state;
  const sentMs = elapsedMs();
  const drop = (shard: number) => {
    held.delete(shard);
    state.surplus.delete(shard);
  };
  if (!(await renewLease(postgres.query, state))) {
    state.leaseEndMs = 0;
    for (const shard of held.keys()) drop(shard);
    await beginLease(postgres.query, state);
  }
  const view = await postgres.transaction("READ WRITE", (transaction) => claim(transaction, state));
  const isMine = ({ owner, epoch, shard }: ShardRow) =>
    owner === state.worker && Number(epoch) === held.get(shard)?.epoch;
  for (const row of view.shards) if (held.has(row.shard) && !isMine(row)) drop(row.shard);
  for (const claimed of view.claimed) held.set(claimed.shard, claimed);
  const mine = [...held.keys()].filter((shard) => !state.surplus.has(shard));
  const kept = withinShare(mine, view.share, (shard) => view.used.has(shard));
  const surplus = mine.filter((shard) => !kept.includes(shard));
  const webhooksOf = await readWebhooks(postgres.query, [...state.reported.keys(), ...held.keys()]);
  await giveUp(state, new Set(surplus.filter((shard) => webhooksOf(shard).length === 0)));
  // Nothing fails from here on: a change that is not reported now would be with the next renewal. Only then may calls run.
  for (const shard of surplus) if (held.has(shard)) state.surplus.add(shard);
  const { gained, lost } = report(state);
  state.leaseEndMs = sentMs + leaseMs;
  return {
    gained: gained.flatMap(webhooksOf),
    lost: lost.flatMap(webhooksOf),
    surplus: surplus.flatMap(webhooksOf),
  };
}

/** Returns the shards that were gained and lost since the last report. */
function report(state: State): { readonly gained: readonly number[]; readonly lost: readonly number[] } {
  const { held, reported } = state;
  const isReported = (shard: number) => reported.get(shard) === held.get(shard)?.epoch;
  state.reported = new Map([...held].map(([shard, { epoch }]) => [shard, epoch]));
  return {
    gained: [...held.keys()].filter((shard) => !isReported(shard)),
    lost: [...reported.keys()].filter((shard) => !isReported(shard)),
  };
}

type ShardRow = { shard: number; owner: string | null; epoch: string; has_owner: boolean; is_used: boolean };

type View = {
  readonly shards: readonly ShardRow[];
  readonly claimed: readonly HeldShard[];
  /** The shards that have webhooks. */
  readonly used: ReadonlySet<number>;
  readonly share: Share;
};

/** Claims free shards, up to the share of this worker. */
async function claim(transaction: Transaction, state: State): Promise<View> {
  const { worker, held, claimsIn = "workers" } = state;
  // Waits for a renewal that is in progress, and removes the row only if the lease has ended nevertheless.
  await transaction.change(
    "DELETE FROM delivery_workers WHERE lease_until < clock_timestamp() AND name <> $1",
    [worker],
  );
  const shards = await transaction.query<ShardRow>(
    `SELECT shard, owner, epoch, name IS NOT NULL AS has_owner,
       EXISTS (SELECT 1 FROM webhooks WHERE webhooks.shard = shard_owners.shard) AS is_used
     FROM shard_owners LEFT JOIN delivery_workers ON name = owner ORDER BY shard`,
  );
  const used = new Set(shards.flatMap(({ shard, is_used }) => (is_used ? shard : [])));
  const share = await readShare(transaction, claimsIn, used.size);
  const isHeld = ({ shard, owner, epoch }: ShardRow) =>
    owner === worker && Number(epoch) === held.get(shard)?.epoch;
  const isFree = (row: ShardRow) => !row.has_owner || (row.owner === worker && !isHeld(row));
  const [mine, others] = [shards.filter(isHeld), shards.filter(isFree)];
  const wanted = withinShare([...mine, ...others], share, ({ is_used }) => is_used);
  const free = wanted.filter((row) => !isHeld(row));
  // Others consider these owned: a former process of this name had them, or the response to their claim was lost.
  const unknown = shards.filter((row) => row.owner === worker && !isHeld(row) && !free.includes(row));
  await freeShards(transaction.query, worker, unknown);
  if (free.length === 0) return { shards, used, claimed: [], share };
  // Waits for the writes of a former owner, which have locked the shards.
  const claimed = await transaction.query<{ shard: number; epoch: string }>(
    `WITH claimed AS MATERIALIZED (
       SELECT shard_owners.shard, free.next
       FROM shard_owners JOIN unnest($2::integer[], $3::bigint[], $4::bigint[]) AS free (shard, epoch, next)
         ON shard_owners.shard = free.shard AND shard_owners.epoch = free.epoch
       ORDER BY shard_owners.shard FOR UPDATE OF shard_owners
     ) UPDATE shard_owners SET owner = $1, epoch = claimed.next FROM claimed
     WHERE shard_owners.shard = claimed.shard RETURNING shard_owners.shard, shard_owners.epoch`,
    [
      worker,
      free.map(({ shard }) => shard),
      free.map(({ epoch }) => epoch),
      free.map(({ epoch }) => nextEpoch(Number(epoch), Date.now())),
    ],
  );
  // A statement of its own, which sees the last position of the former owner.
  const positions = await transaction.query<{ shard: number; matched: string }>(
    "SELECT shard, matched FROM shard_positions WHERE shard = ANY ($1)",
    [claimed.map(({ shard }) => shard)],
  );
  const matchedOf = new Map(positions.map(({ shard, matched }) => [shard, Number(matched)]));
  // The owners of the other shards need not read the register again, but nothing is lost by it.
  await bumpVersionWhile(transaction, claimsIn);
  return {
    ...{ shards, used, share },
    claimed: claimed.map(({ shard, epoch }) => ({
      shard,
      epoch: Number(epoch),
      matched: present(matchedOf.get(shard), "the position of a shard"),
    })),
  };
}

/** Returns the share of a process: none while the webhooks have another owner. */
async function readShare({ query }: Transaction, claimsIn: OwnerState, used: number): Promise<Share> {
  const [row] = await query<{ owner: OwnerState; workers: string }>(
    "SELECT owner, (SELECT count(*) FROM delivery_workers) AS workers FROM webhook_register",
  );
  if (row?.owner !== claimsIn) return { used: 0, all: 0 };
  const workers = claimsIn === "workers" ? Math.max(1, Number(row.workers)) : 1;
  return { used: Math.ceil(used / workers), all: Math.ceil(SHARDS / workers) };
}

/** Returns a function that returns the webhooks of a shard. */
async function readWebhooks(query: Query, shards: readonly number[]) {
  const rows = await query<{ id: string; shard: number }>(
    "SELECT id, shard FROM webhooks WHERE shard = ANY ($1) ORDER BY id",
    [shards],
  );
  const byShard = Map.groupBy(rows, ({ shard }) => shard);
  return (shard: number): number[] => (byShard.get(shard) ?? []).map(({ id }) => Number(id));
}

/** Lets others claim shards that a worker owns with these epochs. */
async function freeShards(
  query: Query,
  worker: string,
  shards: readonly { readonly shard: number; readonly epoch: number | string }[],
): Promise<void> {
  if (shards.length === 0) return;
  await query(
    `WITH freed AS MATERIALIZED (
       SELECT shard_owners.shard FROM shard_owners JOIN unnest($2::integer[], $3::bigint[]) AS given (shard, epoch)
         ON shard_owners.shard = given.shard AND shard_owners.epoch = given.epoch AND owner = $1
       ORDER BY shard_owners.shard FOR UPDATE OF shard_owners
     ) UPDATE shard_owners SET owner = NULL FROM freed WHERE shard_owners.shard = freed.shard`,
    [worker, shards.map(({ shard }) => shard), shards.map(({ epoch }) => epoch)],
  );
}

async function giveUp(
  { postgres, worker, held, surplus, reported }: State,
  shards: ReadonlySet<number>,
): Promise<void> {
  const given = [...shards].flatMap((shard) => held.get(shard) ?? []);
  if (given.length === 0) return;
  await freeShards(postgres.query, worker, given);
  for (const { shard } of given) {
    held.delete(shard);
    surplus.delete(shard);
    reported.delete(shard);
  }
}

async function release(state: State): Promise<void> {
  const { postgres, held } = state;
  await giveUp(state, new Set(held.keys()));
  state.leaseEndMs = 0;
  await endLease(postgres.query, state);
}

async function takeChanges({ postgres, held }: State) {
  const rows = await postgres.query<{ webhook: string; isRestart: boolean }>(
    `DELETE FROM queue_changes WHERE (webhook % ${SHARDS})::integer = ANY ($1)
     RETURNING webhook, is_restart AS "isRestart"`,
    [[...held.keys()]],
  );
  return rows.map(({ webhook, isRestart }) => ({ webhook: Number(webhook), isRestart }));
}
