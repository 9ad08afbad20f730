/**
 * Messages of one webhook, with the ids, bodies and names of events that the node would give them, and the contents that
 * docs/reference/events.md describes.
 */
import { hash, randomBytes } from "node:crypto";
import { retractionNameOf } from "../events/catalogue.ts";
import type { JsonObject } from "../events/content.ts";
import { createFit, MAX_CONTENT_BYTES } from "../subscriptions/content.ts";
import { pingMessage } from "../webhooks/delivery/ping.ts";
import { deliveryId, retractionId } from "../webhooks/matching/drafts.ts";
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";

/** Block of a fact. */
type BlockPlace = { readonly height: number; readonly blockId: string; readonly previousId: string };

/** Facts that scenarios deliver. */
export type FactEvent = "block.applied" | "transaction.applied" | "unik.minted";

/** Derives 64 hexadecimal digits from a name. */
type Hex = (name: string) => string;

const ADDRESS = "D8XsLuqNM4Htmei62ha6msV92tagpjvpLK";
const PUBLIC_KEY_PREFIX = "02";

/** Returns the content of a fact. */
function contentOf(event: FactEvent, place: BlockPlace, hex: Hex): JsonObject {
  if (event === "block.applied") return blockContent(place, hex);
  const transaction = transactionContent(place, hex);
  if (event === "transaction.applied") return transaction;
  return { tokenId: hex("unik"), ownerId: ADDRESS, transaction: { ...transaction, typeGroup: 2000 } };
}

const blockContent = ({ height, blockId, previousId }: BlockPlace, hex: Hex): JsonObject => ({
  version: 0,
  timestamp: height,
  height,
  previousBlockHex: previousId,
  previousBlock: previousId,
  numberOfTransactions: 1,
  totalAmount: "1250000000",
  totalFee: "10000000",
  reward: "200000000",
  payloadLength: 32,
  payloadHash: hex("payload"),
  generatorPublicKey: `${PUBLIC_KEY_PREFIX}${hex("delegate")}`,
  blockSignature: `${hex("signature")}${hex("signature")}`,
  idHex: blockId,
  id: blockId,
});

const transactionContent = ({ blockId }: BlockPlace, hex: Hex): JsonObject => ({
  version: 2,
  network: 30,
  typeGroup: 1,
  type: 0,
  nonce: "4",
  senderPublicKey: `${PUBLIC_KEY_PREFIX}${hex("sender")}`,
  fee: "10000000",
  amount: "1250000000",
  recipientId: ADDRESS,
  signature: `${hex("signature")}${hex("signature")}`,
  id: hex("transaction"),
  blockId,
  sequence: 0,
});

type MessageOptions = {
  /** Number of the webhook. */
  readonly webhook: number;
  /** Event of a fact for which the scenario names none. */
  readonly event: FactEvent;
  readonly nowMs: () => number;
};

export type FactOptions = {
  readonly event?: FactEvent;
  /** Block of the fact; absent: a block on top of the last one. */
  readonly place?: BlockPlace;
  /** Number of times that the block was reverted before. */
  readonly timesReverted?: number;
  /** Members that are added to the content. */
  readonly data?: JsonObject;
};

const fit = createFit(MAX_CONTENT_BYTES);

/** Heights, sequences and epochs start at the time in seconds, so that a later run continues above an earlier one. */
export class Messages {
  readonly #options: MessageOptions;
  readonly #network = randomBytes(32).toString("hex");
  #height: number;
  #sequence: number;
  #epoch: number;
  #branch = 0;

  constructor(options: MessageOptions) {
    this.#options = options;
    const start = Math.floor(options.nowMs() / 1_000);
    [this.#height, this.#sequence, this.#epoch] = [start, start, start];
  }

  /** Creates the next block. */
  place(): BlockPlace {
    const height = ++this.#height;
    return { height, blockId: this.#hex(`${height}`), previousId: this.#hex(`${height - 1}`) };
  }

  /** Creates a block at the height of another one. */
  sibling({ height, previousId }: BlockPlace): BlockPlace {
    return { height, blockId: this.#hex(`${height} ${++this.#branch}`), previousId };
  }

  /** Creates the delivery of a fact of a block. */
  fact({ event = this.#options.event, place, timesReverted = 0, data }: FactOptions = {}): DeliveryMessage {
    const at = place ?? this.place();
    const { height, blockId } = at;
    const content = { ...contentOf(event, at, (name) => this.#hex(`${blockId} ${name}`)), ...data };
    const message = this.#queued();
    return {
      ...message,
      event,
      id: deliveryId(this.#network, message.webhook, { id: `${event} ${blockId}`, height, timesReverted }),
      height,
      blockId,
      content: fit(event, JSON.stringify(content)),
    };
  }

  /** Creates the retraction of a fact. */
  retraction(fact: DeliveryMessage): DeliveryMessage {
    const event = retractionNameOf(fact.event);
    const id = retractionId(this.#network, this.#options.webhook, event, fact.id);
    return { ...fact, ...this.#queued(), event, id, reverts: fact.id };
  }

  /** Creates a delivery of another event; with a place, the event of a block. */
  other(event: string, data?: unknown, place?: BlockPlace): DeliveryMessage {
    const message = this.#queued();
    const identity = place
      ? { id: event, height: place.height, timesReverted: 0 }
      : { id: event, logSequence: message.sequence, createdMs: message.timeMs };
    return {
      ...message,
      event,
      id: deliveryId(this.#network, message.webhook, identity),
      ...(place && { height: place.height, blockId: place.blockId }),
      content: fit(event, data === undefined ? undefined : JSON.stringify(data)),
    };
  }

  ping(): DeliveryMessage {
    const { createdMs: timeMs, ...ping } = pingMessage(this.#options.webhook, this.#options.nowMs());
    return { ...ping, timeMs };
  }

  /** Returns an epoch that is higher than all before. */
  epoch(): number {
    return ++this.#epoch;
  }

  /** Skips sequences, such as those of deliveries that are still being retried. */
  skipSequences(count: number): void {
    this.#sequence += count;
  }

  /** Returns the members that every message except pings has. */
  #queued() {
    const { webhook, nowMs } = this.#options;
    return { webhook, sequence: ++this.#sequence, timeMs: nowMs() };
  }

  #hex(name: string): string {
    return hash("sha256", `${this.#network} ${name}`);
  }
}
