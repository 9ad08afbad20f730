/**
 * Plan "value index": all matching transactions are in memory in the order of a column. Costs the rows of the page, and a
 * binary search for its start.
 */
import { present } from "../../../platform/present.ts";
import { cursorValues } from "../../cursor.ts";
import type { Range } from "../../page.ts";
import type { OrderTerm } from "./keyset-cursor.ts";
import { type PageOfPositions, positionAfter } from "./positions.ts";
import { bytesOf, type Kind, offsetAfter, pageOf, type ValueIndex } from "./value-index.ts";

/**
 * @param order ends with the positions of rows, newest first
 * @throws {CursorError}
 */
export type ByValueIndex = (
  valueIndex: ValueIndex,
  kind: Kind,
  order: readonly OrderTerm[],
  range: Range,
) => PageOfPositions;

export const byValueIndex: ByValueIndex = (valueIndex, kind, order, range) => {
  const { direction } = present(order.at(-3), "the term of the value index");
  let { offset } = range;
  if (range.after !== undefined) {
    const position = positionAfter(order, range.after);
    const value = cursorValues(order, range.after).at(-3) ?? null;
    offset = offsetAfter(valueIndex, direction, bytesOf(kind, value === null ? null : `${value}`), position);
  }
  const totalCount = valueIndex.positions.length;
  const positions = pageOf(valueIndex, direction, offset, range.limit);
  return { positions, totalCount, isLast: offset + positions.length >= totalCount };
};
