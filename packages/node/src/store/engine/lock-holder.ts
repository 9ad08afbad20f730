/**
 * Finds the process that holds a lock or a port. Files next to lock files name the process that holds the lock and its addresses; only
 * the lock itself is proof. The node that listens on a port is found by the files that Linux shows of the processes of this user.
 */
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** Lists of all sockets, one a line. */
const SOCKET_LISTS = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTENING = "0A";
/** Position of a member in a line. */
const LOCAL_ADDRESS = 1;
const STATE = 3;
const INODE = 9;

/** Returns another node that listens on the port; undefined if there is none, or the system does not show it. */
export function portHolder(port: number): LockHolder | undefined {
  const sockets = new Set(SOCKET_LISTS.flatMap((path) => listenersIn(path, port)));
  if (sockets.size === 0) return undefined;
  for (const pid of listOf("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const files = openFiles(pid);
    if (!files.some((file) => sockets.has(file))) continue;
    const database = files.find((file) => file.endsWith("/node.sqlite"));
    return database === undefined
      ? undefined
      : { pid: Number(pid), ...readLockHolder(join(dirname(database), "lock.sqlite")) };
  }
  return undefined;
}

/** Returns the names of the sockets that listen on the port, as `/proc` shows open files. */
function listenersIn(path: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return textOf(path)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((members) => members[STATE] === LISTENING && members[LOCAL_ADDRESS]?.endsWith(suffix))
    .map((members) => `socket:[${members[INODE]}]`);
}

function openFiles(pid: string): string[] {
  const folder = `/proc/${pid}/fd`;
  return listOf(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      return [];
    }
  });
}

function listOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
