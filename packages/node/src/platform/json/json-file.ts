/** JSON files that an operator names. */
import { readFileSync } from "node:fs";
import { ConfigError } from "../config-error.ts";

/**
 * The content of a JSON file. Errors do not include the message of the engine: it quotes the text, which may be a
 * passphrase.
 *
 * @param named name of the file in error messages
 * @param remedy what to do, at the end of error messages
 * @throws {ConfigError} when the file cannot be read or is not JSON; the message has the line and column where known
 */
export function readJsonFile(path: string, named: string, remedy = ""): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const isFolder = (error as NodeJS.ErrnoException).code === "EISDIR";
    throw new ConfigError(
      `${named} cannot be read: ${isFolder ? "it is a folder" : (error as Error).message}${remedy}`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${named} cannot be read: it is ${faultOf(text, error as Error)}${remedy}`);
  }
}

function faultOf(text: string, { message }: Error): string {
  if (text.trim() === "") return "empty";
  const place = /\(line \d+ column \d+\)$/.exec(message);
  return place ? `not JSON ${place[0]}` : "not JSON";
}

/**
 * A JSON object from a file that the operator named.
 *
 * @param what purpose of the file, for error messages
 * @param remedy what to do, at the end of error messages
 * @throws {ConfigError} when the file cannot be read or holds no JSON object
 */
export function readJsonObject(path: string, what: string, remedy = ""): Record<string, unknown> {
  const content = readJsonFile(path, `${what} ${path}`, remedy);
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new ConfigError(`${what} ${path} must be a JSON object${remedy}`);
  }
  return content as Record<string, unknown>;
}
