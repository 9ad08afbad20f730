/** Input of the verdict: deliveries, changes of the chain and subscriptions. */

import { present } from "../../../src/platform/present.ts";
import type { Arrival, Message } from "../actors/receiver.ts";
import type { ChainWallet, Change } from "./chronicle.ts";
import { type Fact, factsOf } from "./facts.ts";
import type { Kind } from "./kinds.ts";

/**
 * Period in which a webhook was of one kind, by positions in the chronicle; its ends are known approximately.
 */
export type Period = {
  readonly kind: Kind;
  /** Events up to this position are not delivered. */
  readonly notBefore: number;
  /** All events after this position are delivered. */
  readonly fullyFrom: number;
  /** Events after this position are not delivered; absent: the period has not ended. */
  readonly until?: number;
  /** The start is uncertain: the response to the change was lost. */
  readonly isUnsure?: true;
};

/** Replay of a part of the chain, requested at a position in the chronicle. */
export type Replay = {
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly requestedAt: number;
  /** The replay was delivered completely. */
  readonly isFinished?: true;
};

export type Case = {
  readonly arrivals: readonly Arrival[];
  readonly periods: readonly Period[];
  readonly replays: readonly Replay[];
  readonly changes: readonly Change[];
  /** Deliveries that were cancelled because their blocks were reverted: number by id. */
  readonly cancelled: ReadonlyMap<string, number>;
  /** Final state of wallets, by address. */
  readonly wallets: ReadonlyMap<string, ChainWallet>;
};

/** Delivery as the receiver recorded it. */
export type Delivery = {
  readonly message: Message;
  /** Indexes among the arrivals. */
  readonly first: number;
  readonly last: number;
};

/** Fact that became true at one position, and untrue at another if it was reverted. */
export type Occurrence = {
  readonly fact: Fact;
  readonly appliedAt: number;
  readonly order: number;
  readonly undoneAt?: number;
  readonly undoneOrder?: number;
};

export function occurrencesOf(changes: readonly Change[]): Occurrence[] {
  return changes.flatMap(({ kind, position, block }, order) => {
    if (kind !== "applied") return [];
    const undone = changes.findIndex(
      (change, index) => index > order && change.kind === "reverted" && change.block.id === block.id,
    );
    return factsOf(block).map((fact) => ({
      fact,
      appliedAt: position,
      order,
      ...(undone !== -1 && { undoneAt: present(changes[undone]).position, undoneOrder: undone }),
    }));
  });
}

export function standingBlocks(changes: readonly Change[]): Set<string> {
  const standing = new Set<string>();
  for (const { kind, block } of changes) {
    if (kind === "applied") standing.add(block.id);
    else standing.delete(block.id);
  }
  return standing;
}

/** Deliveries with a number, by number. */
export const numbered = (deliveries: readonly Delivery[]): Delivery[] =>
  [...deliveries]
    .filter(({ message }) => message.sequence !== undefined)
    .sort((a, b) => present(a.message.sequence) - present(b.message.sequence));

const FAMILIES = ["delegate.", "round.", "unik.", "wallet."];
const OTHERS = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];

export const isFactOfChain = (event: string): boolean =>
  OTHERS.includes(event) ||
  event.startsWith("forger.missing") ||
  FAMILIES.some((family) => event.startsWith(family));

/**
 * Distinguishes messages about a wallet after the revert of a block from messages about a fact of the block:
 * retractions of the block's facts have smaller numbers.
 */
export function createIsAftermath(deliveries: readonly Delivery[]): (message: Message) => boolean {
  const removedFrom = new Map<string, number>();
  for (const { message } of numbered(deliveries)) {
    const { event, blockId, sequence } = message;
    if (blockId !== undefined && event.endsWith(".reverted") && !removedFrom.has(blockId)) {
      removedFrom.set(blockId, present(sequence));
    }
  }
  return ({ event, blockId, sequence = 0 }) =>
    event === "wallet.saved" && sequence > (removedFrom.get(present(blockId)) ?? Number.POSITIVE_INFINITY);
}
