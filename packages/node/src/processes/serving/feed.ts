/** What processes on other machines use, if the feed is enabled: the feed for mirrors, and the gateway. */
import { createFeed, DEFAULT_FEED_OPTIONS, type Feed } from "../../feed/feed.ts";
import { createFeedReader } from "../../feed/reader.ts";
import { openStateRows } from "../../feed/state-rows.ts";
import {
  createRemoteCalls,
  DEFAULT_REMOTE_CALL_OPTIONS,
  type RemoteCalls,
} from "../../gateway/remote-calls.ts";
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

/** Undefined: the feed is disabled. */
export function buildRemoteCalls({ data, gatewayWithin }: ServingContext): RemoteCalls | undefined {
  return data.feedBlocks === 0 ? undefined : createRemoteCalls(DEFAULT_REMOTE_CALL_OPTIONS, gatewayWithin);
}
