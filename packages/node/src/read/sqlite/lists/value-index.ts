/**
 * Rows of an append-only table in the order of a value. Pages at any offset, and rows with a given value, are found without
 * sorting. Stored as arrays of plain numbers, so that a value index of a million rows uses few megabytes and is transferred
 * between threads without a copy.
 */

import { present } from "../../../platform/present.ts";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Direction } from "../../page.ts";

export type ValueIndex = {
  /** Positions by ascending value; rows of one value newest first. */
  readonly positions: Float64Array<ArrayBuffer>;
  /** Index after the last row of each distinct value. */
  readonly rowEnds: Uint32Array<ArrayBuffer>;
  /** Concatenated distinct values, as bytes that have the same order as the values. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Index after the last byte of each distinct value. */
  readonly byteEnds: Uint32Array<ArrayBuffer>;
};

/** `value` is decimal text if it is an integer; `position` is a height and a sequence in one number (`positionOf`). */
export type ValueIndexRow = { readonly position: number; readonly value: string | null };
export type Kind = "integer" | "text";

/** Upper bound on the transactions in a block; leaves 33 bits for heights. */
export const SEQUENCES = 2 ** 20;
export const positionOf = (height: number, sequence: number): number => height * SEQUENCES + sequence;

/** Neither byte occurs as the first byte of a UTF-8 character. */
const TEXT = 0xfe;
const ABSENT = 0xff;
const LOWEST = -(2n ** 63n);

/** Converts a value to bytes; absent values sort as the highest. */
export function bytesOf(kind: Kind, value: string | null): Uint8Array {
  if (value === null) return Uint8Array.of(ABSENT);
  if (kind === "text") return Buffer.concat([Uint8Array.of(TEXT), Buffer.from(value)]);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value) - LOWEST);
  return bytes;
}

export const sizeOf = (valueIndex: ValueIndex): number =>
  Object.values(valueIndex).reduce((sum, { byteLength }) => sum + byteLength, 0);

/**
 * @param rows rows in the order of a value index
 * @returns undefined if the value index would exceed `maxBytes`
 */
export function valueIndexOf(
  kind: Kind,
  rows: Iterable<ValueIndexRow>,
  maxBytes: number,
): ValueIndex | undefined {
  const positions: number[] = [];
  const [rowEnds, byteEnds]: [number[], number[]] = [[], []];
  let bytes = new Uint8Array(1_024);
  let last: string | null | undefined;
  for (const { position, value } of rows) {
    if (value !== last) {
      if (last !== undefined) rowEnds.push(positions.length);
      last = value;
      const added = bytesOf(kind, value);
      const end = (byteEnds.at(-1) ?? 0) + added.length;
      if (end > bytes.length) bytes = longer(bytes, 2 * end);
      bytes.set(added, end - added.length);
      byteEnds.push(end);
    }
    positions.push(position);
    if (8 * (positions.length + byteEnds.length) + (byteEnds.at(-1) ?? 0) > maxBytes) return undefined;
  }
  if (positions.length > 0) rowEnds.push(positions.length);
  return {
    positions: Float64Array.from(positions),
    rowEnds: Uint32Array.from(rowEnds),
    bytes: bytes.slice(0, byteEnds.at(-1) ?? 0),
    byteEnds: Uint32Array.from(byteEnds),
  };
}

function longer(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(length);
  copy.set(bytes);
  return copy;
}

/** Merges two value indexes; all rows of `newer` must be newer than the rows of `older`. */
export function merged(older: ValueIndex, newer: ValueIndex): ValueIndex {
  const writer = new Writer(
    older.positions.length + newer.positions.length,
    older.rowEnds.length + newer.rowEnds.length,
    older.bytes.length + newer.bytes.length,
  );
  let done = 0;
  for (let index = 0; index < newer.rowEnds.length; index++) {
    const value = valueAt(newer, index);
    const group = firstFrom(older, value);
    writer.addGroups(older, done, group);
    done = group;
    writer.addRows(rowsOf(newer, index));
    if (group < older.rowEnds.length && Buffer.compare(valueAt(older, group), value) === 0) {
      writer.addRows(rowsOf(older, group));
      done = group + 1;
    }
    writer.endGroup(value);
  }
  writer.addGroups(older, done, older.rowEnds.length);
  return writer.valueIndex();
}

/** Returns the value index without the rows above a height. */
export function upTo(valueIndex: ValueIndex, height: number): ValueIndex {
  const { positions, rowEnds, bytes } = valueIndex;
  const end = positionOf(height + 1, 0);
  const writer = new Writer(positions.length, rowEnds.length, bytes.length);
  for (let index = 0; index < rowEnds.length; index++) {
    const rows = rowsOf(valueIndex, index);
    const kept = rows.subarray(firstIndex(rows.length, (row) => numberAt(rows, row) < end));
    if (kept.length === 0) continue;
    writer.addRows(kept);
    writer.endGroup(valueAt(valueIndex, index));
  }
  return writer.valueIndex();
}

class Writer {
  readonly #positions: Float64Array<ArrayBuffer>;
  readonly #rowEnds: Uint32Array<ArrayBuffer>;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #byteEnds: Uint32Array<ArrayBuffer>;
  #rows = 0;
  #groups = 0;
  #length = 0;

  constructor(maxRows: number, maxGroups: number, maxBytes: number) {
    this.#positions = new Float64Array(maxRows);
    this.#rowEnds = new Uint32Array(maxGroups);
    this.#bytes = new Uint8Array(maxBytes);
    this.#byteEnds = new Uint32Array(maxGroups);
  }

