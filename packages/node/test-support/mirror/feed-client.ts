/** Reads a feed in the same process, as a mirror reads it over HTTP. */
import type { Feed, FeedResponse } from "../../src/feed/feed.ts";
import type { FeedClient } from "../../src/mirror/feed-client.ts";
import { type FeedLine, readLine } from "../../src/mirror/line.ts";

export const clientOf = (feed: Feed): FeedClient => ({
  follow: (positions) => linesOf(feed.follow(positions)),
  blocks: (after, last) => linesOf(feed.blocks(after, last)),
  state: () => linesOf(feed.state()),
  height: async () => undefined,
  close: async () => {},
});

async function* linesOf(response: FeedResponse): AsyncIterable<FeedLine> {
  try {
    for await (const part of response.text) {
      for (const line of part.split("\n")) if (line !== "") yield readLine(line);
    }
  } finally {
    response.release();
  }
}
