/**
 * Cursors in an ordered list: a page can begin after a row, regardless of rows that were added before it. A cursor is
 * JSON: a name of the order, then the row's values of the order's terms as texts; bytes are in base64.
 */
import type { PostgresValue } from "../../../postgres/connection.ts";
import { CursorError } from "../../errors.ts";
import { isInteger64 } from "../../integers.ts";
import type { Direction } from "../../page.ts";
import { allOf, anyOf, type Condition, isStorable, NEVER } from "./conditions.ts";
import { nameOf, type OrderTerm } from "./order.ts";

/** Returns the cursor of a row with these order values. */
export const cursorAt = (order: readonly OrderTerm[], values: readonly unknown[]): string =>
  JSON.stringify([nameOf(order), ...values.map(toMember)]);

const toMember = (value: unknown): string | null => {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64url") : String(value);
};

/**
 * Matches rows after a cursor.
 *
 * @throws {CursorError}
 */
export function after(order: readonly OrderTerm[], cursor: string): Condition {
  const terms = termsAt(order, cursor);
  const [first] = terms;
  // With one direction, an index is entered exactly at the cursor, however many rows are equal in the first term.
  if (first && terms.every(({ direction, at }) => direction === first.direction && at !== null)) {
    return {
      sql: `(${terms.map(({ value }) => value).join()}) ${OPERATORS[first.direction]}
        (${terms.map(({ kind }) => PLACEHOLDERS[kind]).join()})`,
      values: terms.map(({ at }) => at),
    };
  }
  const isBehind = terms.reduceRight<Condition>(
    (rest, term) => anyOf([compared(term, OPERATORS[term.direction]), allOf([isEqual(term), rest])]),
    NEVER,
  );
  // The first term alone bounds the range of an index that is read.
  const isInRange = first && first.at !== null ? [compared(first, `${OPERATORS[first.direction]}=`)] : [];
  return allOf([...isInRange, isBehind]);
}

const OPERATORS: Readonly<Record<Direction, string>> = { asc: ">", desc: "<" };
const PLACEHOLDERS: Readonly<Record<OrderTerm["kind"], string>> = {
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

/** @throws {CursorError} */
function termsAt(order: readonly OrderTerm[], cursor: string): TermAt[] {
  const members = parse(cursor);
  if (!Array.isArray(members) || members.length !== order.length + 1 || members[0] !== nameOf(order)) {
    throw new CursorError();
  }
  return order.map((term, index) => ({ ...term, at: fromMember(term, members[index + 1]) }));
}

/** @throws {CursorError} */
function fromMember({ kind }: OrderTerm, member: unknown): PostgresValue {
  if (member === null) return null;
  if (typeof member !== "string" || !isStorable(member)) throw new CursorError();
  if (kind === "bytes") return Buffer.from(member, "base64url");
  if (kind === "integer" && !(/^-?\d{1,19}$/.test(member) && isInteger64(BigInt(member)))) {
    throw new CursorError();
  }
  return member;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
