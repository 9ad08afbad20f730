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
  readonly sightings: Sightings;
  readonly logger: Logger;
};

/** A block is watched for this long before it is passed on: others may have done it already. */
const WATCH_MS = 500;

/** Sends a block to as many peers as it needs. */
export function createBlockBroadcast(deps: BlockBroadcastDeps): (block: Block) => Promise<void> {
  const { network, sightings, logger } = deps;

  /** Undefined where somebody else passes it on, or a later block has overtaken it. */
  async function recipients(id: string): Promise<number | undefined> {
    const total = deps.peers().length;
    const seen = sightings.last();
    if (seen?.id !== id) return total;
    const watchedMs = seen.lastAt - seen.firstAt;
    // Nobody else can have a block of our own.
    if (seen.count > 0 && watchedMs < WATCH_MS && broadcastQuota(seen.count) > 0) {
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS - watchedMs));
    }
    const last = sightings.last();
    return last?.id === id ? broadcastRecipients(last.count, deps.peers().length) : undefined;
  }

  async function send(ip: string, block: Uint8Array): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    await deps.ask(ip, "p2p.peer.postBlock", { block }, limits).catch((error) => {
      logger.debug({ ip, reason: error.message }, "a block was not passed on");
    });
  }

  return async (block) => {
    const count = await recipients(block.header.id);
    if (count === undefined || count === 0) return;
    const bytes = encodeBlock(block, network);
    await Promise.all(sample(deps.peers(), count).map((ip) => send(ip, bytes)));
  };
}
