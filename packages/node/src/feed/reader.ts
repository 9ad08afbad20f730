/** Reads blocks and their changes from one snapshot, for mirrors. */
import { BlockStore } from "../store/chain/blocks.ts";
import { createFeedChangeReader, type ReadFeedChanges } from "../store/chain/feed-changes.ts";
import { createReadTogether, type Database, type ReadTogether } from "../store/engine/database.ts";
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

/** Bounds of one batch, so that a tick of the serving thread stays short. */
const MAX_BLOCKS = 64;
const MAX_CHARACTERS = 512 * 1024;

export class FeedReader {
  readonly #blocks: BlockStore;
  readonly #changesOf: ReadFeedChanges;
  readonly #lastSequence: () => number;
  readonly #together: ReadTogether;

  constructor(database: Database) {
    this.#blocks = new BlockStore(database);
    this.#changesOf = createFeedChangeReader(database);
    this.#lastSequence = createLastSequence(database);
    this.#together = createReadTogether(database);
  }

  head(): Position | undefined {
    const header = this.#blocks.head();
    return header && { height: header.height, id: header.id };
  }

  /** Returns the first of the positions that is on the chain. */
  commonOf(positions: readonly Position[]): Position | undefined {
    return this.#together(() => positions.find((position) => this.#isOnChain(position)));
  }

  /** Returns the blocks after a position with their changes. */
  read(after: Position): FeedBatch {
    return this.#together((): FeedBatch => {
      if (!this.#isOnChain(after)) return { kind: "reverted" };
      const head = this.#blocks.head()?.height ?? 0;
      if (after.height >= head) return { kind: "head", logSequence: this.#lastSequence() };
      const { lines, last } = this.#batch(after, head, (height) => {
        const changes = this.#changesOf(height);
        return changes === undefined ? undefined : { changes };
      });
      if (lines === "") return { kind: "gone" };
      return {
        ...({ kind: "blocks", lines, last } as const),
        ...(last.height === head && { logSequence: this.#lastSequence() }),
      };
    });
  }

  /**
   * Returns the next blocks after a height without their changes, up to and including the height `last`; undefined if there
   * are none.
   */
  readBlocks(after: number, last: number): BlockLines | undefined {
    return this.#together((): BlockLines | undefined => {
      const parent = after === 0 ? { height: 0, id: "0" } : this.#blocks.header(after);
      if (!parent) return undefined;
      const found = this.#batch({ height: after, id: parent.id }, last, () => ({}));
      return found.lines === "" ? undefined : found;
    });
  }

  #isOnChain({ height, id }: Position): boolean {
    return this.#blocks.header(height)?.id === id;
  }

  /** @param textOf changes of a block; undefined ends the batch */
  #batch(
    after: Position,
    last: number,
    textOf: (height: number) => { changes?: string } | undefined,
  ): BlockLines {
    let position = after;
    let lines = "";
    const end = Math.min(after.height + MAX_BLOCKS, last);
    while (position.height < end && lines.length <= MAX_CHARACTERS) {
      const height = position.height + 1;
      // One block at a time, because 64 full ones are 122 MB.
      const [block] = this.#blocks.bytes(height, height);
      const text = block && textOf(height);
      if (!text) break;
      lines += bundleLine(block, position.id, text.changes);
      position = { height: block.height, id: block.id };
    }
    return { lines, last: position };
  }
}
