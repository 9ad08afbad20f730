/** Keys that let new rows reuse the DOM elements of removed rows. */
import { useRef } from "preact/hooks";

/** Key of each row by its id, in the order of the rows. */
export type RowKeys = ReadonlyMap<string, number>;

/**
 * A row keeps its key while it is in the list; new rows get the keys of removed rows. A full block replaces a whole page:
 * reusing the elements halves the cost, and the focus stays in the list.
 *
 * @param ids unique ids of the rows
 */
export function useRowKeys(ids: readonly string[]): RowKeys {
  const known = useRef<RowKeys>(new Map());
  known.current = rowKeys(known.current, ids);
  return known.current;
}

/** @param known previous keys */
export function rowKeys(known: RowKeys, ids: readonly string[]): RowKeys {
  const current = new Set(ids);
  const free = [...known].filter(([id]) => !current.has(id)).map(([, key]) => key);
  let next = Math.max(-1, ...known.values());
  return new Map(ids.map((id) => [id, known.get(id) ?? free.shift() ?? ++next]));
}
