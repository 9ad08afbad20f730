/** The head of a mirror: its last block, and the process that may move it. */
import type { EncodedBlock } from "@uniknode/protocol";
import type { Position } from "../feed/line.ts";
import type { Postgres, PostgresValue, Transaction } from "../postgres/connection.ts";
import type { LogMark } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";

/** `blocks` while the mirror is built (see `bootstrap.ts`), `ready` while it follows the feed. */
export type Phase = "blocks" | "ready";

/** Right to write: each mirror that takes over increments it. */
export type Epoch = number;

export type MirrorHead = Position & { readonly phase: Phase; readonly epoch: Epoch };

/**
 * Duration of a lease, after which another mirror may take over. A running mirror renews it several times within this
 * time.
 */
export const LEASE_SECONDS = 15;

/** Parent of the genesis block. */
export const NO_BLOCK: Position = { height: 0, id: "0" };

type Taking = {
  readonly nethash: string;
  /** Name of the mirror. */
  readonly owner: string;
  /** The last epoch of this process. Absent: it has had none, and may replace a mirror with its name. */
  readonly epoch?: Epoch | undefined;
};

/**
 * Takes the lease, timed by the database: one that has ended, or of a former process with its name. The latter
 * includes this process, but not a process that has replaced it.
 *
 * @returns undefined while another mirror has the lease
 * @throws {MirrorError} MIRROR_DATABASE if the database belongs to another network; MIRROR_REPLACED
 */
export async function takeLease(
  postgres: Postgres,
  { nethash, owner, epoch }: Taking,
): Promise<MirrorHead | undefined> {
  await postgres.query(
    `INSERT INTO head (nethash, height, id, transactions, phase, epoch, owner, lease_until)
     VALUES ($1, $2, $3, 0, 'blocks', 0, '', now()) ON CONFLICT DO NOTHING`,
    [nethash, NO_BLOCK.height, NO_BLOCK.id],
  );
  await refuseOtherNetwork(postgres, { nethash });
  const [taken] = await postgres.transaction("READ WRITE", async ({ query }) => {
    // After a crash that lost the epoch, another mirror would take the same one.
    await query("SET LOCAL synchronous_commit TO on");
    // The next events may be those of another node, whose retractions the blocks do not reflect yet.
    return query<HeadRow>(
      `UPDATE head SET epoch = epoch + 1, owner = $1, lease_until = now() + make_interval(secs => $2),
         log_sequence = least(log_sequence, (SELECT last_sequence FROM event_log))
       WHERE lease_until < now() OR (owner = $1 AND epoch <= coalesce($3::bigint, epoch)) RETURNING ${HEAD_COLUMNS}`,
      [owner, LEASE_SECONDS, epoch ?? null],
    );
  });
  if (!taken && epoch !== undefined) await refuseSameName(postgres, owner, epoch);
  return taken && headFromRow(taken);
}

/**
 * Accepts a database without a mirror, too.
 *
 * @throws {MirrorError} MIRROR_DATABASE
 */
export async function refuseOtherNetwork(
  { query }: Pick<Postgres, "query">,
  { nethash }: { readonly nethash: string },
): Promise<void> {
  const [table] = await query(
    "SELECT 1 FROM pg_tables WHERE tablename = 'head' AND schemaname = current_schema()",
  );
  const [known] = table ? await query<{ nethash: string }>("SELECT nethash FROM head") : [];
  if (!known || known.nethash === nethash) return;
  throw new MirrorError(
    "MIRROR_DATABASE",
    `the database has the chain of another network (nethash ${known.nethash}): use another database`,
  );
}

/** @throws {MirrorError} MIRROR_REPLACED if the mirror with the lease has this name: the two would replace each other for ever */
async function refuseSameName({ query }: Postgres, owner: string, epoch: Epoch): Promise<void> {
  const [other] = await query("SELECT 1 FROM head WHERE owner = $1 AND epoch > $2", [owner, epoch]);
  if (!other) return;
  throw new MirrorError(
    "MIRROR_REPLACED",
    `another mirror with the name "${owner}" has taken over: stop one of them, or give each a name of its own with --name`,
  );
}

export const deposed = (): MirrorError => new MirrorError("MIRROR_DEPOSED", "another mirror has taken over");

