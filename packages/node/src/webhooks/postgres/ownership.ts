/**
 * Ownership of webhooks by lease (docs/decisions/0052). A worker renews its lease in a single row. Others remove the row of
 * a worker whose lease has ended, and may then claim its shards: a worker whose row was removed has lost all of them, even if
 * no worker has claimed them yet. Only the clock of the database decides when a lease ends; the worker itself counts the time
 * since it sent the last renewal. A worker claims its shards again, with another epoch, if the database has lost commits.
 */
import { randomUUID } from "node:crypto";
import type { Transaction } from "../../postgres/connection.ts";
import type { OwnerState } from "../hand-over/owner.ts";
import type { Ownership, OwnershipChange, QueueChange } from "../ownership.ts";
import { type Share, shardOf, withinShare } from "../storage/shards.ts";
import {
  bumpVersionWhile,
  claimShards,
  freeShards,
  type HeldShard,
  readShare,
  readWebhooks,
  type ShardRow,
  takeQueueChanges,
} from "./shards.ts";
import type { Connection } from "./sql.ts";
import { beginLease, endLease, renewLease, type WorkerLease } from "./worker-lease.ts";

type OwnershipOptions = {
  /** Name of this worker: no other running process has it. */
  readonly worker: string;
  /** Id of this process. Default: a random one. */
  readonly session?: string;
  readonly leaseMs: number;
  /** State of the webhooks in which this process claims shards. Default: `workers`, in which workers share them. */
  readonly claimsIn?: OwnerState;
};

type OwnershipDeps = {
  readonly postgres: Connection;
  readonly elapsedMs: () => number;
  /** Default: the wall clock. */
  readonly nowMs?: () => number;
};

export class ShardOwnership implements Ownership {
  readonly worker: string;
  readonly #lease: WorkerLease;
  readonly #claimsIn: OwnerState;
  readonly #deps: OwnershipDeps;
  readonly #held = new Map<number, HeldShard>();
  /** Shards that this worker is giving up. */
  readonly #surplus = new Set<number>();
  /** Owned shards and their epochs, as the last successful renewal has reported them. */
  #reported = new Map<number, number>();
  /** Time at which the lease ends, by the monotonic clock. */
  #leaseEndMs = 0;
  /** The same by the wall clock: the monotonic one stops while the machine is suspended, but the lease does not. */
  #wallEndMs = 0;

  constructor(options: OwnershipOptions, deps: OwnershipDeps) {
    const { worker, session = randomUUID(), leaseMs, claimsIn = "workers" } = options;
    this.worker = worker;
    this.#lease = { worker, session, leaseMs };
    this.#claimsIn = claimsIn;
    this.#deps = deps;
  }

  /** The owned shards, by number. */
  get held(): ReadonlyMap<number, HeldShard> {
    return this.#held;
  }

  owns(webhook: number): boolean {
    return this.#held.has(shardOf(webhook)) && !this.#surplus.has(shardOf(webhook));
  }

  epochOf(webhook: number): number | undefined {
    return this.#held.get(shardOf(webhook))?.epoch;
  }

