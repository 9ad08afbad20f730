/**
 * Plan "ranking": all matching transactions are in memory in the order of a column. Costs the rows of the page, and a
 * binary search for its start.
 */
import { present } from "../../../platform/present.ts";
import type { Database } from "../../../store/engine/database.ts";
import { CursorError } from "../../errors.ts";
import type { Range } from "../../page.ts";
import { cursorValues } from "../pages/cursor.ts";
import type { OrderTerm } from "../pages/order.ts";
import { type PageOfPositions, positionAfter } from "../rankings/positions.ts";
import { bytesOf, type Kind, offsetAfter, pageOf, type Ranking } from "../rankings/ranking.ts";

/**
 * @param order ends with the positions of rows, newest first
 * @throws {CursorError}
 */
export type ByRanking = (
  ranking: Ranking,
  kind: Kind,
  order: readonly OrderTerm[],
  range: Range,
) => PageOfPositions;

export function createByRanking(database: Database): ByRanking {
  // Read as text, so that integers beyond 2^53 stay exact.
  const member = database.prepare<{ text: string | null }>("SELECT CAST(json_extract(?, ?) AS TEXT) AS text");
  return (ranking, kind, order, range) => {
    const { direction } = present(order.at(-3), "the term of the ranking");
    let { offset } = range;
    if (range.after !== undefined) {
      const position = positionAfter(order, range.after);
      const isText = typeof cursorValues(order, range.after).at(-3) === "string";
      if (isText && kind === "integer") throw new CursorError();
      const value = member.get(range.after, `$[${order.length - 2}]`);
      offset = offsetAfter(ranking, direction, bytesOf(kind, value?.text ?? null), position);
    }
    const totalCount = ranking.positions.length;
    const positions = pageOf(ranking, direction, offset, range.limit);
    return { positions, totalCount, isLast: offset + positions.length >= totalCount };
  };
}
