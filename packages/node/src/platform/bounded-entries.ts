/** Maps and sets that forget the entry that was added first. */

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
