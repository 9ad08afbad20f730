/** Compares the bytes of the blocks with their ids: any altered bit is found. */
import { type Block, isBlockException, joinBlock, type Network, payloadHashOf } from "@uniknode/protocol";
import { receiveBlock } from "../../chain/pipeline/receive.ts";
import { type BlockBytes, BlockStore } from "../../store/chain/blocks.ts";
import {
  createReadTogether,
  type Database,
  type SqlValue,
  type Statement,
} from "../../store/engine/database.ts";

type BlocksDeps = {
  readonly network: Network;
  readonly forMs: number;
  /** Counts the inspected blocks. */
  readonly progress: { inspected: number; blocks: number };
};

const BATCH = 100;

/** @returns the first damaged block; also undefined when the time is over */
export function blockDamage(
  database: Database,
  { network, forMs, progress }: BlocksDeps,
): string | undefined {
  const inspect = createBlockInspection(database, network);
  const endMs = performance.now() + forMs;
  progress.blocks = new BlockStore(database).head()?.height ?? 0;
  for (const from of batches(progress.blocks)) {
    if (performance.now() > endMs) return undefined;
    const { inspected, damage } = inspect(from, from + BATCH - 1);
    progress.inspected += inspected;
    if (damage !== undefined) return damage;
  }
  return undefined;
}

/** A row of the table, by the names of its columns. */
type Columns = Record<string, SqlValue>;

/** Number of blocks without damage, and the first damage after them. */
type InspectedBlocks = { readonly inspected: number; readonly damage?: string };

/** Creates a function that inspects the blocks from one height to another, or to the head. */
function createBlockInspection(
  database: Database,
  network: Network,
): (from: number, to: number) => InspectedBlocks {
  const store = new BlockStore(database);
  const columns = database.prepare<Columns>(
    `SELECT blocks.*, lower(hex(public_key)) AS public_key
     FROM blocks LEFT JOIN generators ON number = generator WHERE height BETWEEN ? AND ? ORDER BY height`,
    { bigints: true },
  );
  const readTogether = createReadTogether(database);
  return (from, to) => readTogether(() => inspect({ store, columns, network }, from, to));
}

type InspectionDeps = {
  readonly store: BlockStore;
  readonly columns: Statement<Columns>;
  readonly network: Network;
};

function inspect({ store, columns, network }: InspectionDeps, from: number, upTo: number): InspectedBlocks {
  // Blocks may have been reverted meanwhile.
  const to = Math.min(upTo, store.head()?.height ?? 0);
  const stored = store.bytes(from, to);
  const rows = columns.all(from, to);
  let previousId = store.header(from - 1)?.id;
  for (let height = from; height <= to; height++) {
    const inspected = height - from;
    const [block, row] = [stored[inspected], rows[inspected]];
    const isFound = row && block?.height === height;
    const damage = isFound ? damageOf(block, row, previousId, network) : "it is missing";
    if (damage !== undefined) return { inspected, damage: `table blocks: block ${height}: ${damage}` };
    previousId = block?.id;
  }
  return { inspected: Math.max(to - from + 1, 0) };
}

function damageOf(
  { id, header, transactions, transactionIds }: BlockBytes,
  row: Columns,
  previousId: string | undefined,
  network: Network,
): string | undefined {
  let block: Block;
  try {
    block = receiveBlock(joinBlock(header, transactions), network);
  } catch (error) {
    return (error as Error).message;
  }
  const ids = block.transactions.map(({ data }) => data.id);
  if (block.header.id !== id || ids.join() !== transactionIds.join()) return "an id does not match its bytes";
  // The id does not cover bytes that the decoder ignores.
  if (block.transactions.some(({ bytes }, index) => !isEqual(bytes, transactions[index]))) {
    return "the stored bytes of a transaction are not canonical";
  }
  if (block.header.previousBlock !== previousId) return "it does not follow the previous block";
  if (block.header.payloadHash !== payloadHashOf(ids) && !isBlockException(id, ids, network)) {
    return "its transactions do not match its header";
  }
  return hasOtherColumns(block, row) ? "its columns do not match its bytes" : undefined;
}

const isEqual = (one: Uint8Array, other: Uint8Array | undefined): boolean =>
  other !== undefined && Buffer.compare(one, other) === 0;

function hasOtherColumns({ header }: Block, row: Columns): boolean {
  const expected = {
    version: header.version,
    timestamp: header.timestamp,
    number_of_transactions: header.numberOfTransactions,
    total_amount: header.totalAmount,
    total_fee: header.totalFee,
    reward: header.reward,
    public_key: header.generatorPublicKey,
    payload_length: header.payloadLength,
  };
  return Object.entries(expected).some(([name, value]) => String(row[name]) !== String(value));
}

/**
 * Returns the first heights of all batches above the genesis block, in random order, so that each start
 * inspects other blocks within the time limit.
 */
function batches(height: number): number[] {
  const count = Math.max(Math.ceil((height - 1) / BATCH), 0);
  return Array.from({ length: count }, (_, index) => ({ first: 2 + index * BATCH, rank: Math.random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ first }) => first);
}
