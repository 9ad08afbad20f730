/** Fetching blocks from one peer. */
import { setImmediate as nextTick } from "node:timers/promises";
import { type BlockParts, hexToBytes, type Network } from "@uniknode/protocol";
import type { FetchedBlock } from "../../chain/pipeline/receive.ts";
import { encodedHeaderFromPeer } from "../peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import {
  blocksMessageBytes,
  CLIENT_MESSAGE_BYTES,
  MAX_BLOCKS,
  MAX_PACKED_BLOCKS,
  TIMES_MS,
} from "../wire/limits.ts";
import type { ReceivedBlock } from "../wire/received.ts";

export type Source = {
  readonly ip: string;
  /** Its claimed height. */
  readonly height: number;
  /** True if the peer supports the additive events, which do not have the limits of old nodes. */
  readonly isUniknode: boolean;
};

/** Blocks after a height, at most `limit`, possibly fewer. @throws {PeerError | WireError} */
export type Fetch = (source: Source, after: number, limit: number) => Promise<FetchedBlock[]>;

/** Blocks to request from a source at a time. */
export const chunkSizeOf = ({ isUniknode }: Source): number => (isUniknode ? MAX_PACKED_BLOCKS : MAX_BLOCKS);

/** Up to this number, the timeout is shorter: such requests are made near the head, where forgers wait for them. */
const FEW_BLOCKS = 10;

export function createFetch(request: PeerClient["request"], network: Network): Fetch {
  return async ({ ip, isUniknode }, lastBlockHeight, blockLimit) => {
    const timeoutMs = blockLimit <= FEW_BLOCKS ? TIMES_MS.fewBlocksReply : TIMES_MS.blocksReply;
    if (isUniknode) {
      const limits = { timeoutMs, maxBytes: CLIENT_MESSAGE_BYTES.blocks };
      const blocks = await request(ip, "uniknode.peer.getBlocks", { lastBlockHeight, blockLimit }, limits);
      return blocks.slice(0, blockLimit);
    }
    const limits = { timeoutMs, maxBytes: blocksMessageBytes(blockLimit, false) };
    const argument = { lastBlockHeight, blockLimit, serialized: true };
    const received = await request(ip, "p2p.peer.getBlocks", argument, limits);
    return toParts(received.slice(0, blockLimit), network);
  };
}

/** Time that a tick of the event loop may spend on the blocks of one source. */
const SLICE_MS = 4;

async function toParts(received: readonly ReceivedBlock[], network: Network): Promise<BlockParts[]> {
  const parts: BlockParts[] = [];
  const pace = createPace();
  for (const block of received) parts.push(await toBlockParts(block, network, pace));
  return parts;
}

/** Divides work into slices. */
type Pace = {
  readonly isOver: () => boolean;
  readonly nextSlice: () => Promise<void>;
};

function createPace(): Pace {
  let startedAt = performance.now();
  return {
    isOver: () => performance.now() - startedAt >= SLICE_MS,
    async nextSlice() {
      await nextTick();
      startedAt = performance.now();
    },
  };
}

/** A missing number of transactions is filled in. */
async function toBlockParts(
  { transactions = [], ...fields }: ReceivedBlock,
  network: Network,
  { isOver, nextSlice }: Pace,
): Promise<BlockParts> {
  const encoded = encodedHeaderFromPeer({ numberOfTransactions: transactions.length, ...fields }, network);
  const { maxTransactions } = network.milestoneAt(Math.max(encoded.header.height - 1, 1)).block;
  const transactionBytes: Uint8Array[] = [];
  // A block with more transactions is refused: the rest of them is not decoded.
  for (const text of transactions.slice(0, maxTransactions + 1)) {
    if (isOver()) await nextSlice();
    transactionBytes.push(hexToBytes(text));
  }
  return { ...encoded, transactionBytes };
}
