/**
 * Sessions of the console. A code signs in once. A session lasts for hours and has two secrets: a cookie, and a key that only the
 * origin of the console can read. Both are stored as digests (docs/decisions/0033-cookie-sessions-for-the-console.md), by a dev chain
 * also in a file of the data folder, so that a restart does not sign users out.
 */
import { createHmac, hash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { readJsonFile } from "../../platform/json/external.ts";
import { formOf } from "../../platform/json/form.ts";
import { Type } from "../../platform/json/schema.ts";

export type Sessions = {
  /** Issues a code that is valid for one sign-in. Beyond the bound, the oldest code expires. */
  issueCode(lasts?: "ten minutes" | "until used"): Issued;
  /** Consumes a code; returns whether it was valid. */
  useCode(code: string): boolean;
  /** Opens a session. Beyond the bound, the oldest session ends. */
  open(): Opened;
  /** Returns the Unix time in milliseconds at which the session with both secrets ends; undefined if it does not exist. */
  endOf(secrets: SessionSecrets): number | undefined;
  end(secrets: SessionSecrets): void;
  /** Returns the numbers of sessions and codes. */
  figures(): SessionFigures;
};

/** Secrets of a session, which are only valid together. */
export type SessionSecrets = {
  /** Sent by a browser to every port of the host. */
  readonly cookie: string;
  /** Sent by pages of the console, in a header. */
  readonly key: string;
};
/** `expiresMs`: Unix time, or infinity. */
type Issued = { readonly secret: string; readonly expiresMs: number };
export type Opened = SessionSecrets & { readonly expiresMs: number };
export type SessionFigures = { readonly sessions: number; readonly codes: number };
/** Ends of sessions, as Unix time in milliseconds, by the digests of their secrets; oldest first. */
type SessionEnds = ReadonlyMap<string, number>;

export type SessionsDependencies = {
  readonly nowMs: () => number;
  /** Part of the digests: a new token invalidates stored sessions. */
  readonly token: string;
  /** Storage of sessions that survive the process; absent: they end with it. */
  readonly storage?: { read(): SessionEnds; write(ends: SessionEnds): void } | undefined;
};

export const MAX_SESSIONS = 100;
export const MAX_CODES = 100;
const SESSION_MS = 12 * 3_600_000;
const CODE_MS = 600_000;
const SECRET_BYTES = 32;

export function createSessions({ nowMs, token, storage }: SessionsDependencies): Sessions {
  const codes = createEnds(MAX_CODES, nowMs);
  const sessions = createEnds(MAX_SESSIONS, nowMs, storage);
  const digestOf = ({ cookie, key }: SessionSecrets) =>
    createHmac("sha256", token).update(`${cookie} ${key}`).digest("hex");
  return {
    issueCode(lasts = "ten minutes") {
      const secret = createSecret();
      const lastsMs = lasts === "until used" ? Number.POSITIVE_INFINITY : CODE_MS;
      return { secret, expiresMs: codes.add(hash("sha256", secret), lastsMs) };
    },
    useCode: (code) => codes.remove(hash("sha256", code)),
    open() {
      const secrets = { cookie: createSecret(), key: createSecret() };
      return { ...secrets, expiresMs: sessions.add(digestOf(secrets), SESSION_MS) };
    },
    endOf: (secrets) => sessions.endOf(digestOf(secrets)),
    end: (secrets) => void sessions.remove(digestOf(secrets)),
    figures: () => ({ sessions: sessions.count(), codes: codes.count() }),
  };
}

const createSecret = (): string => randomBytes(SECRET_BYTES).toString("base64url");

/** Creates a map of ends by digests of secrets, so that the time of a lookup reveals nothing about a secret. */
function createEnds(max: number, nowMs: () => number, storage?: SessionsDependencies["storage"]) {
  const ends = new Map(storage?.read());

  function dropExpired(): void {
    for (const [digest, expiresMs] of ends) if (expiresMs <= nowMs()) ends.delete(digest);
  }

  function endOf(digest: string): number | undefined {
    const expiresMs = ends.get(digest);
    return expiresMs !== undefined && expiresMs > nowMs() ? expiresMs : undefined;
  }

  return {
    add(digest: string, lastsMs: number): number {
      dropExpired();
      const [oldest] = ends.keys();
      if (ends.size >= max && oldest !== undefined) ends.delete(oldest);
      const expiresMs = nowMs() + lastsMs;
      ends.set(digest, expiresMs);
      storage?.write(ends);
      return expiresMs;
    },
    endOf,
    /** Removes an entry; returns whether it existed. */
    remove(digest: string): boolean {
      const wasGood = endOf(digest) !== undefined;
      if (ends.delete(digest)) storage?.write(ends);
      return wasGood;
    },
    count(): number {
      dropExpired();
      return ends.size;
    },
  };
}

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
  /** The largest file that is written is smaller. */
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
