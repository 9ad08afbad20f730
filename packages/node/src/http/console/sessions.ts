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

export class Sessions {
  readonly #token: string;
  readonly #codes: Ends;
  readonly #sessions: Ends;

  constructor({ nowMs, token, storage }: SessionsDependencies) {
    this.#token = token;
    this.#codes = new Ends(MAX_CODES, nowMs);
    this.#sessions = new Ends(MAX_SESSIONS, nowMs, storage);
  }

  /** Issues a code that is valid for one sign-in. Beyond the bound, the oldest code expires. */
  issueCode(lasts: "ten minutes" | "until used" = "ten minutes"): Issued {
    const secret = createSecret();
    const lastsMs = lasts === "until used" ? Number.POSITIVE_INFINITY : CODE_MS;
    return { secret, expiresMs: this.#codes.add(hash("sha256", secret), lastsMs) };
  }

  /** Consumes a code; returns whether it was valid. */
  useCode(code: string): boolean {
    return this.#codes.remove(hash("sha256", code));
  }

  /** Opens a session. Beyond the bound, the oldest session ends. */
  open(): Opened {
    const secrets = { cookie: createSecret(), key: createSecret() };
    return { ...secrets, expiresMs: this.#sessions.add(this.#digestOf(secrets), SESSION_MS) };
  }

  /** Returns the Unix time in milliseconds at which the session with both secrets ends; undefined if it does not exist. */
  endOf(secrets: SessionSecrets): number | undefined {
    return this.#sessions.endOf(this.#digestOf(secrets));
  }

  end(secrets: SessionSecrets): void {
    this.#sessions.remove(this.#digestOf(secrets));
  }

  /** Returns the numbers of sessions and codes. */
  figures(): SessionFigures {
    return { sessions: this.#sessions.count(), codes: this.#codes.count() };
  }

  #digestOf({ cookie, key }: SessionSecrets): string {
    return createHmac("sha256", this.#token).update(`${cookie} ${key}`).digest("hex");
  }
}

const createSecret = (): string => randomBytes(SECRET_BYTES).toString("base64url");

/** Ends by digests of secrets, so that the time of a lookup reveals nothing about a secret. */
class Ends {
  readonly #max: number;
  readonly #nowMs: () => number;
  readonly #storage: SessionsDependencies["storage"];
  readonly #ends: Map<string, number>;

  constructor(max: number, nowMs: () => number, storage?: SessionsDependencies["storage"]) {
    this.#max = max;
    this.#nowMs = nowMs;
    this.#storage = storage;
    this.#ends = new Map(storage?.read());
  }

  add(digest: string, lastsMs: number): number {
    this.#dropExpired();
    const [oldest] = this.#ends.keys();
    if (this.#ends.size >= this.#max && oldest !== undefined) this.#ends.delete(oldest);
    const expiresMs = this.#nowMs() + lastsMs;
    this.#ends.set(digest, expiresMs);
    this.#storage?.write(this.#ends);
    return expiresMs;
  }

  endOf(digest: string): number | undefined {
    const expiresMs = this.#ends.get(digest);
    return expiresMs !== undefined && expiresMs > this.#nowMs() ? expiresMs : undefined;
  }

  /** Removes an entry; returns whether it existed. */
  remove(digest: string): boolean {
    const wasGood = this.endOf(digest) !== undefined;
    if (this.#ends.delete(digest)) this.#storage?.write(this.#ends);
    return wasGood;
  }

  count(): number {
    this.#dropExpired();
    return this.#ends.size;
  }

  #dropExpired(): void {
    for (const [digest, expiresMs] of this.#ends) if (expiresMs <= this.#nowMs()) this.#ends.delete(digest);
  }
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
export class SessionFile {
  readonly #path: string;
  readonly #logger: Pick<Logger, "warn">;

  constructor(folder: string, logger: Pick<Logger, "warn">) {
    this.#path = join(folder, SESSION_FILE);
    this.#logger = logger;
  }

  /** Returns the ends of the sessions by their digests. */
  read(): Map<string, number> {
    const path = this.#path;
    try {
      return new Map(existsSync(path) ? readJsonFile(path, FILE) : []);
    } catch (err) {
      this.#logger.warn({ err, path }, "failed to read the console sessions: users must sign in again");
      return new Map();
    }
  }

  write(ends: ReadonlyMap<string, number>): void {
    const path = this.#path;
    try {
      writeWholeFile(path, `${JSON.stringify([...ends])}\n`, OWNER_ONLY);
    } catch (err) {
      this.#logger.warn(
        { err, path },
        "failed to store the console sessions: a restart will sign out all users",
      );
    }
  }
}
