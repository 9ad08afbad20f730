/** Fetching blocks from one peer, as bytes. */
import { encodeFrame, hexToBytes, type Network } from "@uniknode/protocol";
import type { PeerClient } from "../transport/client.ts";
import { headerFromPeer } from "../verification/header.ts";
import {
  blocksMessageBytes,
  CLIENT_MESSAGE_BYTES,
  MAX_BLOCKS,
  MAX_PACKED_BLOCKS,
  TIMES_MS,
} from "../wire/limits.ts";
import type { ReceivedBlock } from "../wire/replies/received.ts";

export type Source = {
  readonly ip: string;
  /** Its claimed height. */
  readonly height: number;
  /** Whether it answers the additive events, which do not have the limits of old nodes. */
  readonly isUniknode: boolean;
};

/** Serialized blocks after a height, at most `limit`, possibly fewer. @throws {PeerError | WireError} */
export type Fetch = (source: Source, after: number, limit: number) => Promise<Uint8Array[]>;

/** Blocks to request from a source at a time. */
export const chunkSizeOf = ({ isUniknode }: Source): number => (isUniknode ? MAX_PACKED_BLOCKS : MAX_BLOCKS);

/** Up to this number, the timeout is shorter: such requests are made near the head, where forgers wait for them. */
const FEW_BLOCKS = 10;

export function createFetch(request: PeerClient["request"], network: Network): Fetch {
  return async ({ ip, isUniknode }, lastBlockHeight, blockLimit) => {
    const timeoutMs = blockLimit <= FEW_BLOCKS ? TIMES_MS.fewBlocksReply : TIMES_MS.blocksReply;
    if (isUniknode) {
      const limits = { timeoutMs, maxBytes: CLIENT_MESSAGE_BYTES.blocks };
      return request(ip, "uniknode.peer.getBlocks", { lastBlockHeight, blockLimit }, limits);
    }
    const limits = { timeoutMs, maxBytes: blocksMessageBytes(blockLimit, false) };
    const argument = { lastBlockHeight, blockLimit, serialized: true };
    const received = await request(ip, "p2p.peer.getBlocks", argument, limits);
    return received.slice(0, blockLimit).map((block) => encodeReceived(block, network));
  };
}

function encodeReceived({ transactions = [], ...fields }: ReceivedBlock, network: Network): Uint8Array {
  const header = headerFromPeer({ numberOfTransactions: transactions.length, ...fields }, network);
  return encodeFrame(header, transactions.map(hexToBytes), network);
}
