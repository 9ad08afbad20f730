/** Where a page of transactions comes from, so that its time depends neither on how far it is nor on how many there are. */

import { alternativesOf, type Found, type List, type Range, type Selection } from "./listing.ts";
import type { Direction } from "./order.ts";
import type { RowsAt } from "./places.ts";
import type { Matches, RankedPages, Wanted } from "./rankings/pages.ts";
import type { Kind } from "./rankings/ranking.ts";
import type { Head } from "./snapshot.ts";
import type { Tallies } from "./tallies.ts";
import type { Totals } from "./totals.ts";

/** What is asked of all transactions. */
export type Question = {
  readonly selection: Selection;
  /** What they are ordered by before their place in the chain; absent: nothing. */
  readonly by?: { readonly column: string; readonly kind: Kind };
  readonly direction: Direction;
  /** Of transactions of one block. */
  readonly sequence: Direction;
  /** Whether a few blocks are left by the conditions, or some that depend on the head. */
  readonly isWithinBlocks: boolean;
  /** Those of the conditions that want values of a column. */
  readonly wanted: readonly Wanted[];
  /** Number of rows, if it is kept. */
  readonly knownTotal: number | undefined;
};

export type TransactionPages = <Row>(
  rows: { readonly list: List<Row>; readonly at: RowsAt<Row> },
  head: Head,
  question: Question,
  range: Range,
) => Found<Row>;

export type PageDependencies = {
  readonly totals: Totals;
  readonly tally: Tallies;
  readonly ranked: RankedPages;
  /** Rows from which on a ranking is worth its memory. */
  readonly minRanked: number;
};

/** Offset from which on rows are not walked over one by one. */
const FAR = 200;

export function createTransactionPages({
  totals,
  tally,
  ranked,
  minRanked,
}: PageDependencies): TransactionPages {
  /** The block in which a page of all transactions begins, and what is left of the offset from there. */
  function startOf(head: Head, { direction, sequence }: Question, offset: number) {
    if (direction === "asc") {
      const height = totals.heightOf(offset + 1, head);
      return { offset: offset - totals.upTo(height - 1), from: { sql: "height >= ?", values: [height] } };
    }
    const below = totals.upTo(head.height) - offset;
    const height = totals.heightOf(below, head);
    if (sequence === "asc") {
      return { offset: totals.upTo(height) - below, from: { sql: "height <= ?", values: [height] } };
    }
    const last = below - totals.upTo(height - 1) - 1;
    return { offset: 0, from: { sql: "(height, sequence) <= (?, ?)", values: [height, last] } };
  }

  /** The fewest rows that have a value which is wanted. */
  function matchesOf(head: Head, wanted: readonly Wanted[]): Matches | undefined {
    if (totals.upTo(head.height) < minRanked) return undefined;
    const found = wanted.map((one) => ranked.matches(head, one)).filter((matches) => matches !== undefined);
    return found.sort((a, b) => a.count - b.count)[0];
  }

  return ({ list, at }, head, question, range) => {
    const { selection, by, direction, wanted, knownTotal } = question;
    if (question.isWithinBlocks) return list(head, selection, range);
    const { conditions, ways = [] } = selection;
    const matches = matchesOf(head, wanted);
    const isWhole = conditions.length + ways.length === 0;
    // Matches are all that is asked for, or more than that.
    const all = conditions.length + ways.length === 1 ? matches : undefined;
    const page = by ? undefined : all?.page(selection.order, range);
    if (page) return at(page, selection.order, range.isWalk);
    if (matches?.condition) {
      const looked = { ...selection, conditions: [matches.condition, ...conditions], totalCount: all?.count };
      return list(head, looked, range);
    }

    const isFar = !by && range.offset >= FAR;
    const known = all?.count ?? knownTotal;
    const tallied =
      known === undefined || (isFar && !isWhole && !all) ? tally(head, alternativesOf(selection)) : undefined;
    const totalCount = known ?? tallied?.totalCount ?? 0;
    if (by && totalCount >= minRanked) {
      const alternatives = alternativesOf(selection);
      const page = ranked.ordered(head, { ...by, alternatives }, selection.order, range);
      if (page) return at(page, selection.order, range.isWalk);
    }
    const isInOrder = isWhole && !by;
    const counted = { ...selection, totalCount, isInOrder };
    if (by || range.offset >= totalCount) return list(head, counted, range);
    const start = isWhole
      ? isFar && startOf(head, question, range.offset)
      : (all ?? (isFar ? tallied : undefined))?.startOf(direction, range.offset);
    if (!start) return list(head, counted, range);
    const { offset, from } = start;
    return list(head, { ...counted, from }, { ...range, offset });
  };
}
