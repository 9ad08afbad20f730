/** Block ids as the database stores them. */
import { hexToBytes } from "@uniknode/protocol";
import type { SqlValue } from "../engine/database.ts";

const FULL_ID = /^[0-9a-f]{64}$/;
/** Length of the indexed prefix of an id. */
const PREFIX_LENGTH = 6;

/** A full id is stored as its bytes, a partial one as its decimal text. */
export const toStoredId = (id: string): string | Uint8Array => (FULL_ID.test(id) ? hexToBytes(id) : id);

/** Matches the block of an id. The index has only prefixes, which several ids may share. */
export const HAS_ID = "id_prefix = +? AND blocks.id = +?";

/** Returns the values of `HAS_ID`. */
export function hasIdValues(id: string): SqlValue[] {
  const stored = toStoredId(id);
  return [stored.slice(0, PREFIX_LENGTH), stored];
}

/** Lowest and highest indexed prefix of ids that begin with a text: of full ids and of partial ids. */
export function prefixRanges(text: string): (readonly [SqlValue, SqlValue])[] {
  const partial = text.slice(0, PREFIX_LENGTH);
  const ranges: (readonly [SqlValue, SqlValue])[] = [[partial, `${partial}{`]];
  if (/^[0-9a-f]{0,64}$/.test(text)) {
    const digits = text.slice(0, 2 * PREFIX_LENGTH);
    const bytesWith = (last: string) => hexToBytes(digits.padEnd(2 * PREFIX_LENGTH, last));
    ranges.push([bytesWith("0"), bytesWith("f")]);
  }
  return ranges;
}
