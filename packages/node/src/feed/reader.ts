/** Reads blocks and their changes from one snapshot, for mirrors. */
import { BlockStore } from "../store/chain/blocks.ts";
import { createFeedChangeReader } from "../store/chain/feed-changes.ts";
import { createReadTogether, type Database } from "../store/engine/database.ts";
import { createLastSequence } from "../store/events/event-log.ts";
import { bundleLine, type Position } from "./line.ts";

/** Lines of the next blocks, and the position of the last one. */
export type BlockLines = { readonly lines: string; readonly last: Position };

export type FeedBatch =
  /** `logSequence`: sequence of the newest event in the log; absent if further blocks follow. */
  | ({ readonly kind: "blocks"; readonly logSequence?: number } & BlockLines)
  /** No block follows. */
  | { readonly kind: "head"; readonly logSequence: number }
  /** The position is not on the chain: its block was reverted. */
  | { readonly kind: "reverted" }
  /** The changes of the next block are no longer stored, or never were. */
  | { readonly kind: "gone" };

export type FeedReader = {
  head(): Position | undefined;
  /** Returns the first of the positions that is on the chain. */
  commonOf(positions: readonly Position[]): Position | undefined;
  /** Returns the blocks after a position with their changes. */
  read(after: Position): FeedBatch;
  /**
   * Returns the next blocks after a height without their changes, up to and including the height `last`; undefined if there
   * are none.
   */
  readBlocks(after: number, last: number): BlockLines | undefined;
};

/** Bounds of one batch, so that a tick of the serving thread stays short. */
const MAX_BLOCKS = 64;
const MAX_CHARACTERS = 512 * 1024;

export function createFeedReader(database: Database): FeedReader {
  const blocks = new BlockStore(database);
  const changesOf = createFeedChangeReader(database);
  const lastSequence = createLastSequence(database);
  const together = createReadTogether(database);

  const isOnChain = ({ height, id }: Position) => blocks.header(height)?.id === id;

  /** @param textOf changes of a block; undefined ends the batch */
  function batch(
    after: Position,
    last: number,
    textOf: (height: number) => { changes?: string } | undefined,
  ): BlockLines {
    let position = after;
    let lines = "";
    for (const block of blocks.bytes(after.height + 1, Math.min(after.height + MAX_BLOCKS, last))) {
      const text = textOf(block.height);
      if (!text || (lines.length > 0 && lines.length > MAX_CHARACTERS)) break;
      lines += bundleLine(block, position.id, text.changes);
      position = { height: block.height, id: block.id };
    }
    return { lines, last: position };
  }

  return {
    head() {
      const header = blocks.head();
      return header && { height: header.height, id: header.id };
    },
    commonOf: (positions) => together(() => positions.find(isOnChain)),
    read: (after) =>
      together((): FeedBatch => {
        if (!isOnChain(after)) return { kind: "reverted" };
        const head = blocks.head()?.height ?? 0;
        if (after.height >= head) return { kind: "head", logSequence: lastSequence() };
        const { lines, last } = batch(after, head, (height) => {
          const changes = changesOf(height);
          return changes === undefined ? undefined : { changes };
        });
        if (lines === "") return { kind: "gone" };
        return {
          ...({ kind: "blocks", lines, last } as const),
          ...(last.height === head && { logSequence: lastSequence() }),
        };
      }),
    readBlocks: (after, end) =>
      together((): BlockLines | undefined => {
        const parent = after === 0 ? { height: 0, id: "0" } : blocks.header(after);
        if (!parent) return undefined;
        const found = batch({ height: after, id: parent.id }, end, () => ({}));
        return found.lines === "" ? undefined : found;
      }),
  };
}
