/** Sessions of a dev chain's console, in a file of the data folder: a restart does not sign users out. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { MAX_SESSIONS, type SessionEnds, type SessionsDependencies } from "./sessions.ts";

export const SESSION_FILE = "console-sessions.json";

const OWNER_ONLY = 0o600;
/** Maximum size to read, which exceeds the largest file that is written. */
const MAX_BYTES = 32_768;
const DIGEST = /^[\da-f]{64}$/;

/** Errors of the file or the disk do not stop the node: users must then sign in again. */
export function openSessionFile(
  folder: string,
  logger: Pick<Logger, "warn">,
): NonNullable<SessionsDependencies["storage"]> {
  const path = join(folder, SESSION_FILE);
  return {
    read() {
      try {
        return existsSync(path) ? parseEnds(path) : new Map();
      } catch (err) {
        logger.warn({ err, path }, "failed to read the console sessions: users must sign in again");
        return new Map();
      }
    },
    write(ends) {
      try {
        writeWholeFile(path, `${JSON.stringify([...ends])}\n`, OWNER_ONLY);
      } catch (err) {
        logger.warn({ err, path }, "failed to store the console sessions: a restart will sign out all users");
      }
    },
  };
}

/** @throws {Error} if the content is invalid */
function parseEnds(path: string): SessionEnds {
  if (statSync(path).size > MAX_BYTES) throw new Error("the file is too large");
  const content: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Array.isArray(content) || content.length > MAX_SESSIONS || !content.every(isEnd)) {
    throw new Error("the file does not contain a list of sessions");
  }
  return new Map(content);
}

const isEnd = (value: unknown): value is [string, number] =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === "string" &&
  DIGEST.test(value[0]) &&
  Number.isSafeInteger(value[1]);
