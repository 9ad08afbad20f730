/** Finds the node that listens on a port of this machine, by the files that Linux shows of the processes of this user. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LockHolder, readLockHolder } from "./lock-holder.ts";

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
