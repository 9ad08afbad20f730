/** Blocks, with the data of their generators that responses contain. */
import { hexToBytes, partialIdFromHex } from "@uniknode/protocol";
import { firstIndex } from "../../../platform/sorted.ts";
import { BLOCK_IDS, prepareById } from "../../../store/chain/id-levels.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import { createNumberLookup, GENERATORS } from "../../../store/engine/dictionary.ts";
import { type BlockTerm, blockTerms, cursorAt } from "../../cursor.ts";
import type { BlockField, BlockFilter, BlockOrder } from "../../filters.ts";
import type { Direction, Found, Range } from "../../page.ts";
import { type Blocks, type CountsBefore, type Head, perHead, type QueriesOf } from "../../port.ts";
import type { StoredBlock } from "../../rows.ts";
import { conditionsOf, countOf, type Heights } from "../../sql.ts";
import {
  type Condition,
  type Field,
  hasValue,
  heightConditions,
  heightsOf,
  identified,
  indexed,
  integer,
  NEVER,
  termsOf,
} from "../lists/conditions.ts";
import { StoredCounts } from "../lists/count-cache.ts";
import { type ListDependencies, TableList } from "../lists/table-list.ts";

/** Integer up to 2^63; decimal text if it is not exact as a number. */
export type IntegerColumn = number | string;

/** Returns SQL of the column. The text of each integer would cost as much as three columns. */
export const integerColumn = (column: string, name: string): string =>
  `iif(${column} > ${Number.MAX_SAFE_INTEGER}, CAST(${column} AS TEXT), ${column}) AS ${name}`;

const FIELDS = {
  version: integer("version"),
  numberOfTransactions: integer("number_of_transactions"),
  totalAmount: integer("total_amount"),
  totalFee: integer("total_fee"),
  // Qualified: the bare name would be the column of the result, which can be text.
  reward: integer("blocks.reward"),
  payloadLength: integer("payload_length"),
} as const satisfies Partial<Record<BlockField, Field>>;

const ORDERS = { ...FIELDS, height: integer("height") } as const satisfies Record<BlockTerm, Field>;

/** Conditions of filters by ids, keys and signatures, which are stored as bytes. */
type BytesConditions = Readonly<
  Record<Exclude<BlockField, keyof typeof FIELDS> | "previousBlock", (value: string) => Condition>
>;

/** Parent id in the genesis block. */
const NO_BLOCK = "0";

type BlockRow = Omit<
  StoredBlock,
  | "previousBlock"
  | "totalAmount"
  | "totalFee"
  | "reward"
  | "payloadHash"
  | "generatorPublicKey"
  | "blockSignature"
  | "username"
> & {
  readonly totalAmount: IntegerColumn;
  readonly totalFee: IntegerColumn;
  readonly reward: IntegerColumn;
  /** Number of the generator. */
  readonly generator: number;
  /** Upper-case hexadecimal of the header bytes. */
  readonly header: string;
};

/** Generator of blocks, as responses name it. */
type Generator = { readonly publicKey: string; readonly username: string | null };

const BLOCK_COLUMNS = `id_text AS id, version, timestamp, height, number_of_transactions AS numberOfTransactions,
  ${integerColumn("total_amount", "totalAmount")}, ${integerColumn("total_fee", "totalFee")}, ${integerColumn("blocks.reward", "reward")},
  payload_length AS payloadLength, generator, hex(header) AS header`;

const BETWEEN = `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE height BETWEEN ? AND ? ORDER BY height`;

/** Positions of digits in the header (blocks.md 1), if the id of the parent has eight bytes. */
const PARENT = 24;
const PAYLOAD_HASH = 104;
const GENERATOR = 168;
const SIGNATURE_AT = 234;
/** Digits by which a full id of the parent is longer. */
const FULL_PARENT = 48;

/** Slices the members of the header from its text: bytes of each member would cost three times as much. */
function toStoredBlock(row: BlockRow, generator: Generator): StoredBlock {
  const { id } = row;
  const header = row.header.toLowerCase();
  const shift = hasFullParent(header, id) ? FULL_PARENT : 0;
  return {
    id,
    version: row.version,
    timestamp: row.timestamp,
    height: row.height,
    previousBlock: shift
      ? header.slice(PARENT, PARENT + 64)
      : partialIdFromHex(header.slice(PARENT, PARENT + 16)),
    numberOfTransactions: row.numberOfTransactions,
    totalAmount: `${row.totalAmount}`,
    totalFee: `${row.totalFee}`,
    reward: `${row.reward}`,
    payloadLength: row.payloadLength,
    payloadHash: header.slice(PAYLOAD_HASH + shift, GENERATOR + shift),
    generatorPublicKey: generator.publicKey,
    blockSignature: header.slice(SIGNATURE_AT + shift),
    username: generator.username,
  };
}

