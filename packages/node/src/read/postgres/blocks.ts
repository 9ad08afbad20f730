/** Blocks, with the data of their generators that responses contain. */
import { prepared } from "../../postgres/reads.ts";
import { type BlockTerm, blockTerms } from "../cursor.ts";
import type { BlockField, BlockFilter, BlockOrder } from "../filters.ts";
import type { Found, Range } from "../page.ts";
import { type Blocks, type CountsBefore, perHead } from "../port.ts";
import type { StoredBlock } from "../rows.ts";
import { conditionsOf, countOf, type Field } from "../sql.ts";
import { type Condition, hasValue, integer, isStorable, NEVER, termsOf, text } from "./lists/conditions.ts";
import { type HeightAt, heightsOf, isBetween, startOfBlocks } from "./lists/heights.ts";
import { findPage } from "./lists/page.ts";
import { findRow, first, type SnapshotReads } from "./lists/reads.ts";
import { type RowFields, rowText } from "./row-text.ts";

const FIELDS = {
  id: text("id"),
  version: integer("version"),
  numberOfTransactions: integer("number_of_transactions"),
  totalAmount: integer("total_amount"),
  totalFee: integer("total_fee"),
  reward: integer("reward"),
  generatorPublicKey: text("generator"),
  forgedBy: text("generator"),
  payloadLength: integer("payload_length"),
  payloadHash: text("payload_hash"),
  blockSignature: text("signature"),
} as const satisfies Record<BlockField, Field>;

const COLUMNS = { ...FIELDS, height: integer("height") } as const satisfies Record<BlockTerm, Field>;

/** A block; its username is set from the cache. */
type BlockRow = Omit<StoredBlock, keyof Unnamed> & Unnamed;

const LISTED = {
  table: "blocks",
  key: ["height"],
  row: rowText(
    [
      "id",
      "version",
      "timestamp",
      "height",
      "previous",
      "number_of_transactions",
      "total_amount",
      "total_fee",
      "reward",
      "payload_length",
      "payload_hash",
      "generator",
      "signature",
    ],
    ([
      id,
      version,
      timestamp,
      height,
      previous,
      transactions,
      amount,
      fee,
      reward,
      length,
      hash,
      generator,
      signature,
    ]): BlockRow => ({
      id,
      version: Number(version),
      timestamp: Number(timestamp),
      height: Number(height),
      previousBlock: previous,
      numberOfTransactions: Number(transactions),
      totalAmount: amount,
      totalFee: fee,
      reward,
      payloadLength: Number(length),
      payloadHash: hash,
      generatorPublicKey: generator,
      blockSignature: signature,
      username: null,
    }),
  ),
};
const SELECT = `SELECT ${LISTED.row.sql} FROM blocks`;
const BY_HEIGHT = prepared(`${SELECT} WHERE height = $1`);
const BY_ID = prepared(`${SELECT} WHERE id = $1`);
const HEIGHT = prepared("SELECT height::float8 AS height FROM blocks WHERE id = $1");
const HEIGHT_AT = prepared(
  "SELECT height::float8 AS height FROM blocks WHERE timestamp >= $1 ORDER BY timestamp LIMIT 1",
);

const BEFORE = prepared(
  `SELECT coalesce(height, 0)::float8 AS blocks, coalesce(transactions_up_to, 0)::float8 AS transactions
   FROM unnest($1::bigint[]) WITH ORDINALITY AS times (time, place)
   LEFT JOIN LATERAL (
     SELECT height, transactions_up_to FROM blocks WHERE timestamp < time ORDER BY timestamp DESC LIMIT 1
   ) AS last ON true ORDER BY place`,
);
const FEES = prepared(
  `SELECT coalesce(fees, 0)::text AS fees FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS parts (low, high, place)
   CROSS JOIN LATERAL (SELECT sum(total_fee) AS fees FROM blocks WHERE height >= low AND height < high) AS sums ORDER BY place`,
);

/** Parent id in the genesis block. */
const NO_BLOCK = "0";

export class PostgresBlocks implements Blocks {
  readonly #reads: SnapshotReads;
  readonly #names: GeneratorNames;
  /** Returns the height of the first block at or after a network time. */
  readonly heightAt: HeightAt;

  constructor(reads: SnapshotReads, names: GeneratorNames) {
    this.#reads = reads;
    this.#names = names;
    this.heightAt = (time) => heightAt(reads, time);
  }

  async byHeight(height: number): Promise<StoredBlock | undefined> {
    if (!Number.isSafeInteger(height)) return undefined;
    const [row] = await this.#reads.query<RowFields>(BY_HEIGHT, [height]);
    return row && this.#named(LISTED.row.read(row));
  }

