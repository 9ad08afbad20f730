/** Checks the pages of the database: SQLite walks each table with its indexes. */
import type { Database } from "../../store/engine/database.ts";

/** @returns the damage of the first damaged table */
export function structureDamage(database: Database): string | undefined {
  const tables = database
    .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    .all();
  // One table at a time: a longer read would keep the write-ahead log from being emptied.
  const check = database.prepare<{ quick_check: string }>("SELECT quick_check FROM pragma_quick_check(?)");
  for (const { name } of tables) {
    const verdict = check.get(name)?.quick_check ?? "quick_check returned no result";
    if (verdict !== "ok") return `table ${name}: ${verdict.split("\n").at(-1)}`;
  }
  return undefined;
}
