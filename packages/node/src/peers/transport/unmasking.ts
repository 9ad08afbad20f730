/**
 * Decides how `ws` unmasks frames, before it is loaded: with the addon `bufferutil`, or in JavaScript. A damaged
 * library ends the process when it is loaded or called, so its file must have the recorded checksum.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CheckedFiles } from "../../platform/files/checked-files.ts";

const SUMS = fileURLToPath(new URL("../../../native/bufferutil-sha256sums", import.meta.url));
const ADDON = `${process.platform}-${process.arch}/bufferutil.node`;

/**
 * Returns the reason why frames are unmasked in JavaScript; undefined if the addon is intact, or does not exist for this
 * platform.
 *
 * @param folder holds the files of `bufferutil` by platform
 */
export function findFault(folder = installedFolder()): string | undefined {
  try {
    const files = new CheckedFiles(folder, SUMS);
    if (files.has(ADDON)) files.read(ADDON);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const installedFolder = () =>
  join(dirname(createRequire(import.meta.url).resolve("bufferutil/package.json")), "prebuilds");

/** Reason why this process does not use the addon. */
export const fault = findFault();
// `ws` reads it when it is loaded.
if (fault !== undefined) process.env.WS_NO_BUFFER_UTIL = "1";
