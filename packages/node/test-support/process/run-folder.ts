/** The temporary folder of a run of tests, which is removed at its end, and its parent, whose files stay. */
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, dirname } from "node:path";

/** Begins the name of the folder. */
export const RUN_PREFIX = "uniknode-run-";

/** This user of Debian owns no files. */
export const UNPRIVILEGED = 65_534;
/** User of database servers, which refuse to run as root. */
export const SERVER_IDENTITY = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};

/** Returns a temporary folder that servers can enter: `TMPDIR` can be below a folder that only root can enter. */
export const findOpenFolder = (): string | undefined =>
  [tmpdir(), "/tmp", "/var/tmp"].find(
    (folder) => spawnSync("test", ["-x", folder], { ...SERVER_IDENTITY, cwd: "/" }).status === 0,
  );

/** Returns the temporary folder for files that stay when the run ends. */
export const lastingFolder = (folder = tmpdir()): string =>
  basename(folder).startsWith(RUN_PREFIX) ? dirname(folder) : folder;
