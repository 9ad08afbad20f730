/** Deletes the entry that was added first. */
export function deleteOldest<K>(entries: Map<K, unknown> | Set<K>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