  remainingMs(): number {
    const { elapsedMs, nowMs = Date.now } = this.#deps;
    return Math.max(0, Math.min(this.#leaseEndMs - elapsedMs(), this.#wallEndMs - nowMs()));
  }

  async renew(): Promise<OwnershipChange> {
    const { postgres, elapsedMs, nowMs = Date.now } = this.#deps;
    const sentMs = elapsedMs();
    const sentWallMs = nowMs();
    if (!(await renewLease(postgres.query, this.#lease))) {
      this.#leaseEndMs = 0;
      for (const shard of this.#held.keys()) this.#drop(shard);
      await beginLease(postgres.query, this.#lease);
    }
    // Positions that are committed: a database with a lower one has lost commits, as a replica that was promoted without them.
    const committed = new Map([...this.#held].map(([shard, { matched }]) => [shard, matched]));
    const isHeld = (row: ShardRow) => this.#isHeld(row, committed);
    const view = await postgres.transaction("READ WRITE", (transaction) => this.#claim(transaction, isHeld));
    for (const row of view.shards) if (this.#held.has(row.shard) && !isHeld(row)) this.#drop(row.shard);
    for (const claimed of view.claimed) this.#held.set(claimed.shard, claimed);
    const mine = [...this.#held.keys()].filter((shard) => !this.#surplus.has(shard));
    const kept = withinShare(mine, view.share, (shard) => view.used.has(shard));
    const surplus = mine.filter((shard) => !kept.includes(shard));
    const webhooksOf = await readWebhooks(postgres.query, [...this.#reported.keys(), ...this.#held.keys()]);
    await this.#giveUp(surplus.filter((shard) => webhooksOf(shard).length === 0));
    // Nothing fails from here on: a change that is not reported now would be with the next renewal. Only then may calls run.
    for (const shard of surplus) if (this.#held.has(shard)) this.#surplus.add(shard);
    const { gained, lost } = this.#report();
    this.#leaseEndMs = sentMs + this.#lease.leaseMs;
    this.#wallEndMs = sentWallMs + this.#lease.leaseMs;
    return {
      gained: gained.flatMap(webhooksOf),
      lost: lost.flatMap(webhooksOf),
      surplus: surplus.flatMap(webhooksOf),
    };
  }

  #drop(shard: number): void {
    this.#held.delete(shard);
    this.#surplus.delete(shard);
  }

  #isHeld({ owner, epoch, shard, matched }: ShardRow, committed: ReadonlyMap<number, number>): boolean {
    const isOwner = owner === this.worker && Number(epoch) === this.#held.get(shard)?.epoch;
    return isOwner && Number(matched) >= (committed.get(shard) ?? 0);
  }

  /** Returns the shards that were gained and lost since the last report. */
  #report(): { readonly gained: readonly number[]; readonly lost: readonly number[] } {
    const reported = this.#reported;
    const isReported = (shard: number) => reported.get(shard) === this.#held.get(shard)?.epoch;
    this.#reported = new Map([...this.#held].map(([shard, { epoch }]) => [shard, epoch]));
    return {
      gained: [...this.#held.keys()].filter((shard) => !isReported(shard)),
      lost: [...reported.keys()].filter((shard) => !isReported(shard)),
    };
  }

  /** Claims free shards, up to the share of this worker. */
  async #claim(transaction: Transaction, isHeld: (row: ShardRow) => boolean): Promise<View> {
    // Waits for a renewal that is in progress, and removes the row only if the lease has ended nevertheless.
    await transaction.change(
      "DELETE FROM delivery_workers WHERE lease_until < clock_timestamp() AND name <> $1",
      [this.worker],
    );
    const shards = await transaction.query<ShardRow>(
      `SELECT shard, owner, epoch, matched, name IS NOT NULL AS has_owner,
         EXISTS (SELECT 1 FROM webhooks WHERE webhooks.shard = shards.shard) AS is_used
       FROM shards LEFT JOIN delivery_workers ON name = owner ORDER BY shard`,
    );
    const used = new Set(shards.flatMap(({ shard, is_used }) => (is_used ? shard : [])));
    const share = await readShare(transaction, this.#claimsIn, used.size);
    const mine = shards.filter(isHeld);
    const others = shards.filter((row) => !row.has_owner || (row.owner === this.worker && !isHeld(row)));
    const wanted = withinShare([...mine, ...others], share, ({ is_used }) => is_used);
    const free = wanted.filter((row) => !isHeld(row));
    // Others consider these owned: a former process of this name had them, or the response to their claim was lost.
    const unknown = shards.filter((row) => row.owner === this.worker && !isHeld(row) && !free.includes(row));
    await freeShards(transaction.query, this.worker, unknown);
    if (free.length === 0) return { shards, used, claimed: [], share };
    const claimed = await claimShards(transaction.query, this.worker, free);
    // The owners of the other shards need not read the register again, but nothing is lost by it.
    await bumpVersionWhile(transaction, this.#claimsIn);
    return { shards, used, claimed, share };
  }

  giveUp(webhooks: readonly number[]): Promise<void> {
    return this.#giveUp([...new Set(webhooks.map(shardOf))]);
  }

  async #giveUp(shards: readonly number[]): Promise<void> {
    const given = shards.flatMap((shard) => this.#held.get(shard) ?? []);
    if (given.length === 0) return;
    await freeShards(this.#deps.postgres.query, this.worker, given);
    for (const { shard } of given) {
      this.#drop(shard);
      this.#reported.delete(shard);
    }
  }

  async release(): Promise<void> {
    await this.#giveUp([...this.#held.keys()]);
    this.#leaseEndMs = 0;
    await endLease(this.#deps.postgres.query, this.#lease);
  }

  takeChanges(): Promise<readonly QueueChange[]> {
    return takeQueueChanges(this.#deps.postgres.query, this.worker, [...this.#held.values()]);
  }
}

type View = {
  readonly shards: readonly ShardRow[];
  readonly claimed: readonly HeldShard[];
  readonly used: ReadonlySet<number>;
  readonly share: Share;
};
