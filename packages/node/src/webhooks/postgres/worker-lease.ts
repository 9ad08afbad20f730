/**
 * The lease of a worker: one row with its name and the id of its process. Another process gets the name only after the lease has
 * ended, because a call to a receiver cannot be fenced.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Query } from "../../postgres/connection.ts";
import { NameInUseError } from "../ownership.ts";

export type WorkerLease = {
  readonly worker: string;
  readonly session: string;
  readonly leaseMs: number;
};

const POLL_MS = 500;

/** Renews the lease; returns `false` if it has ended and others have noticed, or before the first lease. */
export async function renewLease(query: Query, { worker, session, leaseMs }: WorkerLease): Promise<boolean> {
  const renewed = await query(
    `UPDATE delivery_workers SET lease_until = clock_timestamp() + make_interval(secs => $3)
     WHERE name = $1 AND session = $2 RETURNING 1`,
    [worker, session, leaseMs / 1_000],
  );
  return renewed.length > 0;
}

/** Begins a lease, or continues that of the process; returns `false` while another process has the name. */
async function begin(query: Query, { worker, session, leaseMs }: WorkerLease): Promise<boolean> {
  const begun = await query(
    `INSERT INTO delivery_workers (name, session, lease_until)
     VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
     ON CONFLICT (name) DO UPDATE SET session = EXCLUDED.session, lease_until = EXCLUDED.lease_until
       WHERE delivery_workers.session = EXCLUDED.session OR delivery_workers.lease_until < clock_timestamp()
     RETURNING 1`,
    [worker, session, leaseMs / 1_000],
  );
  return begun.length > 0;
}

/** @throws {NameInUseError} while another process has the name */
export async function beginLease(query: Query, lease: WorkerLease): Promise<void> {
  if (!(await begin(query, lease))) throw new NameInUseError(lease.worker);
}

/**
 * Begins a lease as soon as the one of a process that was killed has ended.
 *
 * @throws {NameInUseError} as soon as a running process has renewed its lease
 * @throws {DOMException} AbortError if the signal ends the wait
 */
export async function waitForName(
  query: Query,
  lease: WorkerLease,
  logger: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  const { worker } = lease;
  let first: string | undefined;
  while (!(await begin(query, lease))) {
    const [other] = await query<{ end: string; seconds: number }>(
      `SELECT extract(epoch FROM lease_until)::text AS end,
         ceil(extract(epoch FROM lease_until - clock_timestamp()))::integer AS seconds
       FROM delivery_workers WHERE name = $1`,
      [worker],
    );
    if (first !== undefined && other && other.end !== first) throw new NameInUseError(worker);
    if (first === undefined && other)
      logger.warn(
        { worker, seconds: other.seconds },
        "waiting: a process with this name has a lease; it was killed if the lease ends",
      );
    first ??= other?.end;
    await sleep(POLL_MS, undefined, { signal });
  }
}

export const endLease = (query: Query, { worker, session }: Omit<WorkerLease, "leaseMs">): Promise<unknown> =>
  query("DELETE FROM delivery_workers WHERE name = $1 AND session = $2", [worker, session]);
