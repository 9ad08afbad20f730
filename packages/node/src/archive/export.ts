/** Exports the blocks of a data folder as a stream; the node may keep running. */
import { joinBlock, type Network } from "@uniknode/protocol";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { openReader } from "../store/engine/migrations.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { ArchiveError } from "./archive-error.ts";
import { databaseOf } from "./database.ts";
import { writeStream } from "./stream.ts";

export type ExportOptions = {
  /** Data folder of the node. */
  readonly data: string;
  readonly network: Network;
  /** First height, 2 or more: the genesis block belongs to the network. */
  readonly from: number;
  /** Last height; absent: the head. */
  readonly to?: number | undefined;
  readonly onProgress: (done: number, total: number) => void;
};

/**
 * Yields the bytes of an archive. All its blocks belong to one chain, even if the node switches to another branch meanwhile.
 *
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_FOREIGN
 */
export async function* exportBlocks(options: ExportOptions): AsyncGenerator<Uint8Array> {
  const { data, network, from, onProgress } = options;
  const database = openReader(databaseOf(data));
  try {
    // There is one read transaction until the connection is closed.
    database.execute("BEGIN");
    const nethash = createMetaStore(database).read("nethash");
    if (nethash !== network.description.nethash) {
      throw new ArchiveError(
        "ARCHIVE_FOREIGN",
        `${data} has the chain of another network (nethash ${nethash})`,
      );
    }
    const blocks = createBlockStore(database);
    const top = present(blocks.head(), "the head of the chain").height;
    const to = Math.min(options.to ?? top, top);
    if (from > to)
      throw new ArchiveError("ARCHIVE_MISSING", `block ${from} does not exist: the head is block ${top}`);
    const total = to - from + 1;
    yield* writeStream({ nethash, height: from }, encoded());

    function* encoded() {
      for (let height = from; height <= to; height++) {
        const block = present(blocks.bytes(height, height)[0], `block ${height}`);
        yield joinBlock(block.header, block.transactions);
        onProgress(height - from + 1, total);
      }
    }
  } finally {
    database.close();
  }
}
