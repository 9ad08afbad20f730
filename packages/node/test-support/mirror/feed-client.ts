/** Reads a feed in the same process, as a mirror reads it over HTTP. */
import type { EventPosition } from "../../src/feed/event-reader.ts";
import type { Feed, FeedResponse } from "../../src/feed/feed.ts";
import type { FeedClient } from "../../src/mirror/feed-client.ts";
import { type EventLine, readEventLine, readLine } from "../../src/mirror/line.ts";
import { MirrorError } from "../../src/mirror/mirror-error.ts";

/** The client without its connection. */
export type LocalClient = Omit<FeedClient, "close">;

export const clientOf = (feed: Feed): LocalClient => ({
  follow: (positions) => linesOf(feed.follow(positions), readLine),
  blocks: (after, last) => linesOf(feed.blocks(after, last), readLine),
  state: () => linesOf(feed.state(), readLine),
  events: (position) => eventsOf(feed, position),
  continueEvents: async (after) => feed.continueEvents(after),
  height: async () => undefined,
});

async function* linesOf<T>(response: FeedResponse, read: (line: string) => T): AsyncIterable<T> {
  try {
    for await (const part of response.text) {
      for (const line of part.split("\n")) if (line !== "") yield read(line);
    }
  } finally {
    response.release();
  }
}

/** A position that is not in the log has the error that a mirror gets over HTTP. */
async function* eventsOf(feed: Feed, position: EventPosition): AsyncIterable<EventLine> {
  let response: FeedResponse;
  try {
    response = feed.events(position);
  } catch (error) {
    throw new MirrorError("MIRROR_EVENTS_GONE", (error as Error).message);
  }
  yield* linesOf(response, readEventLine);
}
