/** Checks the machine: runtime, clock, disk, data folder, file limits and memory. */
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { inspectDatabase } from "../../archive/integrity/damage.ts";
import { MAX_OFFSET_MS, measureOffset } from "../../platform/clock/clock-check.ts";
import { dataErrorOf } from "../../store/engine/data-error.ts";
import { MigrationError } from "../../store/engine/migrations.ts";
import { selectBackend } from "../../verification/native.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const GIGABYTE = 2 ** 30;
const MIN_DISK_BYTES = GIGABYTE;
const GOOD_DISK_BYTES = 5 * GIGABYTE;
const GOOD_MEMORY_BYTES = GIGABYTE;
/** Peers, clients, webhooks and the database need open files. */
const GOOD_OPEN_FILES = 4_096;

export const checkRuntime = (): Finding =>
  // An older version never gets here: the program checks the version before it loads modules.
  ok("runtime", `Node.js ${process.versions.node}, ${process.platform} ${process.arch}`);

export async function checkSignatures(): Promise<Finding> {
  const { name, refusal } = await selectBackend();
  return refusal
    ? warn(
        "signatures",
        `${name}: ${refusal.message}`,
        "see docs/guides/signatures.md; the node works without it",
      )
    : ok("signatures", name);
}

export async function checkTime(servers: readonly string[]): Promise<Finding> {
  if (servers.length === 0) {
    return ok("clock", "not checked: no time servers without a known network or --time-servers");
  }
  const reasons: string[] = [];
  for (const server of servers) {
    try {
      const { signal } = new AbortController();
      const offsetMs = await measureOffset(server, { nowMs: Date.now, signal });
      const text = `${Math.abs(offsetMs)} ms ${offsetMs > 0 ? "behind" : "ahead of"} ${server}`;
      return Math.abs(offsetMs) <= MAX_OFFSET_MS
        ? ok("clock", text)
        : fail("clock", text, "enable time synchronisation, for example with timedatectl set-ntp true");
    } catch (error) {
      reasons.push(`${server}: ${(error as Error).message}`);
    }
  }
  return warn(
    "clock",
    `no time server responded (${reasons.join("; ")})`,
    "allow outgoing UDP to port 123, or give other servers with --time-servers",
  );
}

export function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(existingFolder(folder));
  const freeBytes = bavail * bsize;
  const text = `${(freeBytes / GIGABYTE).toFixed(1)} GiB free for ${folder}`;
  if (freeBytes < MIN_DISK_BYTES)
    return fail("disk", text, "free some space, or choose another disk with --data");
  return freeBytes < GOOD_DISK_BYTES
    ? warn("disk", text, "free some space soon, because the chain grows")
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
      "change its owner, or choose another folder with --data",
    );
  }
  const path = join(folder, "node.sqlite");
  if (!existsSync(path)) return ok("data folder", `${folder} is empty: the first start creates the chain`);
  try {
    const gigabytes = statSync(path).size / GIGABYTE;
    if (gigabytes >= 1)
      process.stderr.write(`reading the database of ${gigabytes.toFixed(1)} GiB takes some minutes ...\n`);
    const { damage } = inspectDatabase(path);
    return damage === undefined
      ? ok("data folder", `${folder} has a chain`)
      : fail("data folder", `${path} is damaged: ${damage}`, NEW_CHAIN);
  } catch (error) {
    return ofFailure(path, error as Error);
  }
}

/** An error of the file system or of a lock is not damage: the folder has the webhooks of the node. */
function ofFailure(path: string, error: Error): Finding {
  if (!(error instanceof MigrationError)) {
    const named = dataErrorOf(error, path, NEW_CHAIN) as Error;
    const text = named === error ? `${path}: ${error.message}` : named.message;
    return fail("data folder", text, "keep the folder: the chain is not known to be damaged");
  }
  const { code, fact, nextStep } = error;
  return (code === "MIGRATION_PENDING" ? warn : fail)("data folder", fact, nextStep);
}

const NEW_CHAIN =
  "move the folder away, then fetch the chain again or restore a snapshot into an empty folder (docs/guides/snapshots.md)";

export function checkFileLimit(): Finding {
  const limit = openFileLimit();
  if (limit === undefined) return ok("open files", "the limit of this system is unknown");
  return limit >= GOOD_OPEN_FILES
    ? ok("open files", `${limit} at most`)
    : warn(
        "open files",
        `${limit} at most`,
        `raise the limit: ulimit -n ${GOOD_OPEN_FILES}, or LimitNOFILE= of the service`,
      );
}

export function checkMemory(): Finding {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || totalmem());
  const text = `${(bytes / GIGABYTE).toFixed(1)} GiB`;
  return bytes >= GOOD_MEMORY_BYTES
    ? ok("memory", text)
    : warn("memory", text, "give the node 1 GiB or more");
}

/** Returns the folder, or its nearest existing ancestor. */
function existingFolder(folder: string): string {
  let path = resolve(folder);
  while (!existsSync(path)) path = dirname(path);
  return path;
}

/** Returns undefined if the system does not expose the limit. */
function openFileLimit(): number | undefined {
  try {
    const [, text] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (text === undefined) return undefined;
    return text === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(text);
  } catch {
    return undefined;
  }
}
