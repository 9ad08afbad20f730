/** Sessions of a dev chain's console, in a file of the data folder: a restart does not sign users out. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { formOf } from "../../platform/json/form.ts";
import { readJsonFile } from "../../platform/json/json-file.ts";
import { Type } from "../../platform/json/schema.ts";
import { MAX_SESSIONS, type SessionsDependencies } from "./sessions.ts";

export const SESSION_FILE = "console-sessions.json";

const OWNER_ONLY = 0o600;
const Digest = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Time = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Session = Type.Unsafe<[digest: string, endsMs: number]>({
  ...{ type: "array", items: [Digest, Time], minItems: 2, additionalItems: false },
});

const FILE = {
  purpose: "file",
  form: formOf(Type.Array(Session, { maxItems: MAX_SESSIONS })),
  remedy: "it is replaced by the next sign-in",
  /** More than the largest file that is written. */
  bounds: { maxCharacters: 32_768, maxDepth: 2, maxValues: 4 * MAX_SESSIONS },
};

/** Errors of the file or the disk do not stop the node: users must then sign in again. */
export function openSessionFile(
  folder: string,
  logger: Pick<Logger, "warn">,
): NonNullable<SessionsDependencies["storage"]> {
  const path = join(folder, SESSION_FILE);
  return {
    read() {
      try {
        return new Map(existsSync(path) ? readJsonFile(path, FILE) : []);
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
