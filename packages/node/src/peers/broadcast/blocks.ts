/** Passing blocks on (p2p.md 12.1). */
import { type Block, encodeBlock, type Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Sightings } from "../arrivals/sightings.ts";
import { sample } from "../sample.ts";
import type { Outgoing } from "../transport/outgoing.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import { broadcastQuota, broadcastRecipients } from "./quota.ts";

export type BlockBroadcastDeps = {
  readonly network: Network;
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly ask: Outgoing["ask"];
  readonly hasRoom: Outgoing["hasRoom"];
  readonly sightings: Sightings;
  readonly logger: Logger;
};

/** A block is watched for this long before it is passed on: others may have done it already. */
const WATCH_MS = 500;
const POST = "p2p.peer.postBlock";

/** Those who would not have to wait for this block and could be sent another one at once: one of our own. */
const FREE_PLACES = 2;

export type BlockBroadcast = {
  /** Sends a block that was posted or forged to as many peers as it needs. */
  pass(block: Block): Promise<void>;
  /**
   * Sends the last block that was fetched, which nobody has posted, to all peers (p2p.md 12.1). Most of them have it; so
   * those are left out where a block of our own could have to wait for it.
   */
  passFetched(block: Block): Promise<void>;
};

export function createBlockBroadcast(deps: BlockBroadcastDeps): BlockBroadcast {
  const { network, sightings, logger } = deps;

  /** 0 where somebody else passes it on, or a later block has overtaken it. */
  async function recipients(id: string): Promise<number> {
    const total = deps.peers().length;
    const seen = sightings.last();
    if (seen?.id !== id) return total;
    const watchedMs = seen.lastAt - seen.firstAt;
    // Nobody else can have a block of our own.
    if (seen.count > 0 && watchedMs < WATCH_MS && broadcastQuota(seen.count) > 0) {
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS - watchedMs));
    }
    const last = sightings.last();
    return last?.id === id ? broadcastRecipients(last.count, deps.peers().length) : 0;
  }

  async function send(block: Block, ips: readonly string[]): Promise<void> {
    if (ips.length === 0) return;
    const bytes = encodeBlock(block, network);
    await Promise.all(ips.map((ip) => post(ip, bytes)));
  }

  async function post(ip: string, block: Uint8Array): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    await deps.ask(ip, POST, { block }, limits).catch((error) => {
      logger.debug({ ip, reason: error.message }, "a block was not passed on");
    });
  }

  return {
    async pass(block) {
      const count = await recipients(block.header.id);
      await send(block, sample(deps.peers(), count));
    },
    async passFetched(block) {
      const isPosted = sightings.last()?.id === block.header.id;
      const free = isPosted ? [] : deps.peers().filter((ip) => deps.hasRoom(ip, POST, FREE_PLACES));
      await send(block, free);
    },
  };
}
