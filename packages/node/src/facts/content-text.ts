/**
 * The canonical texts of the two kinds of content that nearly all leaves have. They are what `canonicalJson` makes of the contents of the
 * events, a third as slow: the names are in order already, and nothing is copied.
 */
import type { BlockHeader, Transaction } from "@uniknode/protocol";
import { factId } from "../events/block-events.ts";
import { canonicalJson } from "./canonical.ts";

export const appliedBlockText = (header: BlockHeader): string =>
  `{"data":{"blockSignature":"${header.blockSignature}","generatorPublicKey":"${header.generatorPublicKey}",` +
  `"height":${header.height},"id":"${header.id}","idHex":"${header.idHex}",` +
  `"numberOfTransactions":${header.numberOfTransactions},"payloadHash":"${header.payloadHash}",` +
  `"payloadLength":${header.payloadLength},"previousBlock":${canonicalJson(header.previousBlock)},` +
  `"previousBlockHex":${canonicalJson(header.previousBlockHex)},"reward":"${header.reward}",` +
  `"timestamp":${header.timestamp},"totalAmount":"${header.totalAmount}","totalFee":"${header.totalFee}",` +
  `"version":${header.version}},"id":"${factId("block.applied", header.id)}"}`;

/** Members of a transaction in a block, by name; those of other types are in `asset`. */
const NAMES = [
  "amount",
  "asset",
  "blockId",
  "expiration",
  "fee",
  "id",
  "network",
  "nonce",
  "recipientId",
  "secondSignature",
  "senderPublicKey",
  "sequence",
  "signature",
  "signatures",
  "timestamp",
  "type",
  "typeGroup",
  "vendorField",
  "version",
] as const satisfies (keyof Transaction | "blockId" | "sequence")[];

export function appliedTransactionText(transaction: Transaction, blockId: string, sequence: number): string {
  let members = "";
  for (const name of NAMES) {
    const value = name === "blockId" ? blockId : name === "sequence" ? sequence : transaction[name];
    if (value !== undefined) members += `${members === "" ? "" : ","}"${name}":${canonicalJson(value)}`;
  }
  return `{"data":{${members}},"id":"${factId("transaction.applied", blockId, sequence)}"}`;
}
