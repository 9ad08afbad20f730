/**
 * The workers' side of a hand-over in PostgreSQL. Taking the webhooks brings all shards to the same position in the
 * events, as a worker that owns all of them and sends nothing. Claiming them fences late writes of their former owners.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { present } from "../../../platform/present.ts";
import type { Postgres, Query } from "../../../postgres/connection.ts";
import { NO_MATCHING_OBSERVER } from "../../../subscriptions/conditions/slices.ts";
import { createFit } from "../../../subscriptions/content.ts";
import type { HandOverLine } from "../../hand-over/lines.ts";
import { HandOverError, type Owner, type OwnerChange } from "../../hand-over/owner.ts";
import type { CopiedEvent, TakenWebhooks, WorkersSide, WriteOptions } from "../../hand-over/ports.ts";
import { DefinitionReader } from "../../matching/definitions.ts";
import { Matcher } from "../../matching/matcher.ts";
import { NameInUseError } from "../../ownership.ts";
import type { SecretCipher } from "../../secrets.ts";
import { SHARDS } from "../../storage/shards.ts";
import { PostgresIntake } from "../intake.ts";
import { ShardOwnership } from "../ownership.ts";
import { changeOwner, readOwner, requireOwner } from "./owner.ts";
import { dropAllRows, importWebhooks, MISSING_EVENTS, readWebhookLines, removeIncomplete } from "./rows.ts";

type WorkersSideOptions = {
  /** The nethash of the chain. */
  readonly network: string;
  readonly maxContentBytes: number;
};

