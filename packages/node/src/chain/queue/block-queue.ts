/** Work of the chain's only writer, in order. Blocks are read and verified before the writer reaches them. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { BatchPart } from "./block-batch.ts";

/** Other work that is done between two parts, such as a revert; it does not throw. */
export type Job = { readonly run: () => void };

export type BlockQueue = {
  add(entries: readonly (BatchPart | Job)[]): void;
  isBusy(): boolean;
  /** Settles when everything that was added is done. */
  idle(): Promise<void>;
};

export type BlockQueueDeps = {
  /** Begins the preparation of a part if it has not begun. */
  readonly prepare: (part: BatchPart) => void;
  /** Executes and commits prepared parts, all in one tick of the event loop. */
  readonly write: (parts: Iterable<BatchPart>) => void;
};

/** Maximum number of parts in one commit: about 2,000 empty blocks, or 2,400 transactions. */
const COMMIT_PARTS = 16;
/** Parts to prefetch (read and verify): enough to keep the verifier threads busy during a commit. */
export const PREFETCHED_PARTS = 40;

export function createBlockQueue({ prepare, write }: BlockQueueDeps): BlockQueue {
  const entries: (BatchPart | Job)[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (let entry = entries[0]; entry; entry = entries[0]) {
      prefetch();
      if (isPart(entry)) {
        await Promise.all(leadingParts(COMMIT_PARTS).map((part) => part.preparing));
        write(readyParts());
      } else {
        entries.shift();
        entry.run();
      }
      // Yields to messages of the verifier, timers and sockets between two commits.
      await nextTick();
    }
  }

  /** Parts before the next job. */
  function leadingParts(limit: number): BatchPart[] {
    const leading = entries.slice(0, limit);
    const end = leading.findIndex((entry) => !isPart(entry));
    return (end === -1 ? leading : leading.slice(0, end)) as BatchPart[];
  }

  function prefetch(): void {
    for (const part of leadingParts(PREFETCHED_PARTS)) prepare(part);
  }

  /** Removes the parts whose preparation has ended, and prefetches others. */
  function* readyParts(): Iterable<BatchPart> {
    for (let part = entries[0]; part && isPart(part) && part.prepared; part = entries[0]) {
      entries.shift();
      yield part;
      prefetch();
    }
  }

  return {
    add(added) {
      entries.push(...added);
      // The tick that adds a full block may have selected its transactions, and signed it.
      working ??= nextTick()
        .then(work)
        .finally(() => {
          working = undefined;
        });
    },
    isBusy: () => working !== undefined,
    idle: async () => working,
  };
}

const isPart = (entry: BatchPart | Job): entry is BatchPart => "batch" in entry;
