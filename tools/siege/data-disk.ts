/** Data disk of a single process: a file system in memory, in a mount namespace. */
import { spawnSync } from "node:child_process";
import { present } from "../../packages/node/src/platform/present.ts";

const NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"];

/** Command prefix that runs a program with an empty disk at the folder. */
export const throughDisk = (folder: string, mib: number): readonly string[] => [
  ...NAMESPACE,
  ...["sh", "-c", `mount -t tmpfs -o size=${mib}m tmpfs "$0" && exec "$@"`, folder],
];

/** Path of that disk for other processes. */
export const reachedDisk = (pid: number, folder: string): string => `/proc/${pid}/root${folder}`;

/** Returns the requirement for such a disk that this machine lacks, if any. */
export function missingForDisk(): string | undefined {
  const [command, ...rest] = NAMESPACE;
  const tried = spawnSync(present(command), [...rest, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], {
    encoding: "utf8",
  });
  if (tried.error) return `no mount namespace (${tried.error.message})`;
  return tried.status === 0 ? undefined : `no mount namespace (${tried.stderr.trim()})`;
}
