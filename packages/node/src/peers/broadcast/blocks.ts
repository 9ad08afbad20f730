/** Passing blocks on (p2p.md 12.1). */
import { bytesOfBlock, type EncodedBlock, joinBlock } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { BlockBytes } from "../../store/chain/blocks.ts";
import type { BlockObservations } from "../inbound/observations.ts";
import { sample } from "../table/sample.ts";
import type { PeerClient } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import { broadcastQuota, broadcastRecipients } from "./quota.ts";

export type BlockBroadcastDeps = {
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly request: PeerClient["request"];
  readonly hasCapacity: PeerClient["hasCapacity"];
  readonly observations: BlockObservations;
  readonly logger: Logger;
};

/** A block is watched for this long before it is passed on: others may have done it already. */
const WATCH_MS = 500;
const POST = "p2p.peer.postBlock";

/** Those who would not have to wait for this block and could be sent another one at once: one of our own. */
const FREE_PLACES = 2;

type Post = { readonly height: number; readonly bytes: Uint8Array };
/** What leaves for a peer when its turn has come. */
type Place = { post: Post };

export type BlockBroadcast = {
  /** Sends a block that was posted or forged to as many peers as it needs. */
  pass(block: EncodedBlock): Promise<void>;
  /**
   * Sends the last block that was fetched, which nobody has posted, to all peers (p2p.md 12.1). Most of them have it; so
   * those are left out where a block of our own could have to wait for it.
   */
  passFetched(height: number, block: BlockBytes): Promise<void>;
  /** Posts that gave their place to a newer one, since the process started. */
  dropped(): number;
  /** Milliseconds since a peer did not take a post, most likely for want of the blocks below it. */
  sinceRefusalMs(): number;
};

export function createBlockBroadcast(deps: BlockBroadcastDeps): BlockBroadcast {
  const { observations, logger } = deps;
  /** By address: who has the newest block can fetch those below, and older ones need not wait. */
  const waiting = new Map<string, Place>();
  let dropped = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;

  /** 0 where somebody else passes it on, or a later block has overtaken it. */
  async function recipients(id: string): Promise<number> {
    const total = deps.peers().length;
    const seen = observations.last();
    if (seen?.id !== id) return total;
    const watchedMs = seen.lastAt - seen.firstAt;
    // Nobody else can have a block of our own.
    if (seen.count > 0 && watchedMs < WATCH_MS && broadcastQuota(seen.count) > 0) {
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS - watchedMs));
    }
    const last = observations.last();
    return last?.id === id ? broadcastRecipients(last.count, deps.peers().length) : 0;
  }

  async function send(ips: readonly string[], height: number, serialize: () => Uint8Array): Promise<void> {
    if (ips.length === 0) return;
    const bytes = serialize();
    await Promise.all(ips.map((ip) => post(ip, { height, bytes })));
  }

  /** Posts a block to a peer, or puts it in the place of the older one that waits for its turn there. */
  async function post(ip: string, post: Post): Promise<void> {
    const before = waiting.get(ip);
    if (before) {
      dropped++;
      if (post.height >= before.post.height) before.post = post;
      return;
    }
    const place: Place = { post };
    waiting.set(ip, place);
    const leave = () => {
      if (waiting.get(ip) === place) waiting.delete(ip);
    };
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const newest = () => {
      leave();
      return { block: place.post.bytes };
    };
    await deps.request(ip, POST, newest, limits).catch((error) => {
      leave();
      if (error.code === "PEER_REFUSED") refusedAt = performance.now();
      logger.debug({ ip, reason: error.message }, "a block was not passed on");
    });
  }

  return {
    async pass(block) {
      const count = await recipients(block.header.id);
      await send(sample(deps.peers(), count), block.header.height, () => bytesOfBlock(block));
    },
    async passFetched(height, { id, header, transactions }) {
      const isPosted = observations.last()?.id === id;
      const free = isPosted ? [] : deps.peers().filter((ip) => deps.hasCapacity(ip, POST, FREE_PLACES));
      await send(free, height, () => joinBlock(header, transactions));
    },
    dropped: () => dropped,
    sinceRefusalMs: () => performance.now() - refusedAt,
  };
}
