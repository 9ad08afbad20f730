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
import { HandOverError } from "../../hand-over/owner.ts";
import type { TakenWebhooks, WorkersSide } from "../../hand-over/ports.ts";
import { createReadDefinitions } from "../../matching/definitions.ts";
import { createMatcher, type Matched } from "../../matching/matcher.ts";
import { Verdicts } from "../../matching/verdicts.ts";
import { NameInUseError } from "../../ownership.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../../secrets.ts";
import { SHARDS } from "../../storage/shards.ts";
import { createPostgresIntake } from "../intake.ts";
import { createOwnership, type ShardOwnership } from "../ownership.ts";
import { changeOwner, readOwner, requireOwner } from "./owner.ts";
import { dropAllRows, importWebhooks, MISSING_EVENTS, readWebhookLines, removeIncomplete } from "./rows.ts";

type WorkersSideOptions = {
  /** The nethash of the chain. */
  readonly network: string;
  readonly maxContentBytes: number;
};

type WorkersSideDeps = {
  readonly postgres: Postgres;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

/** Name among the workers. */
const WORKER = "hand-over";

type LogRow = { last: string; id: string | null; is_started: boolean };

export function createWorkersSide(options: WorkersSideOptions, deps: WorkersSideDeps): WorkersSide {
  const { postgres, cipher } = deps;
  const { query, transaction } = postgres;
  return {
    isEncrypted: cipher !== PLAIN_SECRETS,
    owner: () => readOwner(query),
    change: (change) =>
      transaction("READ WRITE", async (own) => {
        const owner = await changeOwner(own, change);
        if (owner.state === "workers") await endLease(own.query);
        return owner;
      }),
    async lastCopied() {
      const [row] = await query<LogRow>(
        "SELECT last_sequence AS last, last_id AS id, is_started FROM event_log",
      );
      const { last, id, is_started } = present(row, "the row of the copied log");
      return is_started ? { sequence: Number(last), id: id ?? undefined } : undefined;
    },
    async countMissing(matched) {
      const [row] = await query<{ missing: string }>(MISSING_EVENTS, [matched]);
      return Number(present(row).missing);
    },
    write: (lines, { transfer, onRows, onWritten }) =>
      transaction("READ WRITE", (own) =>
        importWebhooks(own, lines, { transfer, network: options.network, cipher, onRows, onWritten }),
      ),
    takeAll: (transfer, maxWaitMs) => takeAll({ transfer, maxWaitMs }, options, deps),
    drop: (change) =>
      transaction("READ WRITE", async (own) => {
        await changeOwner(own, change);
        await dropAllRows(own);
        await endLease(own.query);
      }),
  };
}

/** Ends the lease of a command that was killed: neither workers nor the next command need to wait for its end. */
const endLease = (query: Query): Promise<unknown> =>
  query("DELETE FROM delivery_workers WHERE name = $1", [WORKER]);

async function takeAll(
  wait: { readonly transfer: string; readonly maxWaitMs: number },
  { network, maxContentBytes }: WorkersSideOptions,
  { postgres, cipher, ...deps }: WorkersSideDeps,
): Promise<TakenWebhooks> {
  await endLease(postgres.query);
  const levelled = await levelShards(
    { ...wait, network, worker: WORKER, maxContentBytes },
    { postgres, ...deps },
  );
  const { matched, renew, release } = levelled;
  const isEncrypted = cipher !== PLAIN_SECRETS;
  return {
    async read(work) {
      await postgres.transaction("READ WRITE", removeIncomplete);
      return postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", (transaction) =>
        work(readWebhookLines(transaction, { matched, network, cipher, isEncrypted })),
      );
    },
    renew,
    release,
  };
}

type LevelOptions = {
  /** Id of the hand-over. */
  readonly transfer: string;
  /** The nethash of the chain. */
  readonly network: string;
  /** Name of this process among the workers. */
  readonly worker: string;
  readonly maxContentBytes: number;
  /** Longer than the lease of any worker: they give up their shards after their running calls, or die. */
  readonly maxWaitMs: number;
};

