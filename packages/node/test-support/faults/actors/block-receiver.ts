/** A receiver of the blocks of a node, and the chain that is derived from its deliveries alone. */
import { EVERY_EVENT } from "@uniknode/client";
import { createControl } from "./control.ts";
import type { Arrival, Message, Receiver } from "./receiver.ts";

/** Events from which the chain is derived. */
const CHAIN_EVENTS = ["block.applied", "block.reverted"];

/**
 * Registers a receiver, in strict order.
 *
 * @param url base URL of the node
 */
export async function registerReceiver(
  url: string,
  receiver: Receiver,
  events = CHAIN_EVENTS,
): Promise<void> {
  const body = { events, target: receiver.url, conditions: [EVERY_EVENT], order: "strict" };
  const { token } = (await createControl(url).post("/api/webhooks", body)) as { token: string };
  receiver.tokens.add(token);
}

export type DeliveredBlock = {
  readonly id: string;
  readonly height: number;
  readonly timestamp: number;
  readonly previousBlock: string;
  readonly generatorPublicKey: string;
};

export type DeliveredChain = {
  /** Blocks of the chain, oldest first, from the first that was delivered. */
  readonly chain: readonly DeliveredBlock[];
  /** Every block that was ever part of it. */
  readonly seen: readonly DeliveredBlock[];
  /** Inconsistent deliveries. */
  readonly faults: readonly string[];
};

export function deliveredChain(arrivals: readonly Arrival[]): DeliveredChain {
  const chain: DeliveredBlock[] = [];
  const seen: DeliveredBlock[] = [];
  const faults: string[] = [];
  const ids = new Set<string>();
  const messageIds = new Map<string, string>();

  function take({ event, id, data, reverts }: Message): void {
    const block = data as DeliveredBlock;
    const top = chain.at(-1);
    if (event === "block.applied") {
      const follows = !top || (block.height === top.height + 1 && block.previousBlock === top.id);
      if (!follows) faults.push(`block ${block.height} ${block.id} came on ${top.height} ${top.id}`);
      chain.push(block);
      seen.push(block);
      messageIds.set(block.id, id);
      return;
    }
    // A block from before the registration was never delivered.
    if (!messageIds.has(block.id)) return;
    if (top?.id !== block.id) faults.push(`block ${block.id} went, but ${top?.id} was the last`);
    if (messageIds.get(block.id) !== reverts) faults.push(`the end of ${block.id} names another delivery`);
    chain.pop();
  }

  for (const { message, isVerified } of arrivals) {
    if (!isVerified) faults.push(`the signature of ${message.id} is wrong`);
    // Otherwise it is the message again, because the first response was lost.
    if (!ids.has(message.id)) take(message);
    ids.add(message.id);
  }
  return { chain, seen, faults };
}
