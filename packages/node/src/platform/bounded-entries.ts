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
export class Lru<K, V extends NonNullable<unknown>> {
  readonly #max: number;
  /** Least recently used first. */
  readonly #values = new Map<K, V>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the cached value, or the new one that `make` creates. */
  get(key: K, make: () => V): V {
    const value = this.#values.get(key) ?? make();
    setNewest(this.#values, key, value, this.#max);
    return value;
  }
}
