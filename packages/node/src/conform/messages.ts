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

export type Messages = {
  /** Creates the next block. */
  place(): BlockPlace;
  /** Creates a block at the height of another one. */
  sibling(place: BlockPlace): BlockPlace;
  /** Creates the delivery of a fact of a block. */
  fact(options?: FactOptions): DeliveryMessage;
  /** Creates the retraction of a fact. */
  retraction(fact: DeliveryMessage): DeliveryMessage;
  /** Creates a delivery of another event; with a place, the event of a block. */
  other(event: string, data?: unknown, place?: BlockPlace): DeliveryMessage;
  ping(): DeliveryMessage;
  /** Returns an epoch that is higher than all before. */
  epoch(): number;
  /** Skips sequences, such as those of deliveries that are still being retried. */
  skipSequences(count: number): void;
};

const fit = createFit(MAX_CONTENT_BYTES);

/** Heights, sequences and epochs start at the time in seconds, so that a later run continues above an earlier one. */
export function createMessages({ webhook, event: ownEvent, nowMs }: MessageOptions): Messages {
  const network = randomBytes(32).toString("hex");
  const start = Math.floor(nowMs() / 1_000);
  let [height, sequence, epoch, branch] = [start, start, start, 0];
  const hex = (name: string): string => hash("sha256", `${network} ${name}`);

  function place(): BlockPlace {
    height++;
    return { height, blockId: hex(`${height}`), previousId: hex(`${height - 1}`) };
  }

  /** Returns the members that every message except pings has. */
  const queued = () => ({ webhook, sequence: ++sequence, timeMs: nowMs() });

  return {
    place,
    sibling: ({ height: at, previousId }) => ({ height: at, blockId: hex(`${at} ${++branch}`), previousId }),
    fact({ event = ownEvent, place: given, timesReverted = 0, data } = {}) {
      const at = given ?? place();
      const { height: atHeight, blockId } = at;
      const content = { ...contentOf(event, at, (name) => hex(`${blockId} ${name}`)), ...data };
      return {
        ...queued(),
        event,
        id: deliveryId(network, webhook, { id: `${event} ${blockId}`, height: atHeight, timesReverted }),
        height: atHeight,
        blockId,
        content: fit(event, JSON.stringify(content)),
      };
    },
    retraction(fact) {
      const event = retractionNameOf(fact.event);
      const id = retractionId(network, webhook, event, fact.id);
      return { ...fact, ...queued(), event, id, reverts: fact.id };
    },
    other(event, data, at) {
      const message = queued();
      const identity = at
        ? { id: event, height: at.height, timesReverted: 0 }
        : { id: event, logSequence: message.sequence, createdMs: message.timeMs };
      return {
        ...message,
        event,
        id: deliveryId(network, webhook, identity),
        ...(at && { height: at.height, blockId: at.blockId }),
        content: fit(event, data === undefined ? undefined : JSON.stringify(data)),
      };
    },
    ping() {
      const { createdMs: timeMs, ...ping } = pingMessage(webhook, nowMs());
      return { ...ping, timeMs };
    },
    epoch: () => ++epoch,
    skipSequences(count) {
      sequence += count;
    },
  };
}
