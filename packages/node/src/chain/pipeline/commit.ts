/**
 * Makes executed blocks durable, and reverts blocks: applies undo records from the head down, or removes the blocks whose signatures
 * were not checked (decision 39). All effects of a block are in one database transaction, so that state and chain never disagree;
 * several blocks may share a transaction, and a revert is one.
 */
import type { Change, Wallet } from "@uniknode/ledger";
import type { Block, BlockHeader, Network, Slots } from "@uniknode/protocol";
import type { Event } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import type { Write } from "../../store/state/state.ts";
import { type ChainChange, ChainError } from "../outcome.ts";
import { type ChainStores, storeGenesis } from "../stores.ts";
import type { ReceivedBlock } from "./receive.ts";

/** A block that was applied to the state, with its traces. */
export type ExecutedBlock = {
  readonly block: ReceivedBlock;
  /** The signatures of the block were assumed to be valid. */
  readonly isAssumed: boolean;
  readonly changes: readonly Change[];
  /** Events for the event log. */
  readonly events: readonly Event[];
};

export type CommitOptions = {
  /** Number of blocks below the head that stay revertible. */
  readonly undoDepth: number;
  /** Returns false for a block that gets no undo record. If absent, each block gets one. */
  readonly needsUndo?: (header: BlockHeader) => boolean;
};

/**
 * Commits blocks in order of height: blocks, transactions, changed records, undo records, history, events. Undo records
 * are always those of the last blocks, without a gap: older ones could not be used.
 *
 * @throws {ChainError} CHAIN_PIN_FAILED
 */
export function commitBlocks(
  stores: ChainStores,
  executed: readonly ExecutedBlock[],
  { undoDepth, needsUndo = () => true }: CommitOptions,
): void {
  const last = executed.at(-1);
  if (!last) return;
  let lowestUndo = last.block.header.height - undoDepth + 1;
  stores.database.transaction(() => {
    for (const { block, changes, events } of executed) {
      const { header } = block;
      stores.blocks.append(block);
      stores.transactions.append(block);
      if (needsUndo(header)) stores.undo.append(header.height, changes);
      else lowestUndo = Math.max(lowestUndo, header.height + 1);
      stores.feed?.append(header.height, changes);
      stores.history?.append(header.height, changes);
      stores.events.append(events);
    }
    stores.assumption.extended(executed);
    stores.state.flush();
    stores.undo.prune(lowestUndo);
    stores.feed?.prune(last.block.header.height);
  });
}

/**
 * Returns true if the block may have to be reverted.
 *
 * @param targetHeight height that the chain will reach, as far as known
 */
export type NeedsUndo = (header: BlockHeader, targetHeight: number) => boolean;

/**
 * A block needs no undo record if more than `undoDepth` blocks will follow it, and if there was time for them: a claim
 * of peers alone must not prevent a revert (decision 58).
 *
 * @param deps `now` returns milliseconds since 1970
 */
export const createUndoRule =
  ({
    undoDepth,
    slots,
    now,
  }: Pick<CommitOptions, "undoDepth"> & { readonly slots: Slots; readonly now: () => number }): NeedsUndo =>
  ({ height, timestamp }, targetHeight) =>
    height + undoDepth >= targetHeight ||
    slots.slotAt(timestamp) + undoDepth >= slots.slotAt(slots.timeAt(now()));

type RevertOptions = {
  /** Height of the new head. */
  readonly target: number;
  /** Maximum number of transactions to return: the capacity of a pool. If there are more, the newest are omitted. */
  readonly maxReturned: number;
  /** `wallets` are the wallets that the block had changed, as they are after the revert, by ascending address. */
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
};

/** Names of the events that `eventsOfRevert` creates. */
const REVERT_EVENTS = ["transaction.reverted", "block.reverted", "wallet.saved"];

/**
 * Reverts every block above the target. Readers of the database see the whole revert or nothing.
 *
 * @throws {ChainError} CHAIN_UNDO_MISSING when the undo records do not reach the target
 */
