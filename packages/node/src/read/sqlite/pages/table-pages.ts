/** Pages of a table whose rows are found by its indexes: blocks, wallets, tokens. */
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import type { Found, Range } from "../../page.ts";
import { createStartInIndex } from "../plans/by-count.ts";
import { createByIndex } from "../plans/by-index.ts";
import type { Asked, Known } from "../plans/choose.ts";
import { type Finding, findPage } from "../plans/find.ts";
import { createRowCounts } from "./row-counts.ts";
import { alternativesOf, type ListedTable, type Selection } from "./selection.ts";

export type TableQuestion<Row> = Pick<Asked, "filter" | "isInOrder"> & {
  readonly selection: Selection;
  /** The number of rows, where it is known without counting. */
  readonly totalCount?: number;
  /** Finds the page where its rows are numbered. */
  readonly byRow?: () => Found<Row>;
};

/** @throws {CursorError} */
export type TablePages<Row> = (head: Head, question: TableQuestion<Row>, range: Range) => Found<Row>;

/** No ranking is made of these tables. */
const BOUNDS = { minRanked: Number.POSITIVE_INFINITY };

export function createTablePages<Row>(
  database: Database,
  collection: "blocks" | "wallets" | "tokens",
  listed: ListedTable,
): TablePages<Row> {
  const byIndex = createByIndex<Row>(database, listed);
  const startInIndex = createStartInIndex(database, listed);
  const count = createRowCounts(database, listed);
  return (head, { selection, filter, isInOrder, totalCount, byRow }, range) => {
    const { offset, after } = range;
    const asked: Asked = { collection, filter, isInOrder, offset, isAfter: after !== undefined };
    const known: Known = totalCount === undefined ? {} : { total: totalCount };
    const learning = { total: () => ({ total: count(head, alternativesOf(selection)) }) };
    // With a filter, rows are found by the index of the filter, whatever another one has in their order.
    const isWalked = isInOrder && filter === "none";
    const finding: Finding<Row> = {
      ...(byRow && { row: byRow }),
      index: (totalCount) => byIndex(selection, range, { totalCount, isInOrder: isWalked }),
      count(totalCount) {
        const { from, offset } = startInIndex(head, selection, range.offset);
        return byIndex(selection, { ...range, offset }, { totalCount, from, isInOrder: true });
      },
    };
    return findPage(asked, known, BOUNDS, { learning, finding });
  };
}
