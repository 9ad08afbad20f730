/** A data disk that only one process has: a file system in memory, in a mount namespace. */
import { spawnSync } from "node:child_process";

const NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"];

/** The command behind which a program finds an empty disk at the folder. */
export const throughDisk = (folder: string, mib: number): readonly string[] => [
  ...NAMESPACE,
  ...["sh", "-c", `mount -t tmpfs -o size=${mib}m tmpfs "$0" && exec "$@"`, folder],
];

/** The folder of that disk, as other processes reach it. */
export const reachedDisk = (pid: number, folder: string): string => `/proc/${pid}/root${folder}`;

/** What this machine lacks for such a disk, if anything. */
export function missingForDisk(): string | undefined {
  const [command, ...rest] = NAMESPACE;
  const tried = spawnSync(command!, [...rest, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8" });
  if (tried.error) return `no mount namespace (${tried.error.message})`;
  return tried.status === 0 ? undefined : `no mount namespace (${tried.stderr.trim()})`;
}
