/** Blocks with what answers tell of their generator. */
import { type BlockHeader, headerFromTrustedBytes } from "@uniknode/protocol";
import type { Database } from "../database.ts";
import {
  conditionsOf,
  createList,
  type Direction,
  type FilterOf,
  type Found,
  type Range,
} from "./listing.ts";

export type StoredBlock = {
  readonly header: BlockHeader;
  /** Username of the generator; absent where it is no delegate: the genesis block. */
  readonly username?: string;
};

/** Header bytes begin with the version, four bytes of which the networks use the first (blocks.md section 1). */
const VERSION =
  "(instr('123456789ABCDEF', substr(hex(header), 1, 1)) * 16 + instr('123456789ABCDEF', substr(hex(header), 2, 1)))";

const TESTS = {
  id: "id = ?",
  version: `${VERSION} = CAST(? AS INTEGER)`,
  timestamp: "timestamp = CAST(? AS INTEGER)",
  // The genesis block names "0" as its parent.
  previousBlock: `height = (SELECT parent.height + 1 FROM
    (SELECT id, height FROM blocks UNION ALL SELECT '0', 0) AS parent WHERE parent.id = ?)`,
  height: "height = CAST(? AS INTEGER)",
  numberOfTransactions: "number_of_transactions = CAST(? AS INTEGER)",
  totalAmount: "total_amount = CAST(? AS INTEGER)",
  totalFee: "total_fee = CAST(? AS INTEGER)",
  reward: "reward = CAST(? AS INTEGER)",
  generatorPublicKey: "generator = ?",
} as const;

export type BlockFilter = FilterOf<typeof TESTS>;

const ORDERS = {
  height: "height",
  numberOfTransactions: "number_of_transactions",
  reward: "reward",
  timestamp: "height",
  totalAmount: "total_amount",
  totalFee: "total_fee",
  version: VERSION,
} as const;

export type BlockOrder = { readonly field: keyof typeof ORDERS; readonly direction: Direction };
export const BLOCK_ORDERS = Object.keys(ORDERS) as readonly (keyof typeof ORDERS)[];

export type BlockQueries = {
  byHeight(height: number): StoredBlock | undefined;
  byId(id: string): StoredBlock | undefined;
  list(filter: BlockFilter, order: BlockOrder, range: Range): Found<StoredBlock>;
  /** Height of the first block at or after a network time; beyond the head when there is none. */
  heightAt(time: number, headHeight: number): number;
};

type BlockRow = { id: string; header: Uint8Array; username: string | null };

const COLUMNS = "id, header, username";
const JOINS = "LEFT JOIN wallets ON public_key = generator";

export function createBlockQueries(database: Database): BlockQueries {
  const byHeight = database.prepare<BlockRow>(`SELECT ${COLUMNS} FROM blocks ${JOINS} WHERE height = ?`);
  const byId = database.prepare<BlockRow>(`SELECT ${COLUMNS} FROM blocks ${JOINS} WHERE id = ?`);
  const list = createList<BlockRow>(database, { columns: COLUMNS, table: "blocks", joins: JOINS });
  const timestamp = database.prepare<{ timestamp: number }>("SELECT timestamp FROM blocks WHERE height = ?");

  const blockFromRow = ({ id, header, username }: BlockRow): StoredBlock => ({
    header: headerFromTrustedBytes(header, id),
    ...(username !== null && { username }),
  });
  const optionalBlock = (row: BlockRow | undefined) => row && blockFromRow(row);

  return {
    byHeight: (height) => optionalBlock(byHeight.get(height)),
    byId: (id) => optionalBlock(byId.get(id)),
    list(filter, { field, direction }, range) {
      const order = `${ORDERS[field]} ${direction}${ORDERS[field] === "height" ? "" : ", height DESC"}`;
      const { rows, totalCount } = list(conditionsOf(TESTS, filter), order, range);
      return { rows: rows.map(blockFromRow), totalCount };
    },
    heightAt(time, headHeight) {
      // Timestamps grow with heights: halving finds the place without an index on them.
      let low = 1;
      let high = headHeight + 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((timestamp.get(middle)?.timestamp ?? 0) >= time) high = middle;
        else low = middle + 1;
      }
      return low;
    },
  };
}