type WorkersSideDeps = {
  readonly postgres: Postgres;
  readonly cipher: SecretCipher;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

/** Name among the workers. */
const WORKER = "hand-over";

type LogRow = { last: string; id: string | null; is_started: boolean };

const READ_WRITE = "READ WRITE";

export class PostgresWorkersSide implements WorkersSide {
  readonly #options: WorkersSideOptions;
  readonly #deps: WorkersSideDeps;

  constructor(options: WorkersSideOptions, deps: WorkersSideDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  get isEncrypted(): boolean {
    return !this.#deps.cipher.isPlain;
  }

  owner(): Promise<Owner> {
    return readOwner(this.#deps.postgres.query);
  }

  change(change: OwnerChange): Promise<Owner> {
    return this.#deps.postgres.transaction(READ_WRITE, async (transaction) => {
      const owner = await changeOwner(transaction, change);
      if (owner.state === "workers") await endLease(transaction.query);
      return owner;
    });
  }

  async lastCopied(): Promise<CopiedEvent | undefined> {
    const [row] = await this.#deps.postgres.query<LogRow>(
      "SELECT last_sequence AS last, last_id AS id, is_started FROM event_log",
    );
    const { last, id, is_started } = present(row, "the row of the copied log");
    return is_started ? { sequence: Number(last), id: id ?? undefined } : undefined;
  }

  async countMissing(matched: number): Promise<number> {
    const [row] = await this.#deps.postgres.query<{ missing: string }>(MISSING_EVENTS, [matched]);
    return Number(present(row).missing);
  }

  write(lines: AsyncIterable<HandOverLine>, options: WriteOptions): Promise<void> {
    const { network } = this.#options;
    const { postgres, cipher } = this.#deps;
    return postgres.transaction(READ_WRITE, (transaction) =>
      importWebhooks(transaction, lines, { ...options, network, cipher }),
    );
  }

  async takeAll(transfer: string, maxWaitMs: number): Promise<TakenWebhooks> {
    await endLease(this.#deps.postgres.query);
    return TakenShards.take({ ...this.#options, transfer, maxWaitMs }, this.#deps);
  }

  drop(change: OwnerChange): Promise<void> {
    return this.#deps.postgres.transaction(READ_WRITE, async (transaction) => {
      await changeOwner(transaction, change);
      await dropAllRows(transaction);
      await endLease(transaction.query);
    });
  }
}

/** Ends the lease of a command that was killed: neither workers nor the next command need to wait for its end. */
const endLease = (query: Query): Promise<unknown> =>
  query("DELETE FROM delivery_workers WHERE name = $1", [WORKER]);

type TakeOptions = WorkersSideOptions & {
  readonly transfer: string;
  /** Longer than the lease of any worker: they give up their shards after their running calls, or die. */
  readonly maxWaitMs: number;
};

const LEASE_MS = 60_000;
const POLL_MS = 200;
/** Pause between two renewals while events are matched. */
const RENEW_EVERY_MS = 1_000;

/** This process owns all shards, and sends nothing. */
class TakenShards implements TakenWebhooks {
  readonly #options: TakeOptions;
  readonly #deps: WorkersSideDeps;
  readonly #ownership: ShardOwnership;
  /** Sequence of the last event that was matched for every shard. */
  #matched = 0;

  private constructor(options: TakeOptions, deps: WorkersSideDeps) {
    const { postgres } = deps;
    this.#options = options;
    this.#deps = deps;
    this.#ownership = new ShardOwnership(
      { worker: WORKER, leaseMs: LEASE_MS, claimsIn: "to node" },
      { postgres, elapsedMs: () => performance.now() },
    );
  }

  /** Claims all shards, and matches until each has the last event that was copied at the start. */
  static async take(options: TakeOptions, deps: WorkersSideDeps): Promise<TakenShards> {
    const taken = new TakenShards(options, deps);
    try {
      await taken.#claimAll();
      await taken.#matchAll();
      return taken;
    } catch (error) {
      await taken.release().catch(() => {});
      throw error;
    }
  }

  async read<T>(work: (lines: AsyncIterable<HandOverLine>) => Promise<T>): Promise<T> {
    const { network } = this.#options;
    const { postgres, cipher } = this.#deps;
    await postgres.transaction(READ_WRITE, removeIncomplete);
    return postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", (transaction) =>
      work(readWebhookLines(transaction, { matched: this.#matched, network, cipher })),
    );
  }

  /** Ends with the hand-over: the lease would keep shards from the workers. */
  async renew(): Promise<void> {
    const { transfer } = this.#options;
    await requireOwner(this.#deps.postgres.query, { from: "to node", to: "node", transfer });
    await this.#ownership.renew().catch((error: unknown) => {
      if (!(error instanceof NameInUseError)) throw error;
      throw new HandOverError(
        "NOT_READY",
        "another command continues this hand-over; wait until it has ended",
      );
    });
  }

  release(): Promise<void> {
    return this.#ownership.release();
  }

  async #claimAll(): Promise<void> {
    const { signal } = this.#deps;
    const endMs = performance.now() + this.#options.maxWaitMs;
    for (;;) {
      await this.renew();
      if (this.#ownership.held.size === SHARDS) return;
      if (performance.now() > endMs)
        throw new HandOverError(
          "NOT_READY",
          "delivery workers still own webhooks; run the command again, or return the webhooks with --cancel",
        );
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  async #matchAll(): Promise<void> {
    const { postgres, signal } = this.#deps;
    const { query } = postgres;
    const matcher = this.#createMatcher();
    const [log] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
    const last = Number(present(log).last);
    for (;;) {
      signal.throwIfAborted();
      if (this.#ownership.remainingMs() < LEASE_MS - RENEW_EVERY_MS) await this.renew();
      const { held } = this.#ownership;
      if (held.size < SHARDS)
        throw new HandOverError(
          "NOT_READY",
          "another command has claimed the webhooks; run the command again",
        );
      const positions = [...held.values()].map(({ matched }) => matched);
      const [lowest, highest] = [Math.min(...positions), Math.max(...positions)];
      this.#matched = Math.max(lowest, last);
      if (lowest === highest && (lowest >= last || !(await hasEvents(query, lowest)))) return;
      await matcher.step();
    }
  }

  #createMatcher(): Matcher {
    const { network, maxContentBytes } = this.#options;
    const { postgres, logger } = this.#deps;
    const intake = new PostgresIntake(postgres, this.#ownership);
    return new Matcher({
      ...{ network, intake, observer: NO_MATCHING_OBSERVER, logger },
      definitions: new DefinitionReader(intake, logger),
      fit: createFit(maxContentBytes),
      nowMs: Date.now,
    });
  }
}

/** After a gap in the log of the node, the last events may be missing. */
async function hasEvents(query: Query, after: number): Promise<boolean> {
  const rows = await query("SELECT 1 FROM events WHERE sequence > $1 LIMIT 1", [after]);
  return rows.length > 0;
}
