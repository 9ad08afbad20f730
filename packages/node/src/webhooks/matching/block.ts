/** The block of an event. */
import type { Event } from "../../events/event.ts";

export type EventBlock = { readonly height: number; readonly blockId: string };

/** @throws {Error} if the event belongs to no block: a bug of this program */
export function blockOf({ id, height, blockId }: Pick<Event, "id" | "height" | "blockId">): EventBlock {
  if (height === undefined || blockId === undefined) throw new Error(`the event ${id} belongs to no block`);
  return { height, blockId };
}
