/**
 * Fast canonical texts for the most frequent kinds of content. The result equals `canonicalJson(leafContent(...))` in a third
 * of the time: names are already sorted, nothing is copied, and texts of digits and letters are not searched for characters
 * that JSON escapes.
 */
import type { Round } from "@uniknode/ledger";
import { type BlockHeader, canonicalJson, type Transaction } from "@uniknode/protocol";

export const appliedBlockText = (header: BlockHeader): string =>
  `{"data":{"blockSignature":"${header.blockSignature}","generatorPublicKey":"${header.generatorPublicKey}",` +
  `"height":${header.height},"id":"${header.id}","idHex":"${header.idHex}",` +
  `"numberOfTransactions":${header.numberOfTransactions},"payloadHash":"${header.payloadHash}",` +
  `"payloadLength":${header.payloadLength},"previousBlock":"${header.previousBlock}",` +
  `"previousBlockHex":"${header.previousBlockHex}","reward":"${header.reward}",` +
  `"timestamp":${header.timestamp},"totalAmount":"${header.totalAmount}","totalFee":"${header.totalFee}",` +
  `"version":${header.version}},"id":"block.applied:${header.id}"}`;

export function createdRoundText(delegates: Round["delegates"], round: number, blockId: string): string {
  const rows = delegates.map(
    ({ publicKey, voteBalance }) => `{"publicKey":"${publicKey}","round":${round},"votes":"${voteBalance}"}`,
  );
  return `{"data":[${rows.join(",")}],"id":"round.created:${blockId}:${round}"}`;
}

export function appliedTransactionText(transaction: Transaction, blockId: string, sequence: number): string {
  const { asset, expiration, nonce, recipientId, secondSignature, signature, signatures } = transaction;
  const { timestamp, vendorField } = transaction;
  return (
    `{"data":{"amount":"${transaction.amount}",` +
    (asset === undefined ? "" : `"asset":${canonicalJson(asset)},`) +
    `"blockId":"${blockId}",` +
    (expiration === undefined ? "" : `"expiration":${expiration},`) +
    `"fee":"${transaction.fee}","id":"${transaction.id}","network":${transaction.network},` +
    (nonce === undefined ? "" : `"nonce":"${nonce}",`) +
    (recipientId === undefined ? "" : `"recipientId":"${recipientId}",`) +
    (secondSignature === undefined ? "" : `"secondSignature":"${secondSignature}",`) +
    `"senderPublicKey":"${transaction.senderPublicKey}","sequence":${sequence},` +
    (signature === undefined ? "" : `"signature":"${signature}",`) +
    (signatures === undefined ? "" : `"signatures":${canonicalJson(signatures)},`) +
    (timestamp === undefined ? "" : `"timestamp":${timestamp},`) +
    `"type":${transaction.type},"typeGroup":${transaction.typeGroup},` +
    (vendorField === undefined ? "" : `"vendorField":${canonicalJson(vendorField)},`) +
    `"version":${transaction.version}},"id":"transaction.applied:${blockId}:${sequence}"}`
  );
}
