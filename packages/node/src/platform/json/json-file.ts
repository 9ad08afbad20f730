/** JSON files that a user names. */
import { readFileSync } from "node:fs";
import { ConfigError } from "../config-error.ts";

/**
 * The content of a JSON file. The message of the engine is not passed on: it quotes the text, which may be a passphrase.
 *
 * @param named how the message calls the file
 * @throws {ConfigError} when it cannot be read, or is no JSON: the message says at which line and column, if it is known
 */
export function readJsonFile(path: string, named: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`${named} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${named} cannot be read: it is ${faultOf(text, error as Error)}`);
  }
}

function faultOf(text: string, { message }: Error): string {
  if (text.trim() === "") return "empty";
  const place = /\(line \d+ column \d+\)$/.exec(message);
  return place ? `no JSON ${place[0]}` : "no JSON";
}

/**
 * A JSON object from a file that the user named.
 *
 * @throws {ConfigError} saying what the file is and what is wrong with it
 */
export function readJsonObject(path: string, what: string): Record<string, unknown> {
  const content = readJsonFile(path, `${what} ${path}`);
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new ConfigError(`${what} ${path} must be a JSON object`);
  }
  return content as Record<string, unknown>;
}
