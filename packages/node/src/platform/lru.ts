import { deleteOldest } from "./oldest.ts";

/** A cache of at most `max` values: a new value replaces the one that was least recently used. */
export type Lru<K, V> = {
  /** Returns the cached value, or the new one that `make` creates. */
  get(key: K, make: () => V): V;
};

export function createLru<K, V extends NonNullable<unknown>>(max: number): Lru<K, V> {
  /** Least recently used first. */
  const values = new Map<K, V>();
  return {
    get(key, make) {
      const cached = values.get(key);
      const value = cached ?? make();
      if (cached !== undefined) values.delete(key);
      else if (values.size >= max) deleteOldest(values);
      values.set(key, value);
      return value;
    },
  };
}
