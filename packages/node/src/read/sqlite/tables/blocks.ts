/** Blocks, with the data of their generators that responses contain. */
import { firstIndex } from "../../../platform/binary-search.ts";
import type { Database } from "../../../store/engine/database.ts";
import { cursorAt } from "../../cursor.ts";
import type { BlockField, BlockFilter, BlockOrder } from "../../filters.ts";
import type { Head } from "../../head.ts";
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
  indexed,
  integer,
  NEVER,
  text,
} from "../lists/conditions.ts";
import { termsOf } from "../lists/keyset-cursor.ts";
import { blocksOf } from "../lists/row-number.ts";
import { createTableList, type ListDependencies } from "../lists/table-list.ts";

const FIELDS = {
  id: text("id", "few"),
  version: integer("version"),
  numberOfTransactions: integer("number_of_transactions"),
  totalAmount: integer("total_amount"),
  totalFee: integer("total_fee"),
  // Qualified: the bare name would be the text column of the result.
  reward: integer("blocks.reward"),
  generatorPublicKey: text("generator", "some"),
  /** Set by the list of a delegate's blocks, in addition to `generatorPublicKey`. */
  forgedBy: text("generator", "some"),
  payloadLength: integer("payload_length"),
  payloadHash: text("payload_hash"),
  blockSignature: text("signature"),
} as const satisfies Record<BlockField, Field>;

const ORDERS = { ...FIELDS, height: integer("height") } as const satisfies Record<BlockTerm, Field>;

export type BlockQueries = {
  byHeight(height: number): StoredBlock | undefined;
  byId(id: string): StoredBlock | undefined;
  list(head: Head, filter: BlockFilter, order: BlockOrder, range: Range): Found<StoredBlock>;
  /** Height of the first block at or after a network time; beyond the head if no such block exists. */
  heightAt(time: number, head: Head): number;
};

const COLUMNS = `id, version, timestamp, height, previous AS previousBlock,
  number_of_transactions AS numberOfTransactions, CAST(total_amount AS TEXT) AS totalAmount,
  CAST(total_fee AS TEXT) AS totalFee, CAST(reward AS TEXT) AS reward, payload_length AS payloadLength,
  payload_hash AS payloadHash, generator AS generatorPublicKey, signature AS blockSignature, username`;
const JOINS = "LEFT JOIN wallets ON public_key = generator";

/** Parent id in the genesis block. */
const NO_BLOCK = "0";

export function createBlockQueries(deps: ListDependencies): BlockQueries {
  const { database } = deps;
  const byHeight = database.prepare<StoredBlock>(`SELECT ${COLUMNS} FROM blocks ${JOINS} WHERE height = +?`);
  const byId = database.prepare<StoredBlock>(`SELECT ${COLUMNS} FROM blocks ${JOINS} WHERE id = +?`);
  const list = createTableList<StoredBlock>(deps, "blocks", {
    table: "blocks",
    key: ["height"],
    columns: COLUMNS,
    joins: JOINS,
  });
  const childOf = createChildOf(database);
  const heightAt = createHeightAt(database);
  const pageByRowNumber = createPageByRowNumber(database);
  return {
    byHeight: (height) => byHeight.get(height),
    byId: (id) => byId.get(id),
    list(head, filter, order, range) {
      const { previousBlock } = filter;
      const heights = heightsOf(head, filter, heightAt);
      const conditions = [
        ...conditionsOf(FIELDS, filter),
        ...(previousBlock === undefined ? [] : [childOf(previousBlock)]),
      ];
      const terms = blockTerms(order);
      const isOfHeightsOnly = conditions.length === 0;
      return list(
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
    },
    heightAt,
  };
}

/** Returns a function that finds pages of all blocks between two heights. */
function createPageByRowNumber(database: Database) {
  const select = (direction: Direction) =>
    database.prepare<StoredBlock>(
      `SELECT ${COLUMNS} FROM blocks ${JOINS}
       WHERE height BETWEEN ? AND ? ORDER BY height ${direction}`,
    );
  const between = { asc: select("asc"), desc: select("desc") };
  return (heights: Heights, direction: Direction, range: Range): Found<StoredBlock> => {
    const { low, high, isLast } = blocksOf(heights, direction, range);
    const rows = between[direction].all(low, high);
    const last = isLast ? undefined : rows.at(-1);
    const order = blockTerms({ field: "height", direction });
    return { rows, totalCount: countOf(heights), ...(last && { next: cursorAt(order, [last.height]) }) };
  };
}

/** Returns a function that matches the block after another one. */
function createChildOf(database: Database): (id: string) => Condition {
  const heights = database.prepare<{ height: number }>("SELECT height FROM blocks WHERE id = ?");
  return (id) => {
    const height = id === NO_BLOCK ? 0 : heights.get(id)?.height;
    return height === undefined ? NEVER : indexed({ sql: "height = +?", values: [height + 1] }, "few");
  };
}

function createHeightAt(database: Database): BlockQueries["heightAt"] {
  const timestamp = database.prepare<{ timestamp: number }>("SELECT timestamp FROM blocks WHERE height = ?");
  // Timestamps grow with heights: a binary search needs no index on them.
  return (time, head) =>
    1 + firstIndex(head.height, (index) => (timestamp.get(index + 1)?.timestamp ?? 0) >= time);
}
