/** The records that each of the last blocks wrote, as JSON text, for mirrors (docs/spec/feed.md). */
import type { Change } from "@uniknode/ledger";
import type { Database } from "../engine/database.ts";
import { toMembers } from "../state/json.ts";

/** Maximum number of blocks whose changes are stored. */
export const MAX_FEED_BLOCKS = 10_000;

/** Returns true if the database has changes of blocks. */
export const hasFeedChanges = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM feed_changes LIMIT 1").get() !== undefined;

/** The writer's side. Each function must be called in the transaction of the blocks. */
export type FeedChanges = {
  append(height: number, changes: readonly Change[]): void;
  /** Removes the changes of the blocks that are too far below the head. */
  prune(head: number): void;
  /** Removes the changes of the blocks above the height, which were reverted. */
  revertTo(height: number): void;
};

/**
 * Opens the table for writing. Empties the table and returns undefined if no changes are stored, because rows of an
 * earlier run would have a gap.
 *
 * @param depth number of blocks whose changes are stored; 0: none
 * @param head height of the chain
 */
export function openFeedChanges(database: Database, depth: number, head: number): FeedChanges | undefined {
  const last = database.prepare<{ height: number | null }>("SELECT max(height) AS height FROM feed_changes");
  const lastHeight = last.get()?.height ?? head;
  if (depth === 0 || lastHeight !== head) database.prepare("DELETE FROM feed_changes").run();
  if (depth === 0) return undefined;
  const insert = database.prepare("INSERT INTO feed_changes VALUES (?, ?)");
  const removeFrom = database.prepare("DELETE FROM feed_changes WHERE height >= ?");
  const removeBelow = database.prepare("DELETE FROM feed_changes WHERE height < ?");
  return {
    append: (height, changes) => void insert.run(height, toText(changes)),
    prune: (head) => void removeBelow.run(head - depth + 1),
    revertTo: (height) => void removeFrom.run(height + 1),
  };
}

/** Rows of table, key and members. A removed record has no members. */
const toText = (changes: readonly Change[]): string =>
  JSON.stringify(changes.map(({ table, key, after }) => [table, key, ...toMembers(table, after)]));

/** Returns the JSON text of a block's changes; undefined if they are not stored. */
export type ReadFeedChanges = (height: number) => string | undefined;

export function createFeedChangeReader(database: Database): ReadFeedChanges {
  const select = database.prepare<{ changes: string }>("SELECT changes FROM feed_changes WHERE height = ?");
  return (height) => select.get(height)?.changes;
}
