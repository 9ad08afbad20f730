/** A defect of a receiver, and changes of parts that several defects share. */
import type { Delivery } from "@uniknode/client";
import { type Parts, type Received, SOUND, type Stores } from "../receiver.ts";

export type Defect = {
  readonly name: string;
  readonly parts: Partial<Parts>;
  /** Names of the scenarios that fail, in the order of the catalogue. */
  readonly fails: readonly string[];
};

/** Refuses deliveries to which a test applies. */
export const refusing =
  (status: number, applies: (delivery: Delivery, received: Received) => boolean): Parts["refuse"] =>
  (delivery, received) =>
    applies(delivery, received) ? status : undefined;

/** Handles a delivery as the sound receiver, unless `isDone` has done it. */
export const unless =
  (isDone: (delivery: Delivery, received: Received) => boolean): Parts["handle"] =>
  (delivery, received) =>
    isDone(delivery, received) ? undefined : SOUND.handle(delivery, received);

/** Stores the last value of a key, and returns the one before. */
export function exchange({ notes }: Stores, key: unknown, value: number): number | undefined {
  const before = notes.get(key);
  notes.set(key, value);
  return before;
}