export function revertBlocks(stores: ChainStores, options: RevertOptions): ChainChange {
  const { database, blocks, transactions, state, undo, feed, history, events, pool } = stores;
  const { target, maxReturned, eventsOfRevert } = options;
  const head = present(blocks.head(), "the head of the chain").height;
  const isRecorded = isRevertRecorded(events);
  return database.transaction(() => {
    for (let height = head; height > target; height--) {
      const writes = undo.read(height);
      if (!writes) {
        throw new ChainError("CHAIN_UNDO_MISSING", `block ${height} can no longer be reverted`);
      }
      state.write(writes);
      history?.remove(height, writes);
      if (isRecorded) {
        const block = present(blocks.block(height), `block ${height}`);
        const wallets = walletsOf(writes).map((wallet) => withHoldings(state, wallet));
        events.append(eventsOfRevert(block, wallets));
      }
    }
    state.flush();
    const returned = transactions.sealedFrom(target + 1, maxReturned);
    // The pool writes them later: a crash before that would lose them. Each is placed before the previous one.
    const added = returned
      .toReversed()
      .map(({ data, bytes }) => ({ id: data.id, bytes, place: "first" as const }));
    pool.write({ added, removed: [] });
    transactions.removeFrom(target + 1);
    blocks.removeFrom(target + 1);
    undo.removeFrom(target + 1);
    feed?.revertTo(target);
    history?.revertTo(target);
    const newHead = present(blocks.header(target), `block ${target}`);
    return { head: newHead, applied: [], revertedBlocks: head - target, returned };
  });
}

type DiscardOptions = Omit<RevertOptions, "target" | "maxReturned"> & {
  readonly network: Network;
  readonly genesis: Block;
};

/**
 * Reverts the unchecked blocks. If the undo records do not reach that far, it removes every block above the
 * genesis block; a supervisor may end the process meanwhile, so that the next start must continue. Tables outside the chain do not
 * change. The transactions are not returned to the pool, because their signatures may be wrong. The pin counts as failed afterwards.
 */
export function discardUnchecked(stores: ChainStores, options: DiscardOptions): ChainChange {
  const { database, assumption, blocks, undo } = stores;
  const { eventsOfRevert } = options;
  const from = assumption.uncheckedFrom();
  if (from !== undefined && !undo.has(from)) assumption.refuted();
  return database.transaction(() => {
    const head = present(blocks.head(), "the head of the chain");
    assumption.failed();
    if (from === undefined) return { head, applied: [], revertedBlocks: 0, returned: [] };
    if (!undo.has(from)) return returnToGenesis(stores, options);
    return revertBlocks(stores, { target: from - 1, eventsOfRevert, maxReturned: 0 });
  });
}

function returnToGenesis(
  stores: ChainStores,
  { network, genesis, eventsOfRevert }: DiscardOptions,
): ChainChange {
  const { blocks, transactions, state, undo, feed, history, events } = stores;
  const { height } = present(blocks.head(), "the head of the chain");
  if (isRevertRecorded(events)) {
    for (let top = height; top > 1; top--) {
      events.append(eventsOfRevert(present(blocks.block(top), `block ${top}`), []));
    }
  }
  transactions.removeFrom(1);
  blocks.removeFrom(1);
  undo.removeFrom(1);
  feed?.revertTo(0);
  history?.clear();
  state.clear();
  const head = storeGenesis(stores, network, genesis);
  return { head, applied: [], revertedBlocks: height - 1, returned: [] };
}

/** Returns true if events of reverted blocks have subscribers. */
const isRevertRecorded = (events: ChainStores["events"]): boolean =>
  REVERT_EVENTS.some((name) => events.isRecorded(name));

const walletsOf = (writes: readonly Write[]): Wallet[] =>
  writes
    .flatMap((write) => (write.table === "wallets" && write.after ? [write.after] : []))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
