/** Keys of rows that give their place in the document to others. */
import { useRef } from "preact/hooks";

/**
 * A row keeps its key as long as it is in the list; rows that are new have the keys of those that left. A full block
 * replaces a whole page: with the old elements that costs half, and the focus stays in the list.
 *
 * @param ids of the rows, each once
 * @returns a key for each, in their order
 */
export function useRowKeys(ids: readonly string[]): readonly number[] {
  const known = useRef<ReadonlyMap<string, number>>(new Map());
  const keys = rowKeys(known.current, ids);
  known.current = new Map(ids.map((id, index) => [id, keys[index]!]));
  return keys;
}

/** @param known keys of the rows as they were */
export function rowKeys(known: ReadonlyMap<string, number>, ids: readonly string[]): readonly number[] {
  const current = new Set(ids);
  const free = [...known].filter(([id]) => !current.has(id)).map(([, key]) => key);
  let next = Math.max(-1, ...known.values());
  return ids.map((id) => known.get(id) ?? free.shift() ?? ++next);
}
