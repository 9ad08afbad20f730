/** JSON files that an operator names, and files of this program that an operator can change. */
import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "../config-error.ts";
import { FILE_BOUNDS, parseExternal, type TextBounds } from "./external.ts";
import { type Form, formOf } from "./form.ts";
import { Type } from "./schema.ts";

export type JsonFile<T> = {
  /** Purpose of the file, for error messages, such as `delegates file`. */
  readonly purpose: string;
  readonly form: Form<T>;
  /** Next step, at the end of error messages. */
  readonly remedy: string;
  readonly bounds?: TextBounds;
};

/** An object of which another reader checks the members. */
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
