/**
 * Reads JSON from outside of the process: files, responses of other machines, standard input. The size and the complexity of a text
 * are checked before it is parsed.
 */
import { readFileSync, statSync } from "node:fs";
import { CodedError, ConfigError } from "../coded-error.ts";
import { type Form, formOf } from "./form.ts";
import { Type } from "./schema.ts";

/** Bounds of the complexity of a text: a megabyte can hold values that take twenty times its memory. */
export type Complexity = {
  /** Maximum nesting of objects and lists. */
  readonly maxDepth: number;
  /** Maximum number of objects, lists, and members and items that a comma separates. */
  readonly maxValues: number;
};

/**
 * Bounds of every request body. The deepest valid body is a transaction with lists in its asset: ten levels. The valid
 * body with the most values within a megabyte, a list of payments, is within this bound.
 */
export const BODY_COMPLEXITY: Complexity = { maxDepth: 64, maxValues: 50_000 };

export type TextBounds = Complexity & { readonly maxCharacters: number };

/** Bounds of a file that an operator or this program writes. */
export const FILE_BOUNDS: TextBounds = { maxCharacters: 1_048_576, maxDepth: 64, maxValues: 50_000 };

/**
 * A text exceeds a bound, is not JSON, or has another form. The message says why, without its subject: the caller adds
 * the source of the text and the next step. It does not quote the text, which may be a passphrase.
 */
export class ExternalDataError extends CodedError<"DATA_TOO_LARGE" | "DATA_NOT_JSON" | "DATA_FORM"> {
  constructor(code: ExternalDataError["code"], message: string) {
    super(code, message, { isRetryable: false });
  }
}

/**
 * Parses a text, and checks its size and its form.
 *
 * @throws {ExternalDataError}
 */
export function parseExternal<T>(text: string, form: Form<T>, bounds: TextBounds): T {
  checkSize(text, bounds);
  const value = parse(text);
  if (!form.is(value)) throw new ExternalDataError("DATA_FORM", form.violation(value));
  return value;
}

function checkSize(text: string, { maxCharacters, maxDepth, maxValues }: TextBounds): void {
  if (text.length > maxCharacters) {
    throw new ExternalDataError("DATA_TOO_LARGE", `it is longer than ${maxCharacters} characters`);
  }
  const exceeded = exceededBound(text, { maxDepth, maxValues });
  if (exceeded === undefined) return;
  const what = exceeded === "maxDepth" ? `${maxDepth} nested levels` : `${maxValues} values`;
  throw new ExternalDataError("DATA_TOO_LARGE", `it has more than ${what}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ExternalDataError("DATA_NOT_JSON", `it is ${faultOf(text, error as Error)}`);
  }
}

/** Omits the message of the engine, which quotes the text, except for the place of the error. */
function faultOf(text: string, { message }: Error): string {
  if (text.trim() === "") return "empty";
  const place = /\(line \d+ column \d+\)$/.exec(message);
  return place ? `not JSON ${place[0]}` : "not JSON";
}

/** A file that an operator names, or that this program wrote and an operator can change. */
type JsonFile<T> = {
  /** Purpose of the file, for error messages, such as `delegates file`. */
  readonly purpose: string;
  readonly form: Form<T>;
  /** Next step, at the end of error messages. */
  readonly remedy: string;
  readonly bounds?: TextBounds;
};

/** Form of an object whose members another reader checks. */
export const JSON_OBJECT: Form<Record<string, unknown>> = formOf(
  Type.Record(Type.String(), Type.Unknown(), { description: "a JSON object" }),
);

/**
 * Returns the content of a file.
 *
 * @throws {ConfigError} if the file cannot be read, is too large, is not JSON, or has another form
 */
export function readJsonFile<T>(
  path: string,
  { purpose, form, remedy, bounds = FILE_BOUNDS }: JsonFile<T>,
): T {
  try {
    return parseExternal(readText(path, bounds.maxCharacters), form, bounds);
  } catch (error) {
    throw new ConfigError(`${purpose} ${path} cannot be read: ${reasonOf(error as Error)}; ${remedy}`);
  }
}

/** A character has at most three bytes for each unit of its length. */
const MAX_BYTES_PER_UNIT = 3;

function readText(path: string, maxCharacters: number): string {
  if (statSync(path).size > MAX_BYTES_PER_UNIT * maxCharacters) {
    throw new Error(`it is longer than ${maxCharacters} characters`);
  }
  return readFileSync(path, "utf8");
}

const reasonOf = (error: NodeJS.ErrnoException): string =>
  error.code === "EISDIR" ? "it is a folder" : error.message;

/** Character codes of the JSON syntax. */
export const QUOTATION_MARK = 0x22;
export const COMMA = 0x2c;
export const OPENING_BRACKET = 0x5b;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

/**
 * Returns the bound that a text exceeds first; undefined if it exceeds none. Scans the text once, without building values. The
 * result is meaningful for JSON only: the parser checks whether the text is JSON.
 */
export function exceededBound(
  text: string,
  { maxDepth, maxValues }: Complexity,
): keyof Complexity | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTATION_MARK:
        at = endOfString(text, at);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (++depth > maxDepth) return "maxDepth";
        if (++values > maxValues) return "maxValues";
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
        break;
      case COMMA:
        if (++values > maxValues) return "maxValues";
    }
  }
  return undefined;
}

/**
 * Returns the index of the quotation mark that ends the string begun at `start`; the end of the text if there
 * is none.
 */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Returns the sum of the characters and bytes in a value: an estimate of its memory. */
export function lengthOf(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let sum = 0;
  // Avoids an array of entries for each object, which would cost most of the time.
  for (const name in value) sum += name.length + lengthOf((value as Record<string, unknown>)[name]);
  return sum;
}
