/** Maps and sets that forget the entry that was added first, or was least recently used. */
/** Sets a value as the newest one; deletes the oldest one if there are more than `max`. */
export function setNewest<K, V>(entries: Map<K, V>, key: K, value: V, max: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > max) deleteOldest(entries);
}

export function deleteOldest<K>(entries: Map<K, unknown> | Set<K>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}

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
