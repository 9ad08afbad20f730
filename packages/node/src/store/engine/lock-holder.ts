/**
 * Files next to lock files that name the process that holds the lock and its addresses. Only the lock itself
 * is proof.
 */
import { readFileSync, rmSync } from "node:fs";
import { writeWholeFile } from "../../platform/files/whole-file.ts";

/** The process that holds a lock. */
export type LockHolder = {
  readonly pid: number;
  /** Base URL of its API, once it serves. */
  readonly url?: string;
  /** Ports that it listens on. */
  readonly ports?: readonly number[];
};

const MAX_BYTES = 4_096;
const URL_FORM = /^http:\/\/[\w.:[\]-]{1,256}$/;

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
    const text = readFileSync(pathOf(lockPath), "utf8");
    const holder = text.length > MAX_BYTES ? undefined : toHolder(JSON.parse(text));
    return holder !== undefined && isAlive(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** Validated by hand, because a starting node does not load a schema library. */
function toHolder(note: unknown): LockHolder | undefined {
  const { pid, url, ports } = Object(note) as Record<string, unknown>;
  if (!isInteger(pid, 2 ** 31)) return undefined;
  return {
    pid,
    ...(typeof url === "string" && URL_FORM.test(url) && { url }),
    ...(Array.isArray(ports) && { ports: ports.filter((port) => isInteger(port, 65_535)) }),
  };
}

const isInteger = (value: unknown, maximum: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= maximum;

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
