/**
 * The transaction that snapshots share which are asked for in one turn of the event loop: beginning and ending one takes
 * as long as finding a row (docs/decisions/0019-share-a-transaction-within-a-tick.md). It ends with the turn in
 * which it was begun, so that a client that learned of a block, and asks then, is answered by what was read later.
 */
import type { Database } from "../../store/engine/database.ts";
import type { Head } from "../head.ts";

export type Turns = {
  /** Of the state that reads of this turn see; undefined without a genesis block. */
  head(): Head | undefined;
  /** Ends the transaction of this turn, if it has one: before the connection is closed. */
  end(): void;
};

export function createTurns(database: Database): Turns {
  // Deferred, so that a connection that cannot write may begin it; the first read fixes what all of them see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const select = database.prepare<Head>(
    "SELECT id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  let turn: { readonly head: Head | undefined; readonly end: NodeJS.Immediate } | undefined;

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
    if (!turn) return;
    clearImmediate(turn.end);
    turn = undefined;
    commit.run();
  }

  return {
    head() {
      turn ??= { head: readHead(), end: setImmediate(end) };
      return turn.head;
    },
    end,
  };
}
