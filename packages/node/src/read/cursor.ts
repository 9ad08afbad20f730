/**
 * Cursors in an ordered list: a page can begin after a row, regardless of rows that were added before it. A cursor is JSON: a name
 * of the order, then the row's values of the order's terms as texts. All databases have the same cursors, so that a walk that
 * began at a node can continue at an API server.
 */
import { hash } from "node:crypto";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { CursorError } from "./errors.ts";
import type { NamedTerm, TermKind } from "./orders.ts";
import { isInteger64 } from "./page.ts";

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
