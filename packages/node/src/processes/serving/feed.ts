/** The feed for mirrors, if it is enabled. */
import { createFeed, DEFAULT_FEED_OPTIONS, type Feed } from "../../feed/feed.ts";
import { createFeedReader } from "../../feed/reader.ts";
import { openStateRows } from "../../feed/state-rows.ts";
import { openReader, type ServingContext } from "./context.ts";

/** Undefined: the feed is disabled. */
export function buildFeed(context: ServingContext): Feed | undefined {
  const { feedBlocks, databasePath } = context.data;
  if (feedBlocks === 0) return undefined;
  const feed = createFeed(DEFAULT_FEED_OPTIONS, {
    reader: createFeedReader(openReader(context, "feed reader")),
    openState: () => openStateRows(databasePath),
  });
  context.closing.add("feed", feed.close);
  return feed;
}
