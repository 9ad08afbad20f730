/** Sizes, counts and times of the protocol (p2p.md 2.3, 4, 6, 7 and 15). */
import type { Network } from "@uniknode/protocol";

const ENVELOPE_BYTES = 10_240;

/** Longest message of a client before its handshake, and of one that carries neither a block nor transactions. */
export const MAX_OPENING_BYTES = 16_384;
export const MAX_SMALL_BYTES = 102_400;
/** Longest message of an address that is not a peer: a block of 500 payments to 128 recipients has 2.6 MB. */
export const MAX_UNKNOWN_BYTES = 4 * 1024 * 1024;

/** Frames of one message. Old nodes never divide messages, and a tiny frame takes many times its length. */
export const MAX_FRAGMENTS = 64;

/** Blocks below the head whose milestone counts: a branch of another node may begin there. */
const BRANCH_BLOCKS = 10_000;

/**
 * Longest message that a server accepts at a height: the largest block of the current milestone and of later ones, which
 * a node that is behind receives too, and an envelope.
 */
export function serverMessageBytes({ milestones }: Network, height: number): number {
  const current = milestones.findLastIndex((milestone) => milestone.height <= height - BRANCH_BLOCKS);
  const relevant = milestones.slice(Math.max(current, 0));
  return Math.max(...relevant.map(({ block }) => block.maxPayload)) + ENVELOPE_BYTES;
}

/** Longest message that a client accepts, depending on the pending request. */
export const CLIENT_MESSAGE_BYTES = { blocks: 20_971_520, perHeader: 1024, other: 102_400 } as const;

/** The limit of a client that requested blocks, or only their headers. */
export const blocksMessageBytes = (blockLimit: number, headersOnly: boolean): number =>
  headersOnly ? blockLimit * CLIENT_MESSAGE_BYTES.perHeader : CLIENT_MESSAGE_BYTES.blocks;

export const MAX_BLOCKS = 400;
/** Blocks and bytes in one reply between Uniknode nodes; base64 makes the text a third longer. */
export const MAX_PACKED_BLOCKS = 2_000;
export const MAX_PACKED_BYTES = 4 * 1024 * 1024;
export const MAX_COMMON_IDS = 10;
export const MAX_PEERS = 2000;
/** Maximum number of transactions in one message; every peer refuses a message with more. */
export const MAX_TRANSACTIONS = 40;

/**
 * Nesting and number of values in a client's message. The deepest valid message is an asset of 100 members below
 * four objects; the largest one is 40 payments to 128 recipients each, about 20 000 values.
 */
export const REQUEST_COMPLEXITY = { maxDepth: 256, maxValues: 30_000 } as const;
/** Nesting of a message of a server. */
export const MAX_REPLY_DEPTH = 64;
/**
 * Number of values in a message of a server: a pending request for blocks with their transactions may get 400 blocks
 * of hundreds of transactions each, and one for the genesis block as many. A reply with 2,000 peers is the largest other one.
 */
export const CLIENT_MESSAGE_VALUES = { blocks: 1_000_000, other: 30_000 } as const;

/** Events that an address may send in a window, by name; other events count in the global limit only. */
export const RATE_LIMITS = {
  "p2p.peer.getPeers": { events: 1, windowMs: 1000 },
  "p2p.peer.getStatus": { events: 2, windowMs: 1000 },
  "p2p.peer.getCommonBlocks": { events: 9, windowMs: 1000 },
  "p2p.peer.getBlocks": { events: 1, windowMs: 2000 },
  "p2p.peer.postBlock": { events: 2, windowMs: 4000 },
} as const;
/** Additive events that an address may send in a window. */
export const UNIKNODE_RATE_LIMITS = {
  "uniknode.peer.getBlocks": { events: 40, windowMs: 1000 },
  "uniknode.peer.getGenesis": { events: 1, windowMs: 10_000 },
} as const;

/** Messages within a window after which a client disconnects from its server (p2p.md 12.3). */
export const MAX_SERVER_MESSAGES = { events: 30, windowMs: 1000 } as const;

/** Time for messages in an event-loop tick. Blocks, slots and requests of clients wait no longer for it. */
export const MESSAGE_SLICE_MS = 8;

/** Milliseconds. */
export const TIMES_MS = {
  /** Silence of a new connection before its upgrade. */
  upgrade: 2_000,
  /** Time from the connection to the end of the handshake. */
  handshake: 4_000,
  /** An old node waits for 20 s, although its requests time out after 2 s. */
  connect: 5_000,
  /**
   * Timeout of the handshake on an accepted connection. A suspended process accepts connections, and when it
   * resumes, it refuses the addresses of connections that have ended: an attempt is not aborted sooner.
   */
  dial: 300_000,
  /** Time for which a connection that opens after its requests have failed waits for the next one. */
  late: 30_000,
  /** Time from a close frame to the end of the connection, if the peer does not send its own. */
  close: 500,
  pingInterval: 8_000,
  /** Announced to clients, and applied to them. */
  pingTimeout: 60_000,
  /** Minimum time between two pongs. */
  betweenPongs: 1_000,
  /** Refusal of an address after an offence, or after it exceeded the global limit. */
  refusal: 60_000,
  smallReply: 5_000,
  blocksReply: 30_000,
  fewBlocksReply: 10_000,
  postReply: 10_000,
  verification: 60_000,
} as const;
