/** The chain that is derived from the deliveries of blocks to a receiver alone. */
import { EVERY_EVENT } from "@uniknode/client";
import type { Arrival, Message } from "../actors/receiver.ts";

/** Fields of a webhook for events, in strict order: the default events are those from which the chain is derived. */
export const strictWebhook = (events: readonly string[] = ["block.applied", "block.reverted"]) => ({
  ...{ events, conditions: [EVERY_EVENT], order: "strict" as const },
});

export type DeliveredBlock = {
  readonly id: string;
  readonly height: number;
  readonly timestamp: number;
  readonly previousBlock: string;
  readonly generatorPublicKey: string;
};

export class DeliveredChain {
  /** Blocks of the chain, oldest first, from the first that was delivered. */
  readonly chain: DeliveredBlock[] = [];
  /** Every block that was ever part of it. */
  readonly seen: DeliveredBlock[] = [];
  readonly faults: string[] = [];
  /** Id of the delivery of each block. */
  readonly #messageIds = new Map<string, string>();

  constructor(arrivals: readonly Arrival[]) {
    const ids = new Set<string>();
    for (const { message, isVerified } of arrivals) {
      if (!isVerified) this.faults.push(`the signature of ${message.id} is wrong`);
      // Otherwise it is the message again, because the first response was lost.
      if (!ids.has(message.id)) this.#take(message);
      ids.add(message.id);
    }
  }

  #take({ event, id, data, reverts }: Message): void {
    const { chain, faults } = this;
    const block = data as DeliveredBlock;
    const top = chain.at(-1);
    if (event === "block.applied") {
      const follows = !top || (block.height === top.height + 1 && block.previousBlock === top.id);
      if (!follows) faults.push(`block ${block.height} ${block.id} came on ${top.height} ${top.id}`);
      chain.push(block);
      this.seen.push(block);
      this.#messageIds.set(block.id, id);
      return;
    }
    const messageId = this.#messageIds.get(block.id);
    // A block from before the registration was never delivered.
    if (messageId === undefined) return;
    if (top?.id !== block.id) faults.push(`block ${block.id} went, but ${top?.id} was the last`);
    if (messageId !== reverts) faults.push(`the end of ${block.id} names another delivery`);
    chain.pop();
  }
}
