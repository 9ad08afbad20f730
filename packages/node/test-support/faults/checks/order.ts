/** Checks that deliveries have the order of the chain. */

import { present } from "../../../src/platform/present.ts";
import type { Message } from "../actors/receiver.ts";
import { type Case, type Delivery, isFactOfChain, numbered } from "./case.ts";
import type { Change } from "./chronicle.ts";

/** Delivery with the change of the chain that it reports: index and position. */
type Placed = { readonly delivery: Delivery; readonly order: number; readonly position: number };

/** Numbers follow the chain; a strict receiver receives smaller numbers first. */
export function findOrderFaults(
  { periods, replays, changes }: Case,
  deliveries: readonly Delivery[],
): string[] {
  const faults: string[] = [];
  const first = present(periods[0]);
  const last = present(periods.at(-1));
  const placed = placedOf(deliveries, changes);
  // Events from before the registration are delivered by replays, with later sequence numbers.
  const past = placed.filter(({ position }) => position <= first.notBefore);
  const liveFrom = replays.length === 0 ? first.notBefore : first.fullyFrom;
  const live = placed.filter(({ position }) => position > liveFrom);

  if (last.kind.confirmations === 0) {
    faults.push(...descentsOf(live));
    // Each replay starts at any height, and ascends.
    const descents = descentsOf(past);
    if (descents.length >= Math.max(1, replays.length)) faults.push(...descents);
  }
  if (last.kind.isStrict && last.until === undefined) {
    const isSteady = periods.length === 1 && replays.length === 0;
    // Queued deliveries of a removed webhook were given up, and arrived again in no order.
    const later = live.filter(({ position }) => position > last.fullyFrom);
    faults.push(...earlyArrivalsOf(isSteady ? numbered(deliveries) : later.map(({ delivery }) => delivery)));
  }
  return faults;
}

/** Describes deliveries that arrived before one of a smaller number. */
function earlyArrivalsOf(deliveries: readonly Delivery[]): string[] {
  let latest = -1;
  return deliveries.flatMap((delivery) => {
    const isEarly = delivery.first < latest;
    latest = Math.max(latest, delivery.first);
    return isEarly ? [`${nameOf(delivery)} arrived before a smaller number`] : [];
  });
}

/** Describes larger numbers that report earlier changes of the chain. */
const descentsOf = (placed: readonly Placed[]): string[] =>
  placed.flatMap(({ delivery, order }, index) => {
    const before = placed[index - 1];
    return before && order < before.order
      ? [`${nameOf(delivery)} is numbered after ${before.delivery.message.id}`]
      : [];
  });

const nameOf = ({ message: { id, event } }: Delivery) => `${id} (${event})`;

/** Deliveries that report a change, by number. */
function placedOf(deliveries: readonly Delivery[], changes: readonly Change[]): Placed[] {
  const orders = new Map(changes.map(({ kind, block }, index) => [`${kind} ${block.id}`, index]));
  return numbered(deliveries).flatMap((delivery) => {
    const order = orders.get(changeOf(delivery.message) ?? "");
    return order === undefined ? [] : [{ delivery, order, position: present(changes[order]).position }];
  });
}

/** Change of the chain that a message reports: a block was applied, or reverted. */
function changeOf({ event, blockId, reverts }: Message): string | undefined {
  if (blockId === undefined || (reverts === undefined && !isFactOfChain(event))) return undefined;
  // Delivered when a block is applied, and again when it is reverted.
  if (event === "wallet.saved") return undefined;
  return `${reverts !== undefined || event.endsWith(".reverted") ? "reverted" : "applied"} ${blockId}`;
}
