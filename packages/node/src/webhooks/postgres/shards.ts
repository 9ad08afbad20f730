/** Shards as rows: their owners and epochs, which workers claim and free (docs/decisions/0052). */
import { CodedError } from "../../platform/coded-error.ts";
import { present } from "../../platform/present.ts";
import type { Query, Transaction } from "../../postgres/connection.ts";
import type { OwnerState } from "../hand-over/owner.ts";
import { nextEpoch } from "../model/webhook.ts";
import type { QueueChange } from "../ownership.ts";
import { type OwnedShard, SHARDS, type Share } from "../storage/shards.ts";

/** A shard, and the sequence of the last event that was matched for its webhooks. */
export type HeldShard = OwnedShard & { matched: number };

export type ShardRow = {
  shard: number;
  owner: string | null;
  epoch: string;
  matched: string;
  has_owner: boolean;
  is_used: boolean;
};

/** Claims shards, with the next epochs. */
export async function claimShards(
  query: Query,
  worker: string,
  free: readonly ShardRow[],
): Promise<HeldShard[]> {
  // Waits for the writes of a former owner, which have locked the shards.
  const claimed = await query<{ shard: number; epoch: string }>(
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
  const positions = await query<{ shard: number; matched: string }>(
    "SELECT shard, matched FROM shard_positions WHERE shard = ANY ($1)",
    [claimed.map(({ shard }) => shard)],
  );
  const matchedOf = new Map(positions.map(({ shard, matched }) => [shard, Number(matched)]));
  return claimed.map(({ shard, epoch }) => ({
    shard,
    epoch: Number(epoch),
    matched: present(matchedOf.get(shard), "the position of a shard"),
  }));
}

/** @throws {CodedError} OWNER_CHANGED if the webhooks have another state than the given one */
export async function bumpVersionWhile({ change }: Transaction, state: OwnerState): Promise<void> {
  const bumped = await change("UPDATE webhook_register SET version = version + 1 WHERE owner = $1", [state]);
  if (bumped > 0) return;
  throw new CodedError("OWNER_CHANGED", "the webhooks were handed over meanwhile", { isRetryable: true });
}

/** Returns the share of a process: none while the webhooks have another owner. */
export async function readShare({ query }: Transaction, claimsIn: OwnerState, used: number): Promise<Share> {
  const [row] = await query<{ owner: OwnerState; workers: string }>(
    "SELECT owner, (SELECT count(*) FROM delivery_workers) AS workers FROM webhook_register",
  );
  if (row?.owner !== claimsIn) return { used: 0, all: 0 };
  const workers = claimsIn === "workers" ? Math.max(1, Number(row.workers)) : 1;
  return { used: Math.ceil(used / workers), all: Math.ceil(SHARDS / workers) };
}

/** Returns a function that returns the webhooks of a shard. */
export async function readWebhooks(query: Query, shards: readonly number[]) {
  const rows = await query<{ id: string; shard: number }>(
    "SELECT id, shard FROM webhooks WHERE shard = ANY ($1) ORDER BY id",
    [shards],
  );
  const byShard = Map.groupBy(rows, ({ shard }) => shard);
  return (shard: number): number[] => (byShard.get(shard) ?? []).map(({ id }) => Number(id));
}

/** Removes the changes of webhooks of the shards that a worker owns with these epochs, and returns them. */
export async function takeQueueChanges(
  query: Query,
  worker: string,
  shards: readonly OwnedShard[],
): Promise<QueueChange[]> {
  const rows = await query<{ webhook: string; isRestart: boolean }>(
    `DELETE FROM queue_changes
     USING shard_owners JOIN unnest($2::integer[], $3::bigint[]) AS own (shard, epoch)
       ON owner = $1 AND shard_owners.shard = own.shard AND shard_owners.epoch = own.epoch
     WHERE (webhook % ${SHARDS})::integer = own.shard
     RETURNING webhook, is_restart AS "isRestart"`,
    [worker, shards.map(({ shard }) => shard), shards.map(({ epoch }) => epoch)],
  );
  return rows.map(({ webhook, isRestart }) => ({ webhook: Number(webhook), isRestart }));
}

/** Lets others claim shards that a worker owns with these epochs. */
export async function freeShards(
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