type LevelDeps = {
  readonly postgres: Postgres;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

type Levelled = {
  /** Sequence of the last event that was matched for every shard. */
  readonly matched: number;
  /** Renews the lease; to be called regularly. */
  renew(): Promise<void>;
  release(): Promise<void>;
};

const LEASE_MS = 60_000;
const POLL_MS = 200;
/** Pause between two renewals while events are matched. */
const RENEW_EVERY_MS = 1_000;

/**
 * Claims all shards, and matches until each has the last event that was copied at the start.
 *
 * @throws {HandOverError} NOT_READY if workers do not give up their shards in time
 * @throws {OwnerError} if another command has cancelled or completed the hand-over
 */
async function levelShards(options: LevelOptions, deps: LevelDeps): Promise<Levelled> {
  const { postgres } = deps;
  const ownership = createOwnership(
    { worker: options.worker, leaseMs: LEASE_MS, claimsIn: "to node" },
    { postgres, elapsedMs: () => performance.now() },
  );
  try {
    await claimAll(ownership, options, deps);
    const matched = await matchAll(ownership, options, deps);
    return { matched, renew: () => renew(ownership, options, deps), release: ownership.release };
  } catch (error) {
    await ownership.release().catch(() => {});
    throw error;
  }
}

/**
 * Renews the lease while the hand-over continues: after its end, the lease would keep shards from the workers.
 *
 * @throws {OwnerError}
 * @throws {HandOverError} NOT_READY if another command has taken the shards
 */
async function renew(
  ownership: ShardOwnership,
  { transfer }: LevelOptions,
  { postgres }: LevelDeps,
): Promise<void> {
  await requireOwner(postgres.query, { from: "to node", to: "node", transfer });
  await ownership.renew().catch((error: unknown) => {
    if (!(error instanceof NameInUseError)) throw error;
    throw new HandOverError("NOT_READY", "another command continues this hand-over; wait until it has ended");
  });
}

async function claimAll(ownership: ShardOwnership, options: LevelOptions, deps: LevelDeps): Promise<void> {
  const { maxWaitMs } = options;
  const { signal } = deps;
  const endMs = performance.now() + maxWaitMs;
  for (;;) {
    await renew(ownership, options, deps);
    if (ownership.held.size === SHARDS) return;
    if (performance.now() > endMs)
      throw new HandOverError(
        "NOT_READY",
        "delivery workers still own webhooks; run the command again, or return the webhooks with --cancel",
      );
    await sleep(POLL_MS, undefined, { signal });
  }
}

function createMatch(
  ownership: ShardOwnership,
  { network, maxContentBytes }: LevelOptions,
  { postgres, logger }: LevelDeps,
): () => Promise<Matched> {
  const intake = createPostgresIntake({ postgres, ownership });
  const observer = NO_MATCHING_OBSERVER;
  return createMatcher({
    ...{ network, intake, observer, logger },
    readDefinitions: createReadDefinitions({ intake, logger }),
    verdicts: new Verdicts({ observer, logger }),
    fit: createFit(maxContentBytes),
    nowMs: Date.now,
  });
}

/** Returns the position of all shards. */
async function matchAll(ownership: ShardOwnership, options: LevelOptions, deps: LevelDeps): Promise<number> {
  const { postgres, signal } = deps;
  const { query } = postgres;
  const match = createMatch(ownership, options, deps);
  const [log] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
  const last = Number(present(log).last);
  for (;;) {
    signal.throwIfAborted();
    if (ownership.remainingMs() < LEASE_MS - RENEW_EVERY_MS) await renew(ownership, options, deps);
    if (ownership.held.size < SHARDS)
      throw new HandOverError("NOT_READY", "another command has claimed the webhooks; run the command again");
    const positions = [...ownership.held.values()].map(({ matched }) => matched);
    const [lowest, highest] = [Math.min(...positions), Math.max(...positions)];
    if (lowest === highest && (lowest >= last || !(await hasEvents(query, lowest))))
      return Math.max(lowest, last);
    await match();
  }
}

/** After a gap in the log of the node, the last events may be missing. */
async function hasEvents(query: Query, after: number): Promise<boolean> {
  const rows = await query("SELECT 1 FROM events WHERE sequence > $1 LIMIT 1", [after]);
  return rows.length > 0;
}
