/**
 * Who is signed in at the console. A code signs in once; a session lasts for hours and is named by a cookie. Both are kept in
 * memory, by their digests, and end with the process (docs/decisions/0033-sessions-of-the-console.md).
 */
import { hash, randomBytes } from "node:crypto";

export type Sessions = {
  /** A code for a link, good for one sign-in. Beyond the bound the oldest code ends. */
  issueCode(lasts?: "ten minutes" | "until used"): Issued;
  /** Whether it was a good code; then it is used up. */
  useCode(code: string): boolean;
  /** Beyond the bound the oldest session ends. */
  open(): Issued;
  /** When the session of that secret ends, Unix time in milliseconds; undefined when there is none. */
  endOf(secret: string): number | undefined;
  end(secret: string): void;
  /** How many there are. */
  figures(): SessionFigures;
};

/** `expiresMs`: Unix time, or infinity. */
export type Issued = { readonly secret: string; readonly expiresMs: number };
export type SessionFigures = { readonly sessions: number; readonly codes: number };

export const MAX_SESSIONS = 100;
export const MAX_CODES = 100;
const SESSION_MS = 12 * 3_600_000;
const CODE_MS = 600_000;
const SECRET_BYTES = 32;

export function createSessions(nowMs: () => number): Sessions {
  const codes = createSecrets(MAX_CODES, nowMs);
  const sessions = createSecrets(MAX_SESSIONS, nowMs);
  return {
    issueCode: (lasts = "ten minutes") =>
      codes.issue(lasts === "until used" ? Number.POSITIVE_INFINITY : CODE_MS),
    useCode: (code) => codes.remove(code) !== undefined,
    open: () => sessions.issue(SESSION_MS),
    endOf: sessions.endOf,
    end: (secret) => void sessions.remove(secret),
    figures: () => ({ sessions: sessions.count(), codes: codes.count() }),
  };
}

/** Secrets by their digests: what a lookup takes says nothing about them. */
function createSecrets(max: number, nowMs: () => number) {
  const ends = new Map<string, number>();
  const digestOf = (secret: string) => hash("sha256", secret);

  function dropExpired(): void {
    for (const [digest, expiresMs] of ends) if (expiresMs <= nowMs()) ends.delete(digest);
  }

  function endOf(secret: string): number | undefined {
    const expiresMs = ends.get(digestOf(secret));
    return expiresMs !== undefined && expiresMs > nowMs() ? expiresMs : undefined;
  }

  return {
    issue(lastsMs: number): Issued {
      dropExpired();
      const [oldest] = ends.keys();
      if (ends.size >= max && oldest !== undefined) ends.delete(oldest);
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      const expiresMs = nowMs() + lastsMs;
      ends.set(digestOf(secret), expiresMs);
      return { secret, expiresMs };
    },
    endOf,
    remove(secret: string): number | undefined {
      const expiresMs = endOf(secret);
      ends.delete(digestOf(secret));
      return expiresMs;
    },
    count(): number {
      dropExpired();
      return ends.size;
    },
  };
}
