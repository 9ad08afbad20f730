/** Keys that let new rows reuse the DOM elements of removed rows. */
import { useRef } from "preact/hooks";

/**
 * A row keeps its key while it is in the list; new rows get the keys of removed rows. A full block replaces a whole page:
 * reusing the elements halves the cost, and the focus stays in the list.
 *
 * @param ids unique ids of the rows
 * @returns a key for each row, in order
 */
export function useRowKeys(ids: readonly string[]): readonly number[] {
  const known = useRef<ReadonlyMap<string, number>>(new Map());
  const keys = rowKeys(known.current, ids);
  known.current = new Map(ids.map((id, index) => [id, keys[index]!]));
  return keys;
}

/** @param known previous keys by id */
export function rowKeys(known: ReadonlyMap<string, number>, ids: readonly string[]): readonly number[] {
  const current = new Set(ids);
  const free = [...known].filter(([id]) => !current.has(id)).map(([, key]) => key);
  let next = Math.max(-1, ...known.values());
  return ids.map((id) => known.get(id) ?? free.shift() ?? ++next);
}
