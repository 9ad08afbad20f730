/** A step of matching: some of the next events of the log, and what their plan must know. */
import type { LoggedEvent } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import type { BlockReference, Confirmed, Intake } from "../intake.ts";
import type { DeliveredFact } from "../model/deliveries.ts";

/** Maximum number of retracted facts per step, and of confirmed events. */
export const FACTS_AT_ONCE = 100;

/** State of the storage before the step. */
export type StepReads = {
  /** Number of reverts before the step, by block. */
  readonly reverts: ReadonlyMap<string, number>;
  /** Delivered facts of the blocks that the step reverts, block by block. */
  readonly facts: readonly DeliveredFact[];
  /** Events that blocks of the step confirm, by height. */
  readonly confirmed: readonly Confirmed[];
};

/**
 * Returns the events of the next step, from the first one on: a step contains only events of reverted blocks, or none. What
 * it retracts was therefore written by former steps, and is among its reads.
 */
export function stepOf(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const [first] = events;
  const end = events.findIndex((event) => isReverting(event) !== isReverting(first));
  return end === -1 ? events : events.slice(0, end);
}

const isReverting = (event: LoggedEvent | undefined): boolean => event?.reverts !== undefined;

export type StepReader = Pick<Intake, "countReverts" | "unretracted" | "confirmedAt">;

export async function readStep(intake: StepReader, events: readonly LoggedEvent[]): Promise<StepReads> {
  const first = present(events[0], "the first event of a step");
  const blockIds = new Set(events.flatMap(({ blockId = [] }) => blockId));
  const heights = events.flatMap(({ name, height = [] }) => (name === "block.applied" ? height : []));
  const [reverts, facts, confirmed] = await Promise.all([
    intake.countReverts([...blockIds], first.sequence),
    isReverting(first) ? intake.unretracted(blocksOf(events), FACTS_AT_ONCE) : [],
    heights.length > 0 ? intake.confirmedAt(heights, FACTS_AT_ONCE) : [],
  ]);
  return { reverts, facts, confirmed };
}

/** Returns each block of the events once, in the order of the events. */
function blocksOf(events: readonly LoggedEvent[]): BlockReference[] {
  const blocks = new Map<string, BlockReference>();
  for (const { height, blockId } of events)
    if (height !== undefined && blockId !== undefined) blocks.set(blockId, { height, blockId });
  return [...blocks.values()];
}