/** First digits of a signature, by the number of bytes after the first two. */
const SIGNATURE_STARTS = Array.from(
  { length: 256 },
  (_, size) => `30${size.toString(16).padStart(2, "0")}02`,
);

/** Applies the rule of `headerFromTrustedBytes`: the signature begins after a full id of the parent, and fills the rest. */
function hasFullParent(header: string, id: string): boolean {
  const at = SIGNATURE_AT + FULL_PARENT;
  return id.length === 64 && header.slice(at, at + 6) === SIGNATURE_STARTS[(header.length - at) / 2 - 2];
}

export class BlockQueries implements QueriesOf<Blocks> {
  readonly #deps: ListDependencies;
  readonly #byHeight: Statement<BlockRow>;
  readonly #byId: (id: string) => BlockRow | undefined;
  readonly #between: Readonly<Record<Direction, Statement<BlockRow>>>;
  readonly #timestamp: Statement<{ timestamp: number }>;
  readonly #counts: StoredCounts;
  readonly #fees: Statement<{ high: number; low: number }>;
  readonly #list: TableList<BlockRow>;
  readonly #bytesConditions: BytesConditions;
  readonly #generators: Generators;

  constructor(deps: ListDependencies) {
    const { database } = deps;
    this.#deps = deps;
    this.#byHeight = database.prepare(`SELECT ${BLOCK_COLUMNS} FROM blocks WHERE height = +?`);
    this.#byId = prepareById(database, BLOCK_IDS, BLOCK_COLUMNS);
    this.#between = { asc: database.prepare(`${BETWEEN} asc`), desc: database.prepare(`${BETWEEN} desc`) };
    this.#timestamp = database.prepare("SELECT timestamp FROM blocks WHERE height = ?");
    this.#counts = new StoredCounts(database);
    // A sum of 64 bits could overflow.
    this.#fees = database.prepare(
      `SELECT coalesce(sum(total_fee >> 32), 0) AS high, coalesce(sum(total_fee & ${2 ** 32 - 1}), 0) AS low
       FROM blocks WHERE height BETWEEN ? AND ?`,
    );
    this.#list = new TableList(deps, "blocks", { table: "blocks", key: ["height"], columns: BLOCK_COLUMNS });
    this.#bytesConditions = bytesConditionsIn(database);
    this.#generators = new Generators(database);
  }

  byHeight(height: number): StoredBlock | undefined {
    const row = this.#byHeight.get(height);
    return row && this.#toStored(row);
  }

  byId(id: string): StoredBlock | undefined {
    const row = this.#byId(id);
    return row && this.#toStored(row);
  }

  heightAt(time: number): number {
    // Timestamps grow with heights: a binary search needs no index on them.
    return 1 + firstIndex(this.#deps.head().height, (index) => this.#timestampOf(index + 1) >= time);
  }

  before(timestamps: readonly number[]): CountsBefore[] {
    return timestamps.map((time) => {
      const blocks = this.heightAt(time) - 1;
      return { blocks, transactions: this.#counts.upTo(blocks) };
    });
  }

  feesBetween(heights: readonly number[]): bigint[] {
    return heights.slice(1).map((end, index) => {
      const { high = 0, low = 0 } = this.#fees.get(heights[index] ?? end, end - 1) ?? {};
      return (BigInt(high) << 32n) + BigInt(low);
    });
  }

  list(filter: BlockFilter, order: BlockOrder, range: Range): Found<StoredBlock> {
    const { rows, ...found } = this.#findPage(filter, order, range);
    return { rows: rows.map((row) => this.#toStored(row)), ...found };
  }

  #toStored(row: BlockRow): StoredBlock {
    return toStoredBlock(row, this.#generators.find(row.generator, this.#deps.head()));
  }

  #timestampOf(height: number): number {
    return this.#timestamp.get(height)?.timestamp ?? 0;
  }

  #findPage(filter: BlockFilter, order: BlockOrder, range: Range): Found<BlockRow> {
    const { head, onPlan } = this.#deps;
    const heights = heightsOf(head(), filter, (time) => this.heightAt(time));
    const conditions = [
      ...conditionsOf(FIELDS, filter, hasValue),
      ...bytesConditionsOf(this.#bytesConditions, filter),
    ];
    const isOfHeightsOnly = conditions.length === 0;
    // Each block is later than its parent.
    const isByHeight = order.field === "height" || order.field === "timestamp";
    if (isOfHeightsOnly && isByHeight && range.after === undefined) {
      onPlan?.("row number");
      return this.#pageByRowNumber(heights, order, range);
    }
    return this.#list.page(
      {
        selection: {
          conditions: [...conditions, ...heightConditions(heights)],
          order: termsOf(blockTerms(order), ORDERS),
        },
        filter: isOfHeightsOnly ? "heights" : "values",
        isInOrder: isByHeight,
        ...(isOfHeightsOnly && { totalCount: countOf(heights) }),
      },
      range,
    );
  }

  /**
   * Returns a page of all blocks between two heights: they are numbered without gaps, so that the heights of the page follow from
   * its offset.
   */
  #pageByRowNumber({ low, high }: Heights, order: BlockOrder, range: Range): Found<BlockRow> {
    const { limit } = range;
    // As in SQL.
    const offset = Math.max(0, range.offset);
    const first = order.direction === "asc" ? low + offset : high - offset - limit + 1;
    const rows = this.#between[order.direction].all(Math.max(first, low), Math.min(first + limit - 1, high));
    const totalCount = countOf({ low, high });
    const last = range.isWalk && offset + limit < totalCount ? rows.at(-1) : undefined;
    return { rows, totalCount, ...(last && { next: cursorAt(blockTerms(order), [last.height]) }) };
  }
}

