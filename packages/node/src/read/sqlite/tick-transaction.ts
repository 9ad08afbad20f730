/**
 * The read transaction that all snapshots of one tick of the event loop share: to begin and end one takes as long as to find
 * a row (docs/decisions/0019-share-a-read-transaction-per-tick.md). It ends with its tick. A client that is notified of a
 * block sends its request in a later tick, and is answered from a transaction that sees the block.
 */
import type { Database } from "../../store/engine/database.ts";
import type { Head } from "../head.ts";

export type TickTransaction = {
  /** Of the state that the reads of this tick see; undefined without a genesis block. */
  head(): Head | undefined;
  /** Ends the transaction of this tick, if there is one; to be called before the connection is closed. */
  end(): void;
};

export function createTickTransaction(database: Database): TickTransaction {
  // Deferred, so that a connection that cannot write may begin it; the first read fixes what all of them see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const select = database.prepare<Head>(
    "SELECT id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
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
