/** Migrations of a later version. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const MIGRATIONS = fileURLToPath(new URL("../../src/store/migrations", import.meta.url));

/** Creates a folder with the migrations of this version and a later one: tokens get the number 7. */
export function laterMigrations(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-migrations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(MIGRATIONS, folder, { recursive: true });
  writeFileSync(
    join(folder, "900-later.sql"),
    "ALTER TABLE tokens ADD COLUMN number INTEGER;\nUPDATE tokens SET number = 7;\n",
  );
  return folder;
}
