/** Leaves of the tree of final facts (facts.md 1): what each is made from, and its text. */
import { hash } from "node:crypto";
import { addressFromPublicKey, type BlockHeader, type Network } from "@uniknode/protocol";
import type { PastFact } from "../event-log/past-facts.ts";
import { eventsOfFacts, factId } from "../events/block-events.ts";
import { canonicalJson } from "./canonical.ts";
import { appliedBlockText, appliedTransactionText, createdRoundText } from "./content-text.ts";

export type Leaf = {
  readonly height: number;
  /** Of the fact in its block, from 0. */
  readonly index: number;
  /** Name of the event. */
  readonly event: string;
  /** SHA-256 of the canonical content, hexadecimal. */
  readonly content: string;
};

/** What a leaf says of a fact: its id, and the content of its event as far as it follows from the chain alone. */
export type LeafContent = { readonly id: string; readonly data?: unknown };

/** The bytes of a leaf, as ASCII text. */
export const leafText = ({ height, index, event, content }: Leaf): string =>
  `${height}|${index}|${event}|${content}`;

/** @param facts all of the block, in their order */
export const leavesOf = (header: BlockHeader, facts: readonly PastFact[], network: Network): Leaf[] =>
  facts.map((fact, index) => ({
    height: header.height,
    index,
    event: fact.name,
    content: hash("sha256", contentText(fact, header, network), "hex"),
  }));

/** The canonical text of `leafContent`. Nearly all facts are of the kinds that have a quicker way to it. */
function contentText(fact: PastFact, header: BlockHeader, network: Network): string {
  if (fact.name === "block.applied") return appliedBlockText(fact.header);
  if (fact.name === "transaction.applied") {
    return appliedTransactionText(fact.transaction, header.id, fact.sequence);
  }
  if (fact.name === "round.created") return createdRoundText(fact.delegates, fact.round, header.id);
  return canonicalJson(leafContent(fact, header, network));
}

export function leafContent(fact: PastFact, header: BlockHeader, network: Network): LeafContent {
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
    default: {
      const { id, data } = eventsOfFacts([fact], header)[0]!;
      return { id, data };
    }
  }
}
