/** Leaves of the tree of final facts (facts.md 1): their content and their text. */

import { hash } from "node:crypto";
import {
  addressFromPublicKey,
  type BlockHeader,
  canonicalJson,
  type Network,
  type Rounds,
} from "@uniknode/protocol";
import type { PastFact } from "../event-log/past-facts.ts";
import { contentOf, factId } from "../events/block-events.ts";
import { appliedBlockText, appliedTransactionText, createdRoundText } from "./content-text.ts";

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

/** Returns the canonical text of `leafContent`; nearly all facts have a faster special case. */
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