  /** Appends the groups of another value index from `first` to before `end`. */
  addGroups(from: ValueIndex, first: number, end: number): void {
    if (first === end) return;
    const [firstRow, firstByte] = [startOf(from.rowEnds, first), startOf(from.byteEnds, first)];
    this.#positions.set(from.positions.subarray(firstRow, from.rowEnds[end - 1]), this.#rows);
    this.#bytes.set(from.bytes.subarray(firstByte, from.byteEnds[end - 1]), this.#length);
    const [moreRows, moreBytes] = [this.#rows - firstRow, this.#length - firstByte];
    for (let group = first; group < end; group++, this.#groups++) {
      this.#rowEnds[this.#groups] = numberAt(from.rowEnds, group) + moreRows;
      this.#byteEnds[this.#groups] = numberAt(from.byteEnds, group) + moreBytes;
    }
    this.#rows = numberAt(this.#rowEnds, this.#groups - 1);
    this.#length = numberAt(this.#byteEnds, this.#groups - 1);
  }

  addRows(added: Float64Array): void {
    this.#positions.set(added, this.#rows);
    this.#rows += added.length;
  }

  endGroup(value: Uint8Array): void {
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    this.#rowEnds[this.#groups] = this.#rows;
    this.#byteEnds[this.#groups++] = this.#length;
  }

  valueIndex(): ValueIndex {
    return {
      positions: this.#positions.subarray(0, this.#rows),
      rowEnds: this.#rowEnds.subarray(0, this.#groups),
      bytes: this.#bytes.subarray(0, this.#length),
      byteEnds: this.#byteEnds.subarray(0, this.#groups),
    };
  }
}

/** Returns a page in the order of the value; rows of one value are newest first in both directions. */
export function pageOf(
  valueIndex: ValueIndex,
  direction: Direction,
  offset: number,
  limit: number,
): number[] {
  const { positions, rowEnds } = valueIndex;
  const end = Math.min(offset + limit, positions.length);
  if (direction === "asc") return [...positions.subarray(offset, Math.max(end, offset))];
  const page: number[] = [];
  let group = firstIndex(rowEnds.length, (index) => numberAt(rowEnds, index) > positions.length - 1 - offset);
  for (let skipped = offset; skipped < end; group--) {
    const rows = rowsOf(valueIndex, group);
    const first = skipped - (positions.length - numberAt(rowEnds, group));
    const taken = rows.subarray(first, first + end - skipped);
    page.push(...taken);
    skipped += taken.length;
  }
  return page;
}

/** Returns the offset of the first row after another row, which may no longer exist. */
export function offsetAfter(
  valueIndex: ValueIndex,
  direction: Direction,
  value: Uint8Array,
  position: number,
): number {
  const { positions, rowEnds } = valueIndex;
  const group = firstFrom(valueIndex, value);
  const start = startOf(rowEnds, group);
  const isThere = group < rowEnds.length && Buffer.compare(valueAt(valueIndex, group), value) === 0;
  if (!isThere) return direction === "asc" ? start : positions.length - start;
  const rows = rowsOf(valueIndex, group);
  const before = firstIndex(rows.length, (row) => numberAt(rows, row) < position);
  return before + (direction === "asc" ? start : positions.length - numberAt(rowEnds, group));
}

/** Returns the rows whose value is between two bounds, both included; each group newest first. */
export function rowsBetween(
  valueIndex: ValueIndex,
  from?: Uint8Array,
  to?: Uint8Array,
): readonly Float64Array[] {
  const first = from === undefined ? 0 : firstFrom(valueIndex, from);
  const { rowEnds } = valueIndex;
  const end =
    to === undefined
      ? rowEnds.length
      : firstIndex(rowEnds.length, (index) => Buffer.compare(valueAt(valueIndex, index), to) > 0);
  if (first >= end) return [];
  return [valueIndex.positions.subarray(startOf(rowEnds, first), rowEnds[end - 1])];
}

/** Returns the rows whose text contains another text; each group newest first. */
export function rowsContaining(valueIndex: ValueIndex, part: string): readonly Float64Array[] {
  const { bytes, byteEnds } = valueIndex;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const wanted = Buffer.from(part);
  const found: Float64Array[] = [];
  for (let at = text.indexOf(wanted); at !== -1; ) {
    const group = firstIndex(byteEnds.length, (index) => numberAt(byteEnds, index) > at);
    found.push(rowsOf(valueIndex, group));
    at = text.indexOf(wanted, numberAt(byteEnds, group));
  }
  return found;
}

/** Reads a number at an index within the array. */
const numberAt = (numbers: Uint32Array | Float64Array, index: number): number =>
  present(numbers[index], "a number of the value index");

const startOf = (ends: Uint32Array, group: number): number => (group === 0 ? 0 : numberAt(ends, group - 1));

const rowsOf = ({ positions, rowEnds }: ValueIndex, group: number): Float64Array =>
  positions.subarray(startOf(rowEnds, group), rowEnds[group]);

const valueAt = ({ bytes, byteEnds }: ValueIndex, group: number): Uint8Array =>
  bytes.subarray(startOf(byteEnds, group), byteEnds[group]);

/** Returns the first group whose value is not below the given one. */
const firstFrom = (valueIndex: ValueIndex, value: Uint8Array): number =>
  firstIndex(valueIndex.rowEnds.length, (index) => Buffer.compare(valueAt(valueIndex, index), value) >= 0);