/** Matches blocks whose parent has a full id; its length determines the positions in the header. */
const HAS_FULL_PARENT = `(SELECT typeof(parent.id) FROM blocks AS parent WHERE parent.height = blocks.height - 1) IS 'blob'`;

/** Matches a part of the header, by SQL of the part after a full id of the parent, and after a partial one. */
function inHeader(afterFull: string, afterPartial: string): (value: string) => Condition {
  const sql = `(${afterFull} = +? AND ${HAS_FULL_PARENT}) OR (${afterPartial} = +? AND NOT ${HAS_FULL_PARENT})`;
  return (value) => {
    if (!/^([0-9a-f]{2})+$/.test(value)) return NEVER;
    const bytes = hexToBytes(value);
    return { sql, values: [bytes, bytes] };
  };
}

function bytesConditionsIn(database: Database): BytesConditions {
  const heights = prepareById<{ height: number }>(database, BLOCK_IDS, "height");
  const generatorNumber = createNumberLookup(database, GENERATORS);

  function forgedBy(publicKey: string): Condition {
    const number = generatorNumber(publicKey);
    return number === undefined ? NEVER : indexed({ sql: "generator = +?", values: [number] }, "some");
  }

  return {
    id: (id) => identified(BLOCK_IDS, id),
    generatorPublicKey: forgedBy,
    forgedBy,
    payloadHash: inHeader("substr(header, 77, 32)", "substr(header, 53, 32)"),
    blockSignature: inHeader("substr(header, 142)", "substr(header, 118)"),
    previousBlock(id) {
      const height = id === NO_BLOCK ? 0 : heights(id)?.height;
      return height === undefined ? NEVER : indexed({ sql: "height = +?", values: [height + 1] }, "few");
    },
  };
}

const bytesConditionsOf = (conditions: BytesConditions, filter: BlockFilter): Condition[] =>
  Object.entries(conditions).flatMap(([name, toCondition]) => {
    const value = filter[name as keyof BytesConditions];
    return value === undefined ? [] : [toCondition(value)];
  });

/** Generators at a head, which are cached: few of them generate the blocks of many pages. */
class Generators {
  readonly #select: Statement<Generator>;
  readonly #known = perHead(() => new Map<number, Generator>());

  constructor(database: Database) {
    this.#select = database.prepare(
      `SELECT key AS publicKey, username FROM (SELECT lower(hex(public_key)) AS key FROM generators WHERE number = ?)
       LEFT JOIN wallets ON wallets.public_key = key`,
    );
  }

  find(number: number, head: Head): Generator {
    const known = this.#known(head);
    const cached = known.get(number);
    if (cached) return cached;
    const generator = this.#select.get(number);
    if (!generator) throw new Error(`the generator with the number ${number} has no row`);
    known.set(number, generator);
    return generator;
  }
}
