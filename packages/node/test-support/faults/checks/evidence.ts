/** Evidence about one webhook: its deliveries, and the facts of the chain. */
import { present } from "../../../src/platform/present.ts";
import type { Arrival, Message } from "../actors/receiver.ts";
import {
  type Case,
  createIsAftermath,
  type Delivery,
  type Occurrence,
  occurrencesOf,
  type Period,
  standingBlocks,
} from "./case.ts";

export type Evidence = Omit<Case, "arrivals"> & {
  readonly deliveries: ReadonlyMap<string, Delivery>;
  readonly occurrences: readonly Occurrence[];
  readonly last: Period;
  /** The webhook has changed its subscription. */
  readonly isChanged: boolean;
  /** Ids of the blocks that were not reverted. */
  readonly standing: ReadonlySet<string>;
  readonly isAftermath: (message: Message) => boolean;
};

/** @param faults gets the faults of single deliveries */
export function evidenceOf(given: Case, faults: string[]): Evidence {
  const { arrivals, periods, changes } = given;
  const deliveries = deliveriesOf(arrivals, faults);
  return {
    ...given,
    deliveries,
    occurrences: occurrencesOf(changes),
    last: present(periods.at(-1)),
    isChanged: periods.length > 1,
    standing: standingBlocks(changes),
    isAftermath: createIsAftermath([...deliveries.values()]),
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
