/** Small files beside the database. */
import { renameSync, writeFileSync } from "node:fs";

/** Writes a file so that whoever reads it, be it after a crash, finds the old text or the new one, and no half of it. */
export function writeWholeFile(path: string, text: string): void {
  writeFileSync(`${path}.part`, text, { flush: true });
  renameSync(`${path}.part`, path);
}
