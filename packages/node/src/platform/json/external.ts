/** Reads JSON from outside of the process: files, responses of other machines, standard input. */
import { CodedError } from "../coded-error.ts";
import { type Complexity, exceededBound } from "./complexity.ts";
import type { Form } from "./form.ts";

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

/** The complexity is checked before parsing: a small text can hold values that need twenty times its memory. */
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

/** The message of the engine quotes the text, except for the place of the error. */
function faultOf(text: string, { message }: Error): string {
  if (text.trim() === "") return "empty";
  const place = /\(line \d+ column \d+\)$/.exec(message);
  return place ? `not JSON ${place[0]}` : "not JSON";
}
