/** Broadcast of blocks: how often a block was received decides how widely it is sent (p2p.md 11 and 12.1). */
import { bytesOfBlock, type EncodedBlock, joinBlock } from "@uniknode/protocol";
import type { Logger } from "pino";
import { clientGroup } from "../platform/addresses.ts";
import type { BlockBytes } from "../store/chain/blocks.ts";
import { sample } from "./peer-table.ts";
import type { PeerClient } from "./transport/client.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "./wire/limits.ts";

type ObservedBlock = {
  readonly id: string;
  readonly height: number;
  /** Number of clients that posted it; 0 for a block of this node's own forger. */
  readonly count: number;
  /** Milliseconds of a monotonic clock. */
  readonly firstAt: number;
  readonly lastAt: number;
};

/** Number of observations after which a block is no longer sent. */
const MAX_OBSERVATIONS = 4;

export class BlockObservations {
  #last: ObservedBlock | undefined;
  /** Clients that posted the latest block: one that posts it again must not reduce its recipients. */
  readonly #clients = new Set<string>();

  /** The latest block. */
  last(): ObservedBlock | undefined {
    return this.#last;
  }

  /** Counts another observation of the latest block; returns false for any other block. */
  count({ id, height }: Pick<ObservedBlock, "id" | "height">, at: number, sender: string): boolean {
    const last = this.#last;
    if (last?.id !== id || last.height !== height) return false;
    const client = clientGroup(sender);
    if (last.count >= MAX_OBSERVATIONS || this.#clients.has(client)) return true;
    this.#clients.add(client);
    this.#last = { ...last, count: last.count + 1, lastAt: at };
    return true;
  }

  /**
   * Replaces the latest block.
   *
   * @param sender undefined for the node's own forger
   */
  begin({ id, height }: Pick<ObservedBlock, "id" | "height">, at: number, sender: string | undefined): void {
    this.#clients.clear();
    if (sender !== undefined) this.#clients.add(clientGroup(sender));
    this.#last = { id, height, count: this.#clients.size, firstAt: at, lastAt: at };
  }
}

type BlockBroadcastDeps = {
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly request: PeerClient["request"];
  readonly hasCapacity: PeerClient["hasCapacity"];
  readonly observations: Pick<BlockObservations, "last">;
  readonly logger: Logger;
};

/** Observation time before a block is sent: other nodes may have sent it already. */
const OBSERVE_MS = 500;
const POST = "p2p.peer.postBlock";

/** A fetched block is sent only to peers that could receive a block of our own at once after it. */
const REQUIRED_CAPACITY = 2;

type Post = { readonly height: number; readonly bytes: Uint8Array };
/** The post to send to a peer when its rate limit permits. */
type WaitingPost = { post: Post };

export class BlockBroadcast {
  readonly #deps: BlockBroadcastDeps;
  /** The newest waiting post by address: a peer that has the newest block can fetch those below. */
  readonly #waiting = new Map<string, WaitingPost>();
  #dropped = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: BlockBroadcastDeps) {
    this.#deps = deps;
  }

  /** Sends a posted or forged block to as many peers as it needs. */
  async broadcast(block: EncodedBlock): Promise<void> {
    const count = await this.#countRecipients(block.header.id);
    await this.#send(sample(this.#deps.peers(), count), block.header.height, () => bytesOfBlock(block));
  }

  /**
   * Sends the last fetched block, which no peer has posted, to all peers (p2p.md 12.1). Most of them have it,
   * so peers are omitted if a block of our own might have to wait for their rate limit.
   */
  async announceFetched(
    height: number,
    { id, header, transactions }: Pick<BlockBytes, "id" | "header" | "transactions">,
  ): Promise<void> {
    const { peers, hasCapacity, observations } = this.#deps;
    const isPosted = observations.last()?.id === id;
    const free = isPosted ? [] : peers().filter((ip) => hasCapacity(ip, POST, REQUIRED_CAPACITY));
    await this.#send(free, height, () => joinBlock(header, transactions));
  }

  /** Posts that wait for the rate limit of a peer or for a connection. */
  unsent(): number {
    return this.#waiting.size;
  }

  /** Posts that were replaced by a newer one before they were sent, since the process started. */
  dropped(): number {
    return this.#dropped;
  }

  /** Milliseconds since a peer refused a post, most likely because it lacks the blocks below. */
  sinceRefusalMs(): number {
    return performance.now() - this.#refusedAt;
  }

  /** 0 if other nodes broadcast the block, or a later block is known. */
  async #countRecipients(id: string): Promise<number> {
    const { peers, observations } = this.#deps;
    const total = peers().length;
    const seen = observations.last();
    if (seen?.id !== id) return total;
    const observedMs = seen.lastAt - seen.firstAt;
    // No other node has a block of our own.
    if (seen.count > 0 && observedMs < OBSERVE_MS && broadcastQuota(seen.count) > 0) {
      await new Promise((resolve) => setTimeout(resolve, OBSERVE_MS - observedMs));
    }
    const last = observations.last();
    return last?.id === id ? broadcastRecipients(last.count, peers().length) : 0;
  }

  async #send(ips: readonly string[], height: number, serialize: () => Uint8Array): Promise<void> {
    if (ips.length === 0) return;
    const bytes = serialize();
    await Promise.all(ips.map((ip) => this.#post(ip, { height, bytes })));
  }

  /** Posts a block to a peer, or replaces the older one that waits for the rate limit of the peer. */
  async #post(ip: string, post: Post): Promise<void> {
    const waiting = this.#waiting;
    const { request, logger } = this.#deps;
    const before = waiting.get(ip);
    if (before) {
      this.#dropped++;
      if (post.height >= before.post.height) before.post = post;
      return;
    }
    const entry: WaitingPost = { post };
    waiting.set(ip, entry);
    const forget = () => {
      if (waiting.get(ip) === entry) waiting.delete(ip);
    };
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const newest = () => {
      forget();
      return { block: entry.post.bytes };
    };
    await request(ip, POST, newest, limits).catch((error) => {
      forget();
      if (error.code === "PEER_REFUSED") this.#refusedAt = performance.now();
      logger.debug({ ip, reason: error.message }, "failed to send a block");
    });
  }
}

/** Share of the peers that a block is sent to, 0 or less for none. */
export const broadcastQuota = (observations: number): number =>
  (MAX_OBSERVATIONS - observations) / MAX_OBSERVATIONS;

export const broadcastRecipients = (observations: number, peers: number): number =>
  Math.max(0, Math.ceil(broadcastQuota(observations) * peers));
