/** Blocks, with the data of their generators that responses contain. */
import { prepared } from "../../postgres/reads.ts";
import type { BlockField } from "../filters.ts";
import { type BlockTerm, blockTerms } from "../orders.ts";
import type { Range } from "../page.ts";
import type { Blocks } from "../port.ts";
import type { StoredBlock } from "../rows.ts";
import { isFar, startOfBlocks } from "./far-pages.ts";
import {
  type Condition,
  conditionsOf,
  type Field,
  integer,
  isStorable,
  NEVER,
  text,
} from "./pages/conditions.ts";
import { countOf, type HeightAt, type Heights, heightsOf, isBetween } from "./pages/heights.ts";
import { termsOf } from "./pages/order.ts";
import { findPage } from "./pages/page.ts";
import { first, type SnapshotReads } from "./pages/reads.ts";

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

const LISTED = {
  table: "blocks",
  key: ["height"],
  columns: `id, version, timestamp::float8 AS timestamp, height::float8 AS height, previous AS "previousBlock",
    number_of_transactions AS "numberOfTransactions", total_amount AS "totalAmount", total_fee AS "totalFee", reward,
    payload_length::float8 AS "payloadLength", payload_hash AS "payloadHash", generator AS "generatorPublicKey",
    signature AS "blockSignature", username`,
  joins: "LEFT JOIN wallets ON public_key = generator",
};
const SELECT = `SELECT ${LISTED.columns} FROM blocks ${LISTED.joins}`;
const BY_HEIGHT = prepared(`${SELECT} WHERE height = $1`);
const BY_ID = prepared(`${SELECT} WHERE id = $1`);
const HEIGHT = prepared("SELECT height::float8 AS height FROM blocks WHERE id = $1");
const HEIGHT_AT = prepared(
  "SELECT height::float8 AS height FROM blocks WHERE timestamp >= $1 ORDER BY timestamp LIMIT 1",
);

/** Parent id in the genesis block. */
const NO_BLOCK = "0";

export function createBlocks(reads: SnapshotReads): Blocks {
  const { query } = reads;
  const heightAt = createHeightAt(reads);
  return {
    byHeight: async (height) =>
      Number.isSafeInteger(height) ? first(query<StoredBlock>(BY_HEIGHT, [height])) : undefined,
    byId: async (id) => (isStorable(id) ? first(query<StoredBlock>(BY_ID, [id])) : undefined),
    heightAt,
    async list(filter, asked, range) {
      const { previousBlock } = filter;
      const heights = await heightsOf(reads, filter, heightAt);
      const conditions = [
        ...conditionsOf(FIELDS, filter),
        ...(previousBlock === undefined ? [] : [await childOf(reads, previousBlock)]),
      ];
      const order = termsOf(blockTerms(asked), COLUMNS);
      const find = (heights: Heights, range: Range, totalCount?: () => Promise<number>) => {
        const selection = { conditions: [...conditions, isBetween(heights)], order };
        return findPage<StoredBlock>(reads, LISTED, selection, range, totalCount);
      };
      if (conditions.length > 0) return find(heights, range);
      const totalCount = async () => countOf(heights);
      return order.length === 1 && isFar(range)
        ? find(startOfBlocks(heights, asked.direction, range.offset), { ...range, offset: 0 }, totalCount)
        : find(heights, range, totalCount);
    },
  };
}

export function createHeightAt({ head, query }: SnapshotReads): HeightAt {
  return async (timestamp) => {
    if (timestamp > head.timestamp) return head.height + 1;
    if (!(timestamp > 0)) return 1;
    const block = await first(query<{ height: number }>(HEIGHT_AT, [Math.ceil(timestamp)]));
    return block?.height ?? head.height + 1;
  };
}

/** Matches the child of a block. */
async function childOf({ query }: SnapshotReads, id: string): Promise<Condition> {
  if (!isStorable(id)) return NEVER;
  const parent = id === NO_BLOCK ? { height: 0 } : await first(query<{ height: number }>(HEIGHT, [id]));
  return parent ? { sql: "height = ?::bigint", values: [parent.height + 1] } : NEVER;
}
