/** Contents of the facts that scenarios deliver, with the members that docs/reference/events.md describes. */
import type { JsonObject } from "../events/content.ts";

/** A block and the values that identify a fact of it. */
export type BlockPlace = { readonly height: number; readonly blockId: string; readonly previousId: string };

/** Facts that scenarios deliver. */
export type FactEvent = "block.applied" | "transaction.applied" | "unik.minted";

/** Derives 64 hexadecimal digits from a name. */
export type Hex = (name: string) => string;

const ADDRESS = "D8XsLuqNM4Htmei62ha6msV92tagpjvpLK";
const PUBLIC_KEY_PREFIX = "02";

/** Returns the content of a fact. */
export function contentOf(event: FactEvent, place: BlockPlace, hex: Hex): JsonObject {
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
