/**
 * Orders of the lists that databases sort, and cursors in them. The last terms of an order identify a row, so that pages do not overlap.
 *
 * Cursors in an ordered list: a page can begin after a row, regardless of rows that were added before it. A cursor is JSON: a name
 * of the order, then the row's values of the order's terms as texts. All databases have the same cursors, so that a walk that
 * began at a node can continue at an API server.
 */
import { hash } from "node:crypto";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import type { BalanceOrder, BlockOrder, TokenOrder, TransactionOrder, WalletOrder } from "./filters.ts";
import { type Direction, isInteger64 } from "./page.ts";
import { CursorError } from "./port.ts";

/**
 * `absence` is 1 for rows without the value and 0 for others. The value after it is null exactly in the former. `bytes` is a text
 * with any characters; a `text` has neither U+0000 nor lone surrogates.
 */
export type TermKind = "integer" | "text" | "bytes" | "absence";

/** A term by the name of its value, for which each database has a column or an expression. */
export type NamedTerm<Name extends string = string> = {
  readonly name: Name;
  readonly kind: TermKind;
  readonly direction: Direction;
};

export type BlockTerm = Exclude<BlockOrder["field"], "timestamp">;
export type TransactionTerm = Exclude<TransactionOrder["field"], "timestamp"> | "height" | "sequence";
export type WalletTerm = WalletOrder["field"];
export type TokenTerm = TokenOrder["field"];

const term = <Name extends string>(name: Name, kind: TermKind, direction: Direction): NamedTerm<Name> => ({
  name,
  kind,
  direction,
});

export function blockTerms({ field, direction }: BlockOrder): NamedTerm<BlockTerm>[] {
  // Each block is later than its parent.
  if (field === "height" || field === "timestamp") return [term("height", "integer", direction)];
  return [term(field, "integer", direction), term("height", "integer", "desc")];
}

/** Ties are broken by the position in the chain, newest first. Absent vendorFields count as the highest. */
export function transactionTerms({
  field,
  direction,
  sequence = "desc",
}: TransactionOrder): NamedTerm<TransactionTerm>[] {
  const position = term("sequence", "integer", sequence);
  if (field === "timestamp") return [term("height", "integer", direction), position];
  const values =
    field === "vendorField"
      ? [term(field, "absence", direction), term(field, "bytes", direction)]
      : [term(field, "integer", direction)];
  return [...values, term("height", "integer", "desc"), position];
}

/** Wallets without a value come last in both directions, but count as 0 if the value is an amount. */
export function walletTerms({ field, direction }: WalletOrder): NamedTerm<WalletTerm>[] {
  switch (field) {
    case "address":
      return [term(field, "text", direction)];
    // With addresses in the same direction, an index has this order.
    case "balance":
    case "nonce":
      return [term(field, "integer", direction), term("address", "text", direction)];
    case "lockedBalance":
    case "voteBalance":
      return [term(field, "integer", direction), term("address", "text", "asc")];
    // Resigned delegates come first in both directions.
    case "resigned":
      return [term(field, "absence", "asc"), term("address", "text", "asc")];
    default:
      return [term(field, "absence", "asc"), term(field, "text", direction), term("address", "text", "asc")];
  }
}

export const balanceTerms = ({ direction }: BalanceOrder): NamedTerm<"height">[] => [
  term("height", "integer", direction),
];

/** Keys of properties can contain any characters. */
export const PROPERTY_TERMS = [term("key", "bytes", "asc")];

export const tokenTerms = ({ field, direction }: TokenOrder): NamedTerm<TokenTerm>[] => [
  ...(field === "ownerId" ? [term(field, "text", direction)] : []),
  term("id", "text", direction),
];

/** Value of a term in a row, as a database returns it: integers also as decimal text, texts also as bytes. */
export type RowValue = string | number | bigint | Uint8Array | null;

/** Value of a term at a cursor. */
export type CursorValue = string | bigint | null;

/** Requests contain cursors in base64url, with at most 2,048 characters. */
export const MAX_CURSOR_BYTES = 1_536;
const BOUNDS: TextBounds = { maxCharacters: MAX_CURSOR_BYTES, maxDepth: 1, maxValues: 16 };
const MEMBERS = formOf(Type.Array(Type.Unknown()));

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;

/** Returns the cursor of a row with these values. */
export const cursorAt = (order: readonly NamedTerm[], values: readonly RowValue[]): string =>
  JSON.stringify([nameOf(order), ...order.map(({ kind }, index) => toMember(kind, values[index] ?? null))]);

function toMember(kind: TermKind, value: RowValue): string | null {
  if (value === null) return null;
  // JSON would escape control characters with six characters each.
  if (kind === "bytes") return Buffer.from(value as string | Uint8Array).toString("base64url");
  return String(value);
}

/**
 * Returns the values of the row at a cursor.
 *
 * @throws {CursorError} if the cursor does not belong to the order
 */
export function cursorValues(order: readonly NamedTerm[], cursor: string): CursorValue[] {
  const [name, ...members] = parse(cursor);
  if (name !== nameOf(order) || members.length !== order.length) throw new CursorError();
  return order.map(({ kind }, index) => {
    const isAbsent = order[index - 1]?.kind === "absence" && members[index - 1] === "1";
    // The term after the absence of a value is the value, unless the order has only the absence.
    if (isAbsent && order[index]?.name === order[index - 1]?.name) return nullFrom(members[index]);
    return fromMember(kind, members[index]);
  });
}

/** Returns a short name that differs for different orders. */
const nameOf = (order: readonly NamedTerm[]): string =>
  hash("sha1", order.map(({ name, kind, direction }) => `${name} ${kind} ${direction}`).join()).slice(0, 8);

function parse(cursor: string): unknown[] {
  try {
    return parseExternal(cursor, MEMBERS, BOUNDS);
  } catch {
    throw new CursorError();
  }
}

function nullFrom(member: unknown): null {
  if (member !== null) throw new CursorError();
  return null;
}

/** Accepts only what `toMember` writes. */
function fromMember(kind: TermKind, member: unknown): CursorValue {
  const value = typeof member === "string" ? valueFrom(kind, member) : undefined;
  if (value === undefined) throw new CursorError();
  return value;
}

function valueFrom(kind: TermKind, member: string): CursorValue | undefined {
  switch (kind) {
    case "absence":
      return member === "0" || member === "1" ? BigInt(member) : undefined;
    case "integer":
      return INTEGER.test(member) && isInteger64(BigInt(member)) ? BigInt(member) : undefined;
    case "text":
      return member.isWellFormed() && !member.includes("\0") ? member : undefined;
    case "bytes": {
      const text = Buffer.from(member, "base64url").toString();
      return toMember(kind, text) === member ? text : undefined;
    }
  }
}