  async byId(id: string): Promise<StoredBlock | undefined> {
    const row = await findRow(this.#reads, LISTED.row, BY_ID, id);
    return row && this.#named(row);
  }

  before(timestamps: readonly number[]): Promise<readonly CountsBefore[]> {
    return this.#reads.query<CountsBefore>(BEFORE, [timestamps]);
  }

  async feesBetween(heights: readonly number[]): Promise<readonly bigint[]> {
    const sums = await this.#reads.query<{ fees: string }>(FEES, [heights.slice(0, -1), heights.slice(1)]);
    return sums.map(({ fees }) => BigInt(fees));
  }

  async list(filter: BlockFilter, order: BlockOrder, range: Range): Promise<Found<StoredBlock>> {
    const found = await listBlocks(this.#reads, filter, order, range);
    await this.#names.set(this.#reads, found.rows);
    return found;
  }

  async #named(row: BlockRow): Promise<StoredBlock> {
    await this.#names.set(this.#reads, [row]);
    return row;
  }
}

async function listBlocks(
  reads: SnapshotReads,
  filter: BlockFilter,
  asked: BlockOrder,
  range: Range,
): Promise<Found<BlockRow>> {
  const { previousBlock } = filter;
  const heights = await heightsOf(reads, filter, (time) => heightAt(reads, time));
  const conditions = [
    ...conditionsOf(FIELDS, filter, hasValue),
    ...(previousBlock === undefined ? [] : [await childOf(reads, previousBlock)]),
  ];
  const order = termsOf(blockTerms(asked), COLUMNS);
  if (conditions.length > 0) {
    return findPage(reads, LISTED, { conditions: [...conditions, isBetween(heights)], order }, range);
  }
  const isByHeight = order.length === 1;
  // A walk continues after its cursor.
  const [shown, rest] =
    isByHeight && range.after === undefined
      ? [startOfBlocks(heights, asked.direction, range.offset), { ...range, offset: 0 }]
      : [heights, range];
  const selection = { conditions: [isBetween(shown)], order, isPrepared: isByHeight };
  return findPage(reads, LISTED, selection, rest, async () => countOf(heights));
}

/** Height of the first block at or after a network time in seconds; one above the head if no such block exists. */
export async function heightAt({ head, query }: SnapshotReads, timestamp: number): Promise<number> {
  if (timestamp > head.timestamp) return head.height + 1;
  if (!(timestamp > 0)) return 1;
  const block = await first(query<{ height: number }>(HEIGHT_AT, [Math.ceil(timestamp)]));
  return block?.height ?? head.height + 1;
}

/** Matches the child of a block. */
async function childOf({ query }: SnapshotReads, id: string): Promise<Condition> {
  if (!isStorable(id)) return NEVER;
  const parent = id === NO_BLOCK ? { height: 0 } : await first(query<{ height: number }>(HEIGHT, [id]));
  return parent ? { sql: "height = ?::bigint", values: [parent.height + 1] } : NEVER;
}

/** A block without the username of its generator, which is cached by head: few delegates forge, and a join with their wallets would double
 * the planning time. Null for a generator that is not a delegate, or has no wallet. */
export type Unnamed = { readonly generatorPublicKey: string; username: string | null };

const USERNAMES = prepared(
  `SELECT public_key AS "publicKey", username FROM wallets WHERE public_key = ANY ($1::text[]) AND username IS NOT NULL`,
);
type Named = { readonly publicKey: string; readonly username: string };

/** Usernames of generators by head. */
export class GeneratorNames {
  /** At most one entry for each delegate that has ever forged. */
  readonly #knownAt = perHead(() => new Map<string, string | null>());

  /** Sets the usernames of blocks. */
  async set(reads: SnapshotReads, blocks: readonly Unnamed[]): Promise<void> {
    const known = this.#knownAt(reads.head);
    const missing = setKnown(blocks, known);
    if (missing.size === 0) return;
    const found = await reads.query<Named>(USERNAMES, [[...missing]]);
    for (const key of missing) known.set(key, null);
    for (const { publicKey, username } of found) known.set(publicKey, username);
    setKnown(blocks, known);
  }
}

/** Sets known usernames, and returns the public keys of the others. */
function setKnown(
  blocks: readonly Unnamed[],
  known: ReadonlyMap<string, string | null>,
): ReadonlySet<string> {
  const missing = new Set<string>();
  for (const block of blocks) {
    const username = known.get(block.generatorPublicKey);
    if (username === undefined) missing.add(block.generatorPublicKey);
    else block.username = username;
  }
  return missing;
}
