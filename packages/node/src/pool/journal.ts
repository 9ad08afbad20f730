/** Writes the changes of the pool to disk, many in one transaction. */
import type { SealedTransaction } from "@uniknode/protocol";
import type { PoolStore } from "../store/pool.ts";

export type Journal = {
  added(transaction: SealedTransaction): void;
  removed(id: string): void;
  /** Settles once everything reported so far is on disk. */
  flushed(): Promise<void>;
  /** Writes what is outstanding now. */
  flush(): void;
};

/** How long changes are collected: one commit serves all requests of this time. */
const COLLECT_MS = 5;

export function createJournal(store: PoolStore): Journal {
  let added = new Map<string, Uint8Array>();
  let removed = new Set<string>();
  let scheduled: Promise<void> | undefined;

  function flush(): void {
    if (added.size === 0 && removed.size === 0) return;
    const change = { added: [...added].map(([id, bytes]) => ({ id, bytes })), removed: [...removed] };
    added = new Map();
    removed = new Set();
    store.write(change);
  }

  function flushed(): Promise<void> {
    scheduled ??= new Promise((resolve, reject) => {
      setTimeout(() => {
        scheduled = undefined;
        try {
          flush();
          resolve();
        } catch (error) {
          reject(error);
        }
      }, COLLECT_MS);
    });
    return scheduled;
  }

  return {
    added({ data, bytes }) {
      removed.delete(data.id);
      added.set(data.id, bytes);
    },
    removed(id) {
      // A row that was never written need not be deleted; one that was is.
      added.delete(id);
      removed.add(id);
    },
    flushed,
    flush,
  };
}
