/** Conditions that match the rows after a cursor. */
import type { PostgresValue } from "../../../postgres/connection.ts";
import { type CursorValue, cursorValues } from "../../cursor.ts";
import type { Direction } from "../../page.ts";
import { bytesOf } from "../bytes.ts";
import { allOf, anyOf, type Condition, NEVER } from "./conditions.ts";
import type { OrderTerm } from "./order.ts";

/**
 * Matches rows after a cursor.
 *
 * @throws {CursorError}
 */
export function after(order: readonly OrderTerm[], cursor: string): Condition {
  const values = cursorValues(order, cursor);
  const terms = order.map((term, index) => ({ ...term, at: toPostgres(term, values[index] ?? null) }));
  const [first] = terms;
  // If all terms have one direction, an index scan starts exactly at the cursor, even if many rows are equal in the
  // first term.
  if (first && terms.every(({ direction, at }) => direction === first.direction && at !== null)) {
    return {
      sql: `(${terms.map(({ value }) => value).join()}) ${OPERATORS[first.direction]}
        (${terms.map(({ kind }) => PLACEHOLDERS[kind]).join()})`,
      values: terms.map(({ at }) => at),
    };
  }
  const follows = terms.reduceRight<Condition>(
    (rest, term) => anyOf([compared(term, OPERATORS[term.direction]), allOf([isEqual(term), rest])]),
    NEVER,
  );
  // The first term limits the range of the index that is read.
  const isInRange = first && first.at !== null ? [compared(first, `${OPERATORS[first.direction]}=`)] : [];
  return allOf([...isInRange, follows]);
}

const OPERATORS: Readonly<Record<Direction, string>> = { asc: ">", desc: "<" };
const PLACEHOLDERS: Readonly<Record<OrderTerm["kind"], string>> = {
  absence: "?::bigint",
  integer: "?::bigint",
  text: "?",
  bytes: "?::bytea",
};

type TermAt = OrderTerm & { readonly at: PostgresValue };

/** Null is only equal to null: an earlier term of an order separates absent values from others. */
const compared = ({ value, kind, at }: TermAt, operator: string): Condition =>
  at === null ? NEVER : { sql: `${value} ${operator} ${PLACEHOLDERS[kind]}`, values: [at] };

const isEqual = (term: TermAt): Condition =>
  term.at === null ? { sql: `${term.value} IS NULL`, values: [] } : compared(term, "=");

function toPostgres({ kind }: OrderTerm, value: CursorValue): PostgresValue {
  if (value === null) return null;
  return kind === "bytes" ? bytesOf(`${value}`) : `${value}`;
}
