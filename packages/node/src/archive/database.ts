/** The database file of a data folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ArchiveError } from "./archive-error.ts";

/** @throws {ArchiveError} ARCHIVE_MISSING */
export function databaseOf(data: string): string {
  const path = join(data, "node.sqlite");
  if (!existsSync(path)) {
    throw new ArchiveError("ARCHIVE_MISSING", `${data} has no chain; give the data folder with --data`);
  }
  return path;
}
