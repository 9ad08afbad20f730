/**
 * The read transaction that all snapshots of one tick of the event loop share: beginning and ending a transaction takes as
 * long as finding a row (docs/decisions/0019-share-a-read-transaction-per-tick.md). It ends with its
 * tick. A client that is notified of a block sends its request in a later tick, whose transaction sees the block.
 */
import type { Database } from "../../store/engine/database.ts";
import type { Head } from "../head.ts";

export type TickTransaction = {
  /** Returns the head of the state that the reads of this tick see; undefined without a genesis block. */
  head(): Head | undefined;
  /** Ends the transaction of this tick, if any; must be called before the connection is closed. */
  end(): void;
};

export function createTickTransaction(database: Database): TickTransaction {
  // Deferred, so that a read-only connection can begin it; the first read fixes the state that all reads see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const select = database.prepare<Head>(
    "SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  let current: { readonly head: Head | undefined; readonly end: NodeJS.Immediate } | undefined;

  function readHead(): Head | undefined {
    begin.run();
    try {
      return select.get();
    } catch (error) {
      commit.run();
      throw error;
    }
  }

  function end(): void {
    if (!current) return;
    clearImmediate(current.end);
    current = undefined;
    commit.run();
  }

  return {
    head() {
      current ??= { head: readHead(), end: setImmediate(end) };
      return current.head;
    },
    end,
  };
}