/** @throws {MirrorError} MIRROR_DEPOSED if another mirror has taken over */
export async function renewLease(postgres: Postgres, epoch: Epoch): Promise<void> {
  const [renewed] = await postgres.query(
    "UPDATE head SET lease_until = now() + make_interval(secs => $2) WHERE epoch = $1 RETURNING 1",
    [epoch, LEASE_SECONDS],
  );
  if (!renewed) throw deposed();
}

/** Ends the lease, so that another mirror need not wait. */
export async function releaseLease(postgres: Postgres, epoch: Epoch): Promise<void> {
  await postgres.query("UPDATE head SET lease_until = now() WHERE epoch = $1", [epoch]);
}

/**
 * Locks the head until the end of the transaction, and returns its height.
 *
 * @throws {MirrorError} MIRROR_DEPOSED
 */
export async function lockHead(transaction: Transaction, epoch: Epoch): Promise<number> {
  const [head] = await transaction.query<{ height: string }>(
    "SELECT height FROM head WHERE epoch = $1 FOR UPDATE",
    [epoch],
  );
  if (!head) throw deposed();
  return Number(head.height);
}

/** Enters the next phase of a mirror that is being built. */
export async function enterPhase(transaction: Transaction, phase: Phase, epoch: Epoch): Promise<void> {
  const entered = await transaction.change("UPDATE head SET phase = $1 WHERE epoch = $2", [phase, epoch]);
  if (entered !== 1) throw deposed();
}

/**
 * Returns to the phase `blocks`: the blocks are kept, the state is fetched again.
 *
 * @throws {MirrorError} MIRROR_DEPOSED
 */
export async function restart(postgres: Postgres, epoch: Epoch): Promise<void> {
  await postgres.transaction("READ WRITE", async (transaction) => {
    await enterPhase(transaction, "blocks", epoch);
    await transaction.change("DELETE FROM undo");
  });
}

export async function readHead(postgres: Postgres): Promise<MirrorHead | undefined> {
  const [row] = await postgres.query<HeadRow>(`SELECT ${HEAD_COLUMNS} FROM head`);
  return row && headFromRow(row);
}

type HeadRow = { height: string; id: string; phase: Phase; epoch: string };
const HEAD_COLUMNS = "height, id, phase, epoch";
const headFromRow = ({ height, id, phase, epoch }: HeadRow): MirrorHead => ({
  height: Number(height),
  id,
  phase,
  epoch: Number(epoch),
});

type Move = {
  readonly from: string;
  readonly to: Position;
  readonly epoch: Epoch;
  readonly phase: Phase;
  /** See `markLog`; absent: unchanged. */
  readonly logSequence?: number | undefined;
};

/**
 * Records that the blocks reflect every retraction of the log up to a sequence, for replays (docs/decisions/0053).
 *
 * @throws {MirrorError} MIRROR_DEPOSED if the head is another block, or another mirror writes
 */
export async function markLog(postgres: Postgres, { id, sequence }: LogMark, epoch: Epoch): Promise<void> {
  const [marked] = await postgres.query(
    "UPDATE head SET log_sequence = $1 WHERE id = $2 AND epoch = $3 AND phase = 'ready' RETURNING 1",
    [sequence, id, epoch],
  );
  if (!marked) throw otherHead(id);
}

/**
 * Moves the head, and returns the number of transactions up to the block before the given ones.
 *
 * @throws {MirrorError} MIRROR_DEPOSED if the head is another block, or another mirror writes
 */
export async function moveHead(
  transaction: Transaction,
  { from, to, epoch, phase, logSequence }: Move,
  blocks: readonly EncodedBlock[],
  change = blocks.reduce((sum, { transactions }) => sum + transactions.length, 0),
): Promise<bigint> {
  const values: PostgresValue[] = [to.height, to.id, change, from, epoch, phase, logSequence ?? null];
  const [moved] = await transaction.query<{ before: string }>(
    `UPDATE head SET height = $1, id = $2, transactions = transactions + $3,
       log_sequence = coalesce($7, log_sequence)
     WHERE id = $4 AND epoch = $5 AND phase = $6 RETURNING transactions - $3 AS before`,
    values,
  );
  if (moved) return BigInt(moved.before);
  throw otherHead(from);
}

const otherHead = (id: string): MirrorError =>
  new MirrorError("MIRROR_DEPOSED", `another mirror writes to the database, or its head is not ${id}`);
