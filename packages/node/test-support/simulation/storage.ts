/** Webhooks under test: the processes that match and send, and what the simulation reads of their storage. */
import type { Chronicle } from "./chronicle.ts";
import type { Life } from "./life.ts";
import type { Random } from "./random.ts";

export type SimulatedStorage = {
  /** Starts the node, and the processes of the webhooks. */
  begin(): Promise<Life>;
  /**
   * Position in the chronicle up to which the storage has read the chain, or an earlier one: a webhook that is registered
   * from now on receives no event up to there.
   */
  reached(chronicle: Chronicle): Promise<number>;
  /** Descriptions of pending work: unread events, and queued deliveries. */
  unfinished(): Promise<string[]>;
  /** Faults that only this storage can have. */
  readonly faults: readonly StorageFault[];
  close(): Promise<void>;
};

export type StorageFault = {
  readonly name: string;
  /** Relative probability, as in `disturbances.ts`. */
  readonly weight: number;
  inject(random: Random): Promise<unknown>;
};

/** @param folder data of all processes; the data folder of the node is `data` in it */
export type OpenStorage = (folder: string) => Promise<SimulatedStorage>;

/** Positions in the chronicle around a request. */
export type Positions = {
  /** Position up to which events were surely read before now. */
  reached(): Promise<number>;
  /** Position of the last change. */
  last(): number;
};

export const positionsOf = (storage: SimulatedStorage, chronicle: Chronicle): Positions => ({
  reached: () => storage.reached(chronicle),
  last: chronicle.position,
});
