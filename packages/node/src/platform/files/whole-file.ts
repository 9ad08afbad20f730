/** Small files, replaced atomically. */
import { renameSync, writeFileSync } from "node:fs";

/**
 * Replaces a file atomically: a reader sees the old text or the new one, even after a crash.
 *
 * @param mode of the file; defaults to the mode that the process gives to new files
 */
export function writeWholeFile(path: string, text: string, mode?: number): void {
  writeFileSync(`${path}.part`, text, { flush: true, ...(mode !== undefined && { mode }) });
  renameSync(`${path}.part`, path);
}
