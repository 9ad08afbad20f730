/** Leaves of the tree of final facts (facts.md 1): their content and their text. */
import { hash } from "node:crypto";
import type { Round } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type BlockHeader,
  canonicalJson,
  type Network,
  type Rounds,
  type Transaction,
} from "@uniknode/protocol";
import type { PastFact } from "../event-log/past-facts.ts";
import { contentOf, factId } from "../events/block-events.ts";

export type Leaf = {
  readonly height: number;
  /** Index of the fact in its block, from 0. */
  readonly index: number;
  /** Name of the event. */
  readonly event: string;
  /** SHA-256 of the canonical content, hexadecimal. */
  readonly content: string;
};

/** The root of the map of uniks after a round, and its number of uniks: a leaf that is not an event. */
export type UniksRoot = {
  readonly name: "uniks.root";
  readonly round: number;
  readonly root: string;
  readonly uniks: number;
};

export type TreeFact = PastFact | UniksRoot;

/** Content of a leaf: the id of a fact, and the part of its event's content that follows from the chain alone. */
export type LeafContent = { readonly id: string; readonly data?: unknown };

/** Returns the bytes of a leaf, as ASCII text. */
export const leafText = ({ height, index, event, content }: Leaf): string =>
  `${height}|${index}|${event}|${content}`;

/**
 * @param facts of the block, in order: those of the chain, and the root of the map of uniks after a round
 * @param first index of the first one in the block
 */
export const leavesOf = (
  header: BlockHeader,
  facts: readonly TreeFact[],
  network: Network,
  first = 0,
): Leaf[] =>
  facts.map((fact, index) => ({
    height: header.height,
    index: first + index,
    event: fact.name,
    content: hash("sha256", contentText(fact, header, network), "hex"),
  }));

/**
 * Returns the canonical text of `leafContent`. The most frequent kinds have special cases, which take a third of the time: names
 * are already sorted, nothing is copied, and texts of digits and letters are not searched for characters that JSON escapes.
 */
function contentText(fact: TreeFact, header: BlockHeader, network: Network): string {
  if (fact.name === "block.applied") return appliedBlockText(fact.header);
  if (fact.name === "transaction.applied") {
    return appliedTransactionText(fact.transaction, header.id, fact.sequence);
  }
  if (fact.name === "round.created") return createdRoundText(fact.delegates, fact.round, header.id);
  return canonicalJson(leafContent(fact, header, network));
}

/** Returns true if a block is the last one of a round, whose facts include the root of the map of uniks. */
export const endsRound = (height: number, roundAt: Rounds["roundAt"]): boolean =>
  height > 1 && roundAt(height + 1).isNewRound;

/** Returns the facts of a block with the root of the map of uniks before the last one, `block.applied`. */
export const withUniksRoot = (facts: readonly PastFact[], root: UniksRoot): TreeFact[] => [
  ...facts.slice(0, -1),
  root,
  ...facts.slice(-1),
];

export function leafContent(fact: TreeFact, header: BlockHeader, network: Network): LeafContent {
  const idOf = (...parts: (string | number)[]) => factId(fact.name, header.id, ...parts);
  switch (fact.name) {
    case "forger.missing":
      return { id: idOf(fact.slot), data: { delegate: { publicKey: fact.publicKey } } };
    case "round.missed": {
      const { publicKey } = fact;
      const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
      return { id: idOf(fact.round, address), data: { delegate: { publicKey } } };
    }
    case "round.created": {
      const { round } = fact;
      const data = fact.delegates.map(({ publicKey, voteBalance }) => ({
        publicKey,
        round,
        votes: voteBalance,
      }));
      return { id: idOf(round), data };
    }
    case "uniks.root": {
      const { round, root, uniks } = fact;
      return { id: idOf(round), data: { root, uniks } };
    }
    default:
      return contentOf(fact, header);
  }
}

const appliedBlockText = (header: BlockHeader): string =>
  `{"data":{"blockSignature":"${header.blockSignature}","generatorPublicKey":"${header.generatorPublicKey}",` +
  `"height":${header.height},"id":"${header.id}","idHex":"${header.idHex}",` +
  `"numberOfTransactions":${header.numberOfTransactions},"payloadHash":"${header.payloadHash}",` +
  `"payloadLength":${header.payloadLength},"previousBlock":"${header.previousBlock}",` +
  `"previousBlockHex":"${header.previousBlockHex}","reward":"${header.reward}",` +
  `"timestamp":${header.timestamp},"totalAmount":"${header.totalAmount}","totalFee":"${header.totalFee}",` +
  `"version":${header.version}},"id":"block.applied:${header.id}"}`;

function createdRoundText(delegates: Round["delegates"], round: number, blockId: string): string {
  const rows = delegates.map(
    ({ publicKey, voteBalance }) => `{"publicKey":"${publicKey}","round":${round},"votes":"${voteBalance}"}`,
  );
  return `{"data":[${rows.join(",")}],"id":"round.created:${blockId}:${round}"}`;
}

function appliedTransactionText(transaction: Transaction, blockId: string, sequence: number): string {
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
