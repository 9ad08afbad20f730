/** Checks of the machine: runtime, clock, disk, data folder, file limits and memory. */
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { inspectDatabase } from "../../archive/integrity/damage.ts";
import { MAX_OFFSET_MS, measureOffset } from "../../platform/clock/check.ts";
import { chooseVerify } from "../../verification/choose-verify.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const GIGABYTE = 2 ** 30;
const MIN_DISK_BYTES = GIGABYTE;
const GOOD_DISK_BYTES = 5 * GIGABYTE;
const GOOD_MEMORY_BYTES = GIGABYTE;
/** Peers, clients, webhooks and the database each hold some. */
const GOOD_OPEN_FILES = 4_096;

export const checkRuntime = (): Finding =>
  // An older one does not come so far: the program says so before it loads anything.
  ok("runtime", `Node.js ${process.versions.node}, ${process.platform} ${process.arch}`);

export async function checkSignatures(accelerator: string | undefined): Promise<Finding> {
  const { name, refusal } = await chooseVerify(accelerator);
  return refusal
    ? warn(
        "signatures",
        `${name}: ${refusal.message}`,
        "see docs/guides/accelerator.md; the node works without it",
      )
    : ok("signatures", name);
}

export async function checkTime(servers: readonly string[]): Promise<Finding> {
  if (servers.length === 0) {
    return ok("clock", "not compared: only a known network, or --time-servers, names time servers");
  }
  const reasons: string[] = [];
  for (const server of servers) {
    try {
      const { signal } = new AbortController();
      const offsetMs = await measureOffset(server, { nowMs: Date.now, signal });
      const text = `${Math.abs(offsetMs)} ms ${offsetMs > 0 ? "behind" : "ahead of"} ${server}`;
      return Math.abs(offsetMs) <= MAX_OFFSET_MS
        ? ok("clock", text)
        : fail("clock", text, "switch time synchronisation on, such as with timedatectl set-ntp true");
    } catch (error) {
      reasons.push(`${server}: ${(error as Error).message}`);
    }
  }
  return warn(
    "clock",
    `no time server answered (${reasons.join("; ")})`,
    "let UDP port 123 out, or name other --time-servers",
  );
}

export function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(existingFolder(folder));
  const freeBytes = bavail * bsize;
  const text = `${(freeBytes / GIGABYTE).toFixed(1)} GiB free for ${folder}`;
  if (freeBytes < MIN_DISK_BYTES)
    return fail("disk", text, "free some space, or choose another disk with --data");
  return freeBytes < GOOD_DISK_BYTES
    ? warn("disk", text, "free some space soon: the chain grows")
    : ok("disk", text);
}

export function checkFolder(folder: string): Finding {
  const above = existingFolder(folder);
  if (!statSync(above).isDirectory()) {
    return fail("data folder", `${above} is a file`, "choose another folder with --data");
  }
  try {
    accessSync(above, constants.W_OK | constants.X_OK);
  } catch {
    return fail(
      "data folder",
      `${above} is not writable for this user`,
      "change its owner, or choose another with --data",
    );
  }
  const path = join(folder, "node.sqlite");
  if (!existsSync(path)) return ok("data folder", `${folder} is empty: the first start makes the chain`);
  try {
    const { damage } = inspectDatabase(path);
    return damage === undefined
      ? ok("data folder", `${folder} has a chain`)
      : fail("data folder", `${path} is damaged: ${damage}`, NEW_CHAIN);
  } catch (error) {
    return fail("data folder", `${path}: ${(error as Error).message}`, NEW_CHAIN);
  }
}

const NEW_CHAIN =
  "move the folder away; then fetch the chain again, or restore a snapshot into an empty folder (docs/guides/snapshots.md)";

export function checkFileLimit(): Finding {
  const limit = openFileLimit();
  if (limit === undefined) return ok("open files", "the limit of this system is not known");
  return limit >= GOOD_OPEN_FILES
    ? ok("open files", `${limit} at most`)
    : warn(
        "open files",
        `${limit} at most`,
        `raise it: ulimit -n ${GOOD_OPEN_FILES}, or LimitNOFILE= of the service`,
      );
}

export function checkMemory(): Finding {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || totalmem());
  const text = `${(bytes / GIGABYTE).toFixed(1)} GiB`;
  return bytes >= GOOD_MEMORY_BYTES
    ? ok("memory", text)
    : warn("memory", text, "give the node 1 GiB or more");
}

/** The folder itself, or the nearest above it that is there. */
function existingFolder(folder: string): string {
  let path = resolve(folder);
  while (!existsSync(path)) path = dirname(path);
  return path;
}

/** Undefined where the system does not tell. */
function openFileLimit(): number | undefined {
  try {
    const [, text] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))!;
    return text === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(text);
  } catch {
    return undefined;
  }
}
