/**
 * Events of blocks (webhooks.md 5). Every function is pure: the same block gives the same events with the
 * same ids, today, after a restart, and when the block is applied again.
 */
import type { Fact, Wallet } from "@uniknode/ledger";
import type { Block, BlockHeader, Slots } from "@uniknode/protocol";
import type { Event } from "./catalogue.ts";
import {
  blockData,
  confirmedTransactionData,
  receivedBlockData,
  roundDelegateData,
  walletData,
} from "./content.ts";

/** A block that another one made final. */
export type FinalBlock = { readonly name: "block.finalized"; readonly header: BlockHeader };

/** Facts that a block causes. */
export type BlockFact = Fact | FinalBlock;

/** Returns the members of an event that name the block which caused it. */
export const sourceOf = (
  { height, id, timestamp }: BlockHeader,
  { unixMsOf }: Pick<Slots, "unixMsOf">,
): Required<Pick<Event, "height" | "blockId" | "timeMs">> => ({
  height,
  blockId: id,
  timeMs: unixMsOf(timestamp),
});

/** Events of an applied block, in the order of its facts. */
export function eventsOfFacts(
  facts: readonly BlockFact[],
  header: BlockHeader,
  slots: Pick<Slots, "unixMsOf">,
): Event[] {
  const source = sourceOf(header, slots);
  return facts.map((fact) => ({ name: fact.name, ...source, ...contentOf(fact, header) }));
}

/** Events of a reverted block. `wallets` are those it changed, as they are now, by ascending address. */
export function eventsOfRevert(
  { header, transactions }: Block,
  wallets: readonly Wallet[],
  slots: Pick<Slots, "unixMsOf">,
): Event[] {
  const source = sourceOf(header, slots);
  return [
    ...transactions
      .map(({ data }, sequence) => ({
        id: factId("transaction.reverted", header.id, sequence),
        name: "transaction.reverted",
        ...source,
        reverts: factId("transaction.applied", header.id, sequence),
        data: confirmedTransactionData(data, header.id, sequence),
      }))
      .reverse(),
    {
      id: factId("block.reverted", header.id),
      name: "block.reverted",
      ...source,
      reverts: factId("block.applied", header.id),
      data: blockData(header),
    },
    ...wallets.map((wallet) => ({
      id: factId("wallet.saved", header.id, wallet.address, "reverted"),
      name: "wallet.saved",
      ...source,
      reverts: factId("wallet.saved", header.id, wallet.address),
      data: walletData(wallet),
    })),
  ];
}

/** A block was taken into the queue (`received`), or arrived before the node was ready (`disregarded`). */
export const eventOfArrival = (block: Block, outcome: "received" | "disregarded"): Event => ({
  id: `block.${outcome}:${block.header.id}`,
  name: `block.${outcome}`,
  height: block.header.height,
  blockId: block.header.id,
  data: receivedBlockData(block),
});

/** Id of a fact that a block caused; `parts` distinguish it from the others of its name in the block. */
export const factId = (name: string, blockId: string, ...parts: readonly (string | number)[]): string =>
  [name, blockId, ...parts].join(":");

/** Returns the id and the content of the event of a fact. */
export function contentOf(
  fact: BlockFact,
  { id: blockId, ...header }: BlockHeader,
): Pick<Event, "id" | "data"> {
  switch (fact.name) {
    case "forger.missing":
      // In another chain the slot may not have been missed.
      return { id: factId(fact.name, blockId, fact.slot), data: { delegate: walletData(fact.delegate) } };
    case "round.missed":
      return {
        id: factId(fact.name, blockId, fact.round, fact.delegate.address),
        data: { delegate: walletData(fact.delegate) },
      };
    case "round.created":
      return {
        id: factId(fact.name, blockId, fact.round),
        data: fact.delegates.map((delegate) => roundDelegateData(delegate, fact.round)),
      };
    case "round.applied":
      return { id: factId(fact.name, blockId, fact.round) };
    case "transaction.applied":
    case "delegate.registered":
    case "delegate.resigned":
      return {
        id: factId(fact.name, blockId, fact.sequence),
        data: confirmedTransactionData(fact.transaction, blockId, fact.sequence),
      };
    case "wallet.vote":
    case "wallet.unvote":
      return {
        id: factId(fact.name, blockId, fact.sequence),
        data: {
          delegate: fact.delegate,
          transaction: confirmedTransactionData(fact.transaction, blockId, fact.sequence),
        },
      };
    case "unik.minted":
    case "unik.transferred":
    case "unik.updated":
    case "unik.disclosed":
      return {
        id: factId(fact.name, blockId, fact.sequence, fact.tokenId),
        data: {
          tokenId: fact.tokenId,
          ownerId: fact.ownerId,
          transaction: confirmedTransactionData(fact.transaction, blockId, fact.sequence),
        },
      };
    case "wallet.created.cold":
    case "wallet.saved":
      return { id: factId(fact.name, blockId, fact.wallet.address), data: walletData(fact.wallet) };
    case "block.applied":
      return { id: factId(fact.name, blockId), data: blockData({ id: blockId, ...header }) };
    case "block.finalized":
      return { id: factId(fact.name, blockId, fact.header.id), data: blockData(fact.header) };
  }
}
