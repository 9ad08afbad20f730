/**
 * Files next to lock files that name the process that holds the lock and its addresses. Only the lock itself
 * is proof.
 */
import { readFileSync, rmSync } from "node:fs";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { parseExternal, type TextBounds } from "../../platform/json/external.ts";
import { formOf } from "../../platform/json/form.ts";
import { type Static, Type } from "../../platform/json/schema.ts";

const BOUNDS: TextBounds = { maxCharacters: 4_096, maxDepth: 2, maxValues: 128 };

const Holder = Type.Object({
  pid: Type.Integer({ minimum: 1, maximum: 2 ** 31 }),
  /** Base URL of its API, once it serves. */
  url: Type.Optional(Type.String({ pattern: "^http://[\\w.:[\\]-]{1,256}$" })),
  /** Ports that it listens on. */
  ports: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: 64 })),
});
const HOLDER = formOf(Holder);

/** The process that holds a lock. */
export type LockHolder = Readonly<Static<typeof Holder>>;

const pathOf = (lockPath: string): string => `${lockPath}.holder`;

/** Called only by the holder of the lock. A failed write is ignored: the note is for error messages. */
export function writeLockHolder(lockPath: string, holder: LockHolder): void {
  try {
    writeWholeFile(pathOf(lockPath), JSON.stringify(holder), 0o600);
  } catch {}
}

export function removeLockHolder(lockPath: string): void {
  try {
    rmSync(pathOf(lockPath), { force: true });
  } catch {}
}

/** Returns the living process that the note names, if any. A killed process does not remove its note. */
export function readLockHolder(lockPath: string): LockHolder | undefined {
  try {
    const holder = parseExternal(readFileSync(pathOf(lockPath), "utf8"), HOLDER, BOUNDS);
    return isAlive(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** `process 4711 at http://127.0.0.1:4003`, in parentheses; empty for an unknown holder. */
export function lockHolderText(holder: LockHolder | undefined): string {
  if (holder === undefined) return "";
  return ` (process ${holder.pid}${holder.url === undefined ? "" : ` at ${holder.url}`})`;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
