/** Tells one reader everything from its start on, as fast as it takes it. */
import { setImmediate } from "node:timers/promises";
import type { Bell } from "./bell.ts";
import type { Position } from "./position.ts";
import type { Sink } from "./sink.ts";
import type { Source, Told } from "./source.ts";
import type { Start } from "./start.ts";
import type { Subscription } from "./subscription.ts";

export type FollowDeps = {
  readonly source: Source;
  readonly subscription: Subscription;
  readonly sink: Sink;
  readonly bell: Bell;
  /** Hears how far the reader is: undefined while there is more for it. */
  readonly onPosition: (position: Position | undefined) => void;
};

/** Settles when the reader is gone, or the log has dropped what it did not hear yet. */
export async function follow(start: Start, deps: FollowDeps): Promise<void> {
  const { source, subscription, sink, bell, onPosition } = deps;
  let at = start;
  while (sink.isOpen()) {
    // Before anything is read: what is logged meanwhile rings again.
    const rung = bell.heard();
    if (at.from === "chain") {
      at = await tellBlock(at);
      await setImmediate();
      continue;
    }
    const page = source.log(at.after);
    if (!page) return sink.end();
    await tell(page.events);
    at = { from: "log", after: page.sequence };
    const { sequence, place, isEnd } = page;
    onPosition(isEnd ? { sequence, ...(place && { place }) } : undefined);
    await (isEnd ? rung : setImmediate());
  }

  async function tellBlock({ height, told, after }: Extract<Start, { from: "chain" }>): Promise<Start> {
    // First of all: whatever changes from here on is told by the log.
    const end = source.end();
    // The log says what became of a block that was undone since it was told, and what came in its place.
    if (told && !source.hasBlock(told)) return { from: "log", after };
    const page = source.chain(height);
    if (!page) return { from: "log", after: end.sequence };
    await tell(page.events);
    return { from: "chain", height: height + 1, told: page.place, after };
  }

  async function tell(events: readonly Told[]): Promise<void> {
    for (const { event, frame } of events) {
      const name = subscription.nameOf(event);
      if (name === undefined) continue;
      sink.write(frame(name));
      if (sink.isFull()) await sink.ready();
      if (!sink.isOpen()) return;
    }
  }
}
