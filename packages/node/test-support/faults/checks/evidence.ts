/** Input of the verdict about one webhook: its deliveries, its subscriptions, and the changes of the chain. */
import { present } from "../../../src/platform/present.ts";
import type { Arrival, Message } from "../actors/receiver.ts";
import type { ChainWallet, Change } from "./chronicle.ts";
import { type Fact, factsOf } from "./facts.ts";
import type { Kind } from "./kinds.ts";

/** Period in which a webhook was of one kind, by positions in the chronicle; its ends are known approximately. */
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

export type Replay = {
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly requestedAt: number;
  readonly isFinished?: true;
};

export type Case = {
  readonly arrivals: readonly Arrival[];
  readonly periods: readonly Period[];
  readonly replays: readonly Replay[];
  readonly changes: readonly Change[];
  /** Deliveries that were cancelled because their blocks were reverted: number by id. */
  readonly cancelled: ReadonlyMap<string, number>;
  readonly wallets: ReadonlyMap<string, ChainWallet>;
};

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
  readonly undoneAt?: number;
};

function occurrencesOf(changes: readonly Change[]): Occurrence[] {
  return changes.flatMap(({ kind, position, block }, order) => {
    if (kind !== "applied") return [];
    const undone = changes.find(
      (change, index) => index > order && change.kind === "reverted" && change.block.id === block.id,
    );
    const until = undone && { undoneAt: undone.position };
    return factsOf(block).map((fact) => ({ fact, appliedAt: position, ...until }));
  });
}

const FAMILIES = ["delegate.", "round.", "unik.", "wallet."];
const OTHERS = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];

export const isFactOfChain = (event: string): boolean =>
  OTHERS.includes(event) ||
  event.startsWith("forger.missing") ||
  FAMILIES.some((family) => event.startsWith(family));

/** Recognizes messages about a wallet after the revert of a block: retractions of facts of the block have smaller numbers. */
function createIsAftermath(numbered: readonly Delivery[]): (message: Message) => boolean {
  const removedFrom = new Map<string, number>();
  for (const { message } of numbered) {
    const { event, blockId, sequence } = message;
    if (blockId !== undefined && event.endsWith(".reverted") && !removedFrom.has(blockId)) {
      removedFrom.set(blockId, present(sequence));
    }
  }
  return ({ event, blockId, sequence = 0 }) =>
    event === "wallet.saved" && sequence > (removedFrom.get(present(blockId)) ?? Number.POSITIVE_INFINITY);
}

export type Evidence = ReturnType<typeof evidenceOf>;

/** @param faults gets the faults of single deliveries */
export function evidenceOf(given: Case, faults: string[]) {
  const { arrivals, periods, changes } = given;
  const deliveries = deliveriesOf(arrivals, faults);
  const numbered = [...deliveries.values()]
    .filter(({ message }) => message.sequence !== undefined)
    .sort((a, b) => present(a.message.sequence) - present(b.message.sequence));
  const lastChanges = new Map(changes.map(({ kind, block }) => [block.id, kind]));
  return {
    ...given,
    deliveries,
    /** Those with a number, by number. */
    numbered,
    occurrences: occurrencesOf(changes),
    last: present(periods.at(-1)),
    /** The webhook has changed its subscription. */
    isChanged: periods.length > 1,
    /** Returns true if the block was not reverted. */
    isStanding: (blockId: string | undefined) => lastChanges.get(present(blockId)) === "applied",
    isAftermath: createIsAftermath(numbered),
  };
}

function deliveriesOf(arrivals: readonly Arrival[], faults: string[]): Map<string, Delivery> {
  const deliveries = new Map<string, Delivery & { body: string }>();
  for (const [index, { message, body, id, isVerified }] of arrivals.entries()) {
    if (message.event === "ping") continue;
    if (id === undefined || id !== message.id) faults.push(`a delivery of ${message.event} has no proper id`);
    if (!isVerified) faults.push(`${message.id} (${message.event}) does not verify`);
    const known = deliveries.get(message.id);
    if (known && known.body !== body) faults.push(`${message.id} arrived with two bodies`);
    deliveries.set(message.id, { message, body, first: known?.first ?? index, last: index });
  }
  return deliveries;
}

/** Returns the transaction, block or wallet that a message reports. */
export function subjectOf({ data }: Message): string {
  const { id, transaction, address } = (data ?? {}) as {
    id?: string;
    transaction?: { id: string };
    address?: string;
  };
  return transaction?.id ?? id ?? address ?? "";
}
