import { setNewest } from "./bounded-entries.ts";

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
      const value = values.get(key) ?? make();
      setNewest(values, key, value, max);
      return value;
    },
  };
}
