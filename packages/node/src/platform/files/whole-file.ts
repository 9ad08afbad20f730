/** Small files, replaced atomically. */
import { renameSync, writeFileSync } from "node:fs";

/** Replaces a file atomically: a reader finds the old text or the new one, also after a crash. */
export function writeWholeFile(path: string, text: string): void {
  writeFileSync(`${path}.part`, text, { flush: true });
  renameSync(`${path}.part`, path);
}
