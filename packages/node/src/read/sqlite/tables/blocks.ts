/** Blocks, with the data of their generators that responses contain. */
import { hexToBytes } from "@uniknode/protocol";
import { firstIndex } from "../../../platform/binary-search.ts";
import { present } from "../../../platform/present.ts";
import { BLOCK_IDS } from "../../../store/chain/id-levels.ts";
import { prepareById } from "../../../store/chain/stored-id.ts";
import { GENERATORS } from "../../../store/dictionaries.ts";
import type { Database } from "../../../store/engine/database.ts";
import { createNumberLookup } from "../../../store/engine/dictionary.ts";
import { cursorAt } from "../../cursor.ts";
import type { BlockField, BlockFilter, BlockOrder } from "../../filters.ts";
import { type Head, perHead } from "../../head.ts";
import { type BlockTerm, blockTerms } from "../../orders.ts";
import type { Direction, Found, Range } from "../../page.ts";
import type { StoredBlock } from "../../rows.ts";
import {
  type Condition,
  conditionsOf,
  countOf,
  type Field,
  type Heights,
  heightConditions,
  heightsOf,
  identified,
  indexed,
  integer,
  NEVER,
} from "../lists/conditions.ts";
import { termsOf } from "../lists/keyset-cursor.ts";
import { blocksOf } from "../lists/row-number.ts";
import { createTableList, type ListDependencies } from "../lists/table-list.ts";
import { BLOCK_COLUMNS, type BlockRow, type Generator, toStoredBlock } from "./rows.ts";

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

export type BlockQueries = {
  byHeight(head: Head, height: number): StoredBlock | undefined;
  byId(head: Head, id: string): StoredBlock | undefined;
  list(head: Head, filter: BlockFilter, order: BlockOrder, range: Range): Found<StoredBlock>;
  /** Height of the first block at or after a network time; beyond the head if no such block exists. */
  heightAt(time: number, head: Head): number;
};

/** Parent id in the genesis block. */
const NO_BLOCK = "0";

export function createBlockQueries(deps: ListDependencies): BlockQueries {
  const { database } = deps;
  const byHeight = database.prepare<BlockRow>(`SELECT ${BLOCK_COLUMNS} FROM blocks WHERE height = +?`);
  const byId = prepareById<BlockRow>(database, BLOCK_IDS, BLOCK_COLUMNS);
  const list = createTableList<BlockRow>(deps, "blocks", {
    table: "blocks",
    key: ["height"],
    columns: BLOCK_COLUMNS,
  });
  const bytesConditions = createBytesConditions(database);
  const generatorOf = createGeneratorOf(database);
  const heightAt = createHeightAt(database);
  const pageByRowNumber = createPageByRowNumber(database);
  const toStored = (head: Head, row: BlockRow | undefined) =>
    row && toStoredBlock(row, generatorOf(head, row.generator));
  return {
    byHeight: (head, height) => toStored(head, byHeight.get(height)),
    byId: (head, id) => toStored(head, byId(id)),
    list(head, filter, order, range) {
      const heights = heightsOf(head, filter, heightAt);
      const conditions = [...conditionsOf(FIELDS, filter), ...bytesConditionsOf(bytesConditions, filter)];
      const terms = blockTerms(order);
      const isOfHeightsOnly = conditions.length === 0;
      const { rows, ...found } = list(
        head,
        {
          selection: {
            conditions: [...conditions, ...heightConditions(heights)],
            order: termsOf(terms, ORDERS),
          },
          filter: isOfHeightsOnly ? "heights" : "values",
          isInOrder: terms.length === 1,
          byRowNumber: () => pageByRowNumber(heights, order.direction, range),
          ...(isOfHeightsOnly && { totalCount: countOf(heights) }),
        },
        range,
      );
      return { rows: rows.map((row) => toStoredBlock(row, generatorOf(head, row.generator))), ...found };
    },
    heightAt,
  };
}

/** Returns a function that finds pages of all blocks between two heights. */
function createPageByRowNumber(database: Database) {
  const select = (direction: Direction) =>
    database.prepare<BlockRow>(
      `SELECT ${BLOCK_COLUMNS} FROM blocks
       WHERE height BETWEEN ? AND ? ORDER BY height ${direction}`,
    );
  const between = { asc: select("asc"), desc: select("desc") };
  return (heights: Heights, direction: Direction, range: Range): Found<BlockRow> => {
    const { low, high, isLast } = blocksOf(heights, direction, range);
    const rows = between[direction].all(low, high);
    const last = isLast ? undefined : rows.at(-1);
    const order = blockTerms({ field: "height", direction });
    return { rows, totalCount: countOf(heights), ...(last && { next: cursorAt(order, [last.height]) }) };
  };
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

function createBytesConditions(database: Database): BytesConditions {
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

/** Returns a function that returns a generator at a head; few of them generate the blocks of many pages. */
function createGeneratorOf(database: Database): (head: Head, number: number) => Generator {
  const select = database.prepare<Generator>(
    `SELECT key AS publicKey, username FROM (SELECT lower(hex(public_key)) AS key FROM generators WHERE number = ?)
     LEFT JOIN wallets ON wallets.public_key = key`,
  );
  const generators = perHead(() => new Map<number, Generator>());
  return (head, number) => {
    const known = generators(head);
    const cached = known.get(number);
    if (cached !== undefined) return cached;
    const generator = present(select.get(number), `the row of generators with the number ${number}`);
    known.set(number, generator);
    return generator;
  };
}

function createHeightAt(database: Database): BlockQueries["heightAt"] {
  const timestamp = database.prepare<{ timestamp: number }>("SELECT timestamp FROM blocks WHERE height = ?");
  // Timestamps grow with heights: a binary search needs no index on them.
  return (time, head) =>
    1 + firstIndex(head.height, (index) => (timestamp.get(index + 1)?.timestamp ?? 0) >= time);
}
