/** Roots of the map of uniks after the rounds that changed it. */
import type { Database } from "../../store/engine/database.ts";
import { EMPTY_MAP } from "./map.ts";

/** Root of the map after a round, and its number of uniks. */
export type MapRoot = { readonly root: string; readonly uniks: number };

/** Rows that one transaction removes. */
const STEP_ROWS = 1_000;

export function createRoots(database: Database) {
  const last = database.prepare<MapRoot>(
    "SELECT root, uniks FROM unik_roots WHERE height <= ? ORDER BY height DESC LIMIT 1",
  );
  const put = database.prepare("INSERT OR REPLACE INTO unik_roots VALUES (?, ?, ?)");
  const remove = database.prepare(
    `DELETE FROM unik_roots WHERE height IN (SELECT height FROM unik_roots WHERE height > ? LIMIT ${STEP_ROWS})`,
  );
  return {
    /** Returns the root after the last round that ended at or below a height. */
    at: (height: number): MapRoot => last.get(height) ?? { root: EMPTY_MAP, uniks: 0 },
    put: (height: number, { root, uniks }: MapRoot) => void put.run(height, root, uniks),
    /** Removes some roots above a height; returns whether more may be left. */
    removeAbove: (height: number): boolean => remove.run(height).changes === STEP_ROWS,
  };
}
