/**
 * The webhooks as lines of text (docs/spec/hand-over.md 3): each is the SHA-256 of a JSON text, a space, and the text, as in the
 * feed. The first line describes the hand-over, and the last one has the number of rows.
 */
import { hash } from "node:crypto";
import { CodedError } from "../../platform/coded-error.ts";
import { ExternalDataError, parseExternal, type TextBounds } from "../../platform/json/external.ts";
import { formOf, refined } from "../../platform/json/form.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { type HandOverRow, isRowOf, TABLE_NAMES, TABLES, type TableName } from "./tables.ts";

/** Changed with the columns and their meaning. */
export const FORMAT = 4;

const MAX_ROWS_PER_LINE = 1_000;
const MAX_VALUES_PER_ROW = 32;
/** A single content or unconfirmed event can be as long as a block. */
const LINE_BOUNDS: TextBounds = {
  maxCharacters: 64 * 1_048_576,
  maxDepth: 4,
  maxValues: MAX_ROWS_PER_LINE * (MAX_VALUES_PER_ROW + 1),
};
const DIGEST_CHARACTERS = 64;
const MAX_ID_LENGTH = 128;

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const HandOverHead = Type.Object(
  {
    format: Type.Literal(FORMAT),
    network: Type.String({ maxLength: MAX_ID_LENGTH }),
    matched: count,
    /** True if the sender encrypts the secrets in its database. */
    isEncrypted: Type.Boolean(),
    /** Highest epoch of the owners so far (`nextEpoch`). */
    epoch: count,
    /** Highest numbers that were ever given. */
    last: Type.Object({ webhook: count, delivery: count, content: count }, closed),
  },
  closed,
);
export type HandOverHead = Static<typeof HandOverHead>;

export type TablePart = { readonly table: TableName; readonly rows: readonly HandOverRow[] };

/** Rows of one table; `isPart` checks their values. */
export const HandOverPart = Type.Unsafe<TablePart>({
  type: "object",
  required: ["table", "rows"],
  additionalProperties: false,
  properties: {
    table: { enum: TABLE_NAMES },
    rows: {
      type: "array",
      maxItems: MAX_ROWS_PER_LINE,
      items: { type: "array", maxItems: MAX_VALUES_PER_ROW },
    },
  },
});

/** Returns whether each row has the columns of the table. */
export const isPart = ({ table, rows }: TablePart): boolean =>
  rows.every((row) => isRowOf(TABLES[table], row));

/** The members are checked by the schema, but possibly later. */
function isPartOrOther(value: unknown): boolean {
  const { table, rows } = value as Partial<TablePart>;
  if (table === undefined || !Object.hasOwn(TABLES, table) || !Array.isArray(rows)) return true;
  return rows.every(Array.isArray) && isPart({ table, rows });
}

const LINE = formOf(
  Type.Union([
    Type.Object({ webhooks: HandOverHead }, closed),
    refined(HandOverPart, isPartOrOther),
    Type.Object({ end: count }, closed),
  ]),
);
export type HandOverLine = { readonly webhooks: HandOverHead } | TablePart | { readonly end: number };

export function lineOf(line: HandOverLine): string {
  const json = JSON.stringify(line);
  return `${hash("sha256", json, "hex")} ${json}\n`;
}

/** A line was truncated or changed, or comes from another version. */
export class HandOverLineError extends CodedError<"HAND_OVER_INVALID"> {
  constructor(reason: string) {
    super("HAND_OVER_INVALID", `cannot read the webhooks of the other side: ${reason}`, {
      isRetryable: false,
    });
  }
}

/**
 * Parses a line without its line break.
 *
 * @throws {HandOverLineError}
 */
export function readLine(text: string): HandOverLine {
  const json = text.slice(DIGEST_CHARACTERS + 1);
  if (text.slice(0, DIGEST_CHARACTERS) !== hash("sha256", json, "hex"))
    throw new HandOverLineError("a line does not match its digest");
  try {
    return parseExternal(json, LINE, LINE_BOUNDS) as HandOverLine;
  } catch (error) {
    if (!(error instanceof ExternalDataError)) throw error;
    throw new HandOverLineError(`${error.message}; use the same version of the program on both sides`);
  }
}

/** Bounds of a written line with rows, so that it costs a few milliseconds to read and to write. */
const MAX_ROWS = 500;
/** A single row may be longer. */
const MAX_CHARACTERS = 512 * 1024;
const NUMBER_CHARACTERS = 8;

/** Splits rows into the parts of lines. */
export function* partsOf(rows: Iterable<HandOverRow>): Iterable<HandOverRow[]> {
  let part: HandOverRow[] = [];
  let characters = 0;
  for (const row of rows) {
    const length = lengthOf(row);
    if (part.length === MAX_ROWS || (part.length > 0 && characters + length > MAX_CHARACTERS)) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(row);
    characters += length;
  }
  if (part.length > 0) yield part;
}

const lengthOf = (row: HandOverRow): number =>
  row.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : NUMBER_CHARACTERS), 0);
